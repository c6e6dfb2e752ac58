//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPrivateFiles: directories are 0700 and files 0600, whatever the umask and whatever they were before.
func TestPrivateFiles(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		old := syscall.Umask(mask)
		home := filepath.Join(t.TempDir(), "home")
		if mask == 0 {
			if err := os.Mkdir(home, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), home, Config{})
		if err == nil {
			newLog(t, s, "a").must(1)
			_, err = readAll(s, "a")
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatalf("umask %o: %v", mask, err)
		}
		seen := map[string]bool{}
		err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %o: %s is %o", mask, path, info.Mode().Perm())
			}
			seen[d.Name()] = true
			return err
		})
		if err != nil || !seen["perdure.db"] || !seen["perdure.db-wal"] || !seen["perdure.db-shm"] {
			t.Errorf("files %v, %v", seen, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
