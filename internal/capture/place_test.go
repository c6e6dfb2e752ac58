//go:build unix

package capture

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Where the kernel has no way to open a path within a directory alone, each step of it is opened by itself: no link is
// followed on the way, whether it leads out or not, and nothing but directories is entered.
func TestDirectoriesAreOpenedStepByStep(t *testing.T) {
	root := t.TempDir()
	err := errors.Join(os.MkdirAll(filepath.Join(root, "a", "b"), 0o700), os.WriteFile(filepath.Join(root, "a", "b", "here"), nil, 0o600),
		os.WriteFile(filepath.Join(root, "file"), nil, 0o600), os.Symlink("a", filepath.Join(root, "within")), os.Symlink(t.TempDir(), filepath.Join(root, "out")),
		os.Symlink("b", filepath.Join(root, "a", "last")))
	if err != nil {
		t.Fatal(err)
	}
	top, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(top) }()
	for path, has := range map[string]string{"": "file", ".": "file", "a": "b", "a/b": "here"} {
		fd, err := openSteps(top, path)
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstatat(fd, has, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			t.Errorf("%q is another directory: %s: %v", path, has, err)
		}
		_ = unix.Close(fd)
	}
	for _, path := range []string{"missing", "a/missing", "missing/b", "file", "file/x", "within", "within/b", "out", "a/last", "a/last/x"} {
		if fd, err := openSteps(top, path); err == nil {
			t.Errorf("%q is opened", path)
			_ = unix.Close(fd)
		}
	}
	if _, err := openSteps(-1, "a"); err == nil {
		t.Error("a path below nothing is opened")
	}
}
