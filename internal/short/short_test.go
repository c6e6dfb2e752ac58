package short_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/short"
	"github.com/perdure/perdure/internal/sys"
)

// A short regular file is read; a directory, a long file, and a link that is not to be followed are errors.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("four"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if b, err := short.Read(path, 4, 0); string(b) != "four" || err != nil {
			t.Errorf("%s: %q, %v", path, b, err)
		}
	}
	if _, err := short.Read(file, 3, 0); !errors.Is(err, short.ErrLong) {
		t.Errorf("a file that is too long: %v", err)
	}
	if _, err := short.Read(os.DevNull, 3, 0); !errors.Is(err, short.ErrNoFile) {
		t.Errorf("a device: %v", err)
	}
	if b, err := short.Read(dir, 0, 0); err == nil {
		t.Errorf("a directory: %q", b)
	}
	if _, err := short.Read(link, 4, sys.NoFollow); err == nil && sys.NoFollow != 0 {
		t.Error("a link is followed")
	}
}
