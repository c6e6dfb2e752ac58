package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// ordinary runs f without the rights that root has over files.
func ordinary(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		f()
	}()
	<-done
}

// TestPlacesThatAreNoHome: what cannot be opened is named with its cause, once, in words of the place and not of SQLite.
func TestPlacesThatAreNoHome(t *testing.T) {
	junk := strings.Repeat("no database ", 1000)
	for _, tt := range []struct {
		name  string
		make  func(home string) error
		words string
		is    error
	}{
		{"a file", func(home string) error { return os.WriteFile(home, nil, 0o600) }, "is a file, not a directory", store.ErrUnreadable},
		{"below a file", func(home string) error { return os.WriteFile(filepath.Dir(home), nil, 0o600) }, "not a directory", unix.ENOTDIR},
		{"a directory for a database", func(home string) error {
			return os.MkdirAll(filepath.Join(home, databaseName), 0o755)
		}, databaseName + " is a directory, not a file", store.ErrUnreadable},
		{"junk", func(home string) error {
			return errors.Join(os.Mkdir(home, 0o755), os.WriteFile(filepath.Join(home, databaseName), []byte(junk), 0o644))
		}, "not a database", store.ErrUnreadable},
		{"a closed home", func(home string) error { return os.Mkdir(home, 0o000) }, "permission denied", fs.ErrPermission},
		{"below a closed directory", func(home string) error { return os.Mkdir(filepath.Dir(home), 0o000) }, "permission denied", fs.ErrPermission},
		{"a closed database", func(home string) error {
			return errors.Join(os.Mkdir(home, 0o755), os.WriteFile(filepath.Join(home, databaseName), []byte(junk), 0o000))
		}, databaseName + ": permission denied", fs.ErrPermission},
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		home := filepath.Join(dir, "below", "home")
		if !strings.HasPrefix(tt.name, "below") {
			if err := os.Mkdir(filepath.Dir(home), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := tt.make(home); err != nil {
			t.Fatal(err)
		}
		ordinary(func() {
			s, err := Open(t.Context(), home, Config{})
			if err == nil {
				t.Errorf("%s: it opens", tt.name)
				_ = s.Close()
				return
			}
			if text := err.Error(); !errors.Is(err, tt.is) || !strings.Contains(text, tt.words) || strings.Count(text, "open store") != 1 || strings.Contains(text, "\n") {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
		_ = os.Chmod(filepath.Dir(home), 0o755)
	}
}
