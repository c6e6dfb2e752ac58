// Package short reads files that are short by their nature, and whose names or places come from elsewhere.
package short

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/perdure/perdure/internal/sys"
)

// Errors of Read.
var (
	ErrNoFile = errors.New("it is no regular file")
	ErrLong   = errors.New("it is too long")
)

// Read reads a regular file of at most so many bytes. A pipe or a device in its place is not waited for. Flags may add
// [sys.NoFollow], so that a link in its place is not followed. Errors: ErrNoFile, ErrLong, of the file system.
func Read(path string, most int64, flags int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|sys.NonBlock|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNoFile}
	case info.Size() > most:
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: %d bytes, at most %d", ErrLong, info.Size(), most)}
	}
	return io.ReadAll(io.LimitReader(f, most))
}
