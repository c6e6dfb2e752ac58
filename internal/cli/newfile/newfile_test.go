package newfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/newfile"
)

// A file that could not be written whole is not there at all, and nothing is left beside it; what was there stays.
func TestNewFileIsWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "out")
	broken := errors.New("broken")
	fails := func(to io.Writer) error {
		_, _ = io.WriteString(to, "half")
		return broken
	}
	if err := newfile.Write(file, false, fails); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := newfile.Write(file, true, fails); !errors.Is(err, broken) {
		t.Error(err)
	}
	b, _ := os.ReadFile(file)
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 || string(b) != "old" {
		t.Errorf("%v %v %q", all, err, b)
	}
	if err := newfile.Write(file, true, func(to io.Writer) error { _, err := io.WriteString(to, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if b, _ := os.ReadFile(file); err != nil || string(b) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q %v %v", b, info.Mode(), err)
	}
}

// Of several who make one file at once, one does, and none writes over another.
func TestNewFileHasOneMaker(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	var made atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := newfile.Write(file, false, func(to io.Writer) error { _, err := fmt.Fprint(to, i); return err })
			var exists *app.ExitError
			switch {
			case err == nil:
				made.Add(1)
			case !errors.As(err, &exists) || exists.Code != app.ExitUsage:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made it", made.Load())
	}
}
