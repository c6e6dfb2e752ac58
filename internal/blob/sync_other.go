//go:build !linux

package blob

import (
	"os"

	"github.com/perdure/perdure/internal/sys"
)

// flush makes a file durable, on the medium too where the system has a call for that.
func flush(f *os.File) error { return sys.Sync(f) }
