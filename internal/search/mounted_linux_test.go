package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/test/needs"
)

// mounted gives a filesystem of the test's own, and needs root for it.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		needs.Not(t, "no filesystem of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes a disk's last byte.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 20; size > 0; {
		if n, err := f.Write(make([]byte, size)); err != nil || n < size {
			size /= 2
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Goal: on a full disk all is found, the reason is said, and a deletion leaves nothing; with room again there is an index
// again.
func TestFullDisk(t *testing.T) {
	dir := mounted(t, "4m")
	home, s := filepath.Join(dir, "home"), crashShelf()
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	ask(t, s, Config{Home: home}, "needle", Filter{})
	fill(t, dir)
	if found, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{}); err != nil || found.Why != nil {
		t.Errorf("nothing is new: %v, %v", found.Why, err)
	}
	for i := range 50 {
		s.add(Sessions, fmt.Sprintf("new%d", i), "", strings.Repeat(fmt.Sprintf("needle%d ", i), 200))
	}
	found, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{})
	if err != nil || found.Why == nil {
		t.Errorf("%+v, %v", found, err)
	}
	if d := differs(t, s, Config{Home: home}, Config{}); len(d) > 0 {
		t.Error(d)
	}
	if err := Forget(t.Context(), home, []string{"s07"}, true, nil); err != nil || holds(t, home, "s07") {
		t.Errorf("a deletion: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "full")); err != nil {
		t.Fatal(err)
	}
	s.remove("s07")
	if found, err = Search(t.Context(), s, Config{Home: home}, Query{}, Filter{}); err != nil || found.Why != nil {
		t.Errorf("with room: %v, %v", found.Why, err)
	}
	if d := differs(t, s, Config{Home: home}, Config{}); len(d) > 0 {
		t.Error(d)
	}
}

// Goal: a home on a read-only filesystem is searched, with an index or without one, and the reason is said.
func TestReadOnlyHome(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		dir, s := mounted(t, "8m"), crashShelf()
		home := filepath.Join(dir, "home")
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if indexed {
			ask(t, s, Config{Home: home}, "needle", Filter{})
		}
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		found, err := Search(t.Context(), s, Config{Home: home}, Query{}, Filter{})
		if err != nil || !errors.Is(found.Why, unix.EROFS) {
			t.Errorf("%v, %v", found.Why, err)
		}
		if d := differs(t, s, Config{Home: home}, Config{}); len(d) > 0 {
			t.Error(d)
		}
	}
}
