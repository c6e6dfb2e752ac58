package tools

import (
	"io"
	"io/fs"
	"os"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/store"
)

// OSFiles is Files and Tree on the machine's own filesystem. Here it refuses everything, with the error of [sys.Files]:
// how it opens a path without following a link is not there.
type OSFiles struct {
	Fault func(step string) error // see the other systems
	Sync  func(*os.File) error    // likewise
	Umask func() uint32           // likewise
}

var (
	_ Files = OSFiles{}
	_ Tree  = OSFiles{}
)

// Resolve refuses.
func (OSFiles) Resolve(string) (string, error) { return "", sys.Files() }

// Read refuses.
func (OSFiles) Read(string, int64) ([]byte, FileInfo, error) { return nil, FileInfo{}, sys.Files() }

// Digest refuses.
func (OSFiles) Digest(string) (store.Digest, FileInfo, error) {
	return store.Digest{}, FileInfo{}, sys.Files()
}

// Open refuses.
func (OSFiles) Open(string) (io.ReadCloser, FileInfo, error) { return nil, FileInfo{}, sys.Files() }

// List refuses.
func (OSFiles) List(string, int) ([]fs.DirEntry, error) { return nil, sys.Files() }

// Replace refuses.
func (OSFiles) Replace(session.Edit, []byte) error { return sys.Files() }
