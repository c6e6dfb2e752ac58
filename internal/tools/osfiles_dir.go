//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// place is a name in a directory that is held open. What is decided about a path, looked at and written is one and the
// same file, whatever links a racing process puts on the way meanwhile.
type place struct {
	dir        *os.File
	name, path string
}

func (p place) fd() int { return int(p.dir.Fd()) }

// openPlace opens the parent of a resolved path for looking at what is in it. A link on the way is ELOOP: the path
// leads elsewhere by now than when it was resolved.
func openPlace(path string) (place, error) {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return place{}, &fs.PathError{Op: "open", Path: path, Err: unix.EINVAL}
	}
	dir, err := openDir(filepath.Dir(path), openSearch)
	if err != nil {
		return place{}, err
	}
	return place{dir: dir, name: nameIn(path), path: path}, nil
}

// nameIn is the name of a path in its parent; the root is in itself.
func nameIn(path string) string {
	if name := filepath.Base(path); name != "/" {
		return name
	}
	return "."
}

// stat looks at what is there, a link as itself.
func (p place) stat(st *unix.Stat_t) error {
	if err := unix.Fstatat(p.fd(), p.name, st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "open", Path: p.path, Err: err}
	}
	return nil
}

// open opens what is there without following a link.
func (p place) open(flags int) (*os.File, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(p.fd(), p.name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: p.path, Err: err}
	}
	return os.NewFile(uintptr(fd), p.path), nil
}

// moved reports whether the path leads to another directory by now than to the one that is held open.
func (p place) moved() bool {
	now, err := openDir(filepath.Dir(p.path), openSearch)
	if err != nil {
		return true
	}
	defer now.Close()
	var a, b unix.Stat_t
	return unix.Fstat(p.fd(), &a) != nil || unix.Fstat(int(now.Fd()), &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino
}

// openDir opens a directory by a path on which no link is followed.
func openDir(path string, flags int) (*os.File, error) {
	fd, err := openBeyondLinks(path, flags|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if errors.Is(err, errors.ErrUnsupported) {
		fd, err = walkTo(path, flags)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// walkTo opens a directory component by component, where the kernel does not offer to refuse links in one call.
func walkTo(path string, flags int) (int, error) {
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	at := openSearch
	if len(names) == 0 {
		at = flags
	}
	fd, err := unix.Open("/", at|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for i := 0; err == nil && i < len(names); i++ {
		if at = openSearch; i == len(names)-1 {
			at = flags
		}
		up := fd
		fd, err = retry(func() (int, error) {
			return unix.Openat(up, names[i], at|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		var st unix.Stat_t
		if err != nil && unix.Fstatat(up, names[i], &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = unix.ELOOP // some systems say that a link is no directory
		}
		unix.Close(up)
	}
	return fd, err
}

// mkdirs opens a directory for an edit in it and makes what is missing on the way, each durable before the next.
func (f OSFiles) mkdirs(dir string) (*os.File, error) {
	d, err := openDir(dir, unix.O_RDONLY)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%w: a link is on the way to it now", ErrChanged)
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
		return d, err
	}
	up, err := f.mkdirs(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer up.Close()
	p := place{dir: up, name: filepath.Base(dir), path: dir}
	if err := unix.Mkdirat(p.fd(), p.name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &fs.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	if err := f.syncDir(up); err != nil {
		return nil, err
	}
	if d, err = p.open(unix.O_RDONLY | unix.O_DIRECTORY); errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		err = fmt.Errorf("%w: somebody put something else at %s", ErrChanged, dir)
	}
	return d, err
}

func (f OSFiles) syncDir(d *os.File) error {
	// Some filesystems can't sync a directory and say EINVAL; they have nothing to sync then.
	if err := f.sync(d); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
