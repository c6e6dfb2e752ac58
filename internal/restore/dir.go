//go:build unix

package restore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/zeebo/blake3"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// dir is an open directory. Names that its methods take are single ones, so that no link is ever on the way.
type dir struct {
	fd   int
	path string // for words
}

const openDir = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// openRoot opens the directory that everything lies below. Its own path may lead through links: it is the caller's.
func openRoot(path string) (*dir, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, openDir, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &dir{fd: fd, path: path}, nil
}

func (d *dir) close() { _ = unix.Close(d.fd) }

// again repeats what a signal interrupted.
func again[T any](do func() (T, error)) (T, error) {
	for {
		v, err := do()
		if err != unix.EINTR { //nolint:errorlint // a bare number
			return v, err
		}
	}
}

func (d *dir) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path.Join(d.path, name), Err: err}
}

// sub opens a directory in this one; a link is no directory.
func (d *dir) sub(name string) (*dir, error) {
	fd, err := again(func() (int, error) { return unix.Openat(d.fd, name, openDir|unix.O_NOFOLLOW, 0) })
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return &dir{fd: fd, path: path.Join(d.path, name)}, nil
}

// down opens the directory of a path below this one, name by name; "" is this one, opened again. The caller closes it.
func (d *dir) down(p string) (*dir, error) {
	at, err := d.sub(".")
	if err != nil || p == "" {
		return at, err
	}
	for name := range strings.SplitSeq(p, "/") {
		next, err := at.sub(name)
		at.close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// seen is what stands at a name. The kind is 0 if nothing does.
type seen struct {
	kind     tree.Kind
	mode     uint32
	size     int64
	mtime    int64
	dev, ino uint64
	uid, gid uint32
}

func (d *dir) look(name string) (seen, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if err == unix.ENOENT {
		return seen{}, nil
	}
	if err != nil {
		return seen{}, d.fail("stat", name, err)
	}
	return seenOf(&st), nil
}

func seenOf(st *unix.Stat_t) seen {
	s := seen{kind: tree.Other, mode: uint32(st.Mode) & tree.MaxMode, size: st.Size, mtime: st.Mtim.Nano(), dev: uint64(st.Dev), ino: st.Ino, uid: st.Uid, gid: st.Gid} //nolint:unconvert,gosec // other systems have other widths
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.kind = tree.File
	case unix.S_IFDIR:
		s.kind = tree.Dir
	case unix.S_IFLNK:
		s.kind = tree.Link
	}
	return s
}

// is reports whether exactly that entry stands at a name; nil is nothing. Files are compared by their content, directories
// by being one.
func (d *dir) is(name string, e *tree.Entry) (bool, error) {
	s, err := d.look(name)
	if err != nil {
		return false, err
	}
	switch {
	case e == nil || s.kind == 0:
		return e == nil && s.kind == 0, nil
	case s.kind != e.Kind:
		return false, nil
	case s.kind == tree.Dir:
		return true, nil
	case s.kind == tree.Link:
		to, err := d.readlink(name)
		return to == e.Target, err
	case s.kind != tree.File || s.size != e.Size || s.mode&fileBits != e.Mode&fileBits:
		return false, nil
	}
	sum, err := d.sum(name)
	if errors.Is(err, fs.ErrPermission) { // a file that its own user may not read: its stamp has to do
		return s.mtime == e.MTime, nil
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, errNoFile) {
		return false, nil // it went just now
	}
	return sum == e.Digest, err
}

// The bits of a mode that are given and compared.
const (
	fileBits = 0o777
	dirBits  = 0o1777
)

var errNoFile = errors.New("no regular file")

// sum is the digest of a file's content. What is no regular file is errNoFile, and is neither waited for nor followed.
func (d *dir) sum(name string) (store.Digest, error) {
	f, err := d.open(name)
	if err != nil {
		return store.Digest{}, err
	}
	defer f.Close()
	h := blake3.New()
	if _, err := io.Copy(h, f); err != nil {
		return store.Digest{}, d.fail("read", name, err)
	}
	return store.Digest(h.Sum(nil)), nil
}

func (d *dir) open(name string) (*os.File, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := again(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	f := os.NewFile(uintptr(fd), path.Join(d.path, name))
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, d.fail("open", name, errors.Join(err, errNoFile))
	}
	return f, nil
}

// create makes a file that is not there yet, for its user alone.
func (d *dir) create(name string) (*os.File, error) {
	flags := unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := again(func() (int, error) { return unix.Openat(d.fd, name, flags, 0o600) })
	if err != nil {
		return nil, d.fail("create", name, err)
	}
	return os.NewFile(uintptr(fd), path.Join(d.path, name)), nil
}

func (d *dir) readlink(name string) (string, error) {
	b := make([]byte, tree.MaxTarget+1)
	n, err := unix.Readlinkat(d.fd, name, b)
	if err != nil {
		return "", d.fail("readlink", name, err)
	}
	return string(b[:n]), nil
}

func (d *dir) mkdir(name string) error { return d.fail("mkdir", name, unix.Mkdirat(d.fd, name, 0o700)) }

func (d *dir) symlink(target, name string) error {
	return d.fail("symlink", name, unix.Symlinkat(target, d.fd, name))
}

// unlink takes a name away that is no directory; that it is gone already is no error.
func (d *dir) unlink(name string) error { return d.gone("remove", name, unix.Unlinkat(d.fd, name, 0)) }

// rmdir takes an empty directory away.
func (d *dir) rmdir(name string) error {
	return d.gone("rmdir", name, unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR))
}

func (d *dir) gone(op, name string, err error) error {
	if err == unix.ENOENT { //nolint:errorlint // a bare number
		return nil
	}
	return d.fail(op, name, err)
}

// chmod sets the bits of a directory's mode that are given, by a descriptor where it can be opened.
func (d *dir) chmod(name string, mode, bits uint32) error {
	s, err := d.look(name)
	if err != nil {
		return err
	}
	mode = s.mode&^bits | mode&bits
	if s.mode == mode {
		return nil
	}
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := again(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })
	if err != nil { // its user may not read it; nothing is followed here either
		return d.fail("chmod", name, unix.Fchmodat(d.fd, name, mode, unix.AT_SYMLINK_NOFOLLOW))
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || seenOf(&st).ino != s.ino || seenOf(&st).kind != s.kind {
		return d.fail("chmod", name, errors.Join(err, errors.New("it was replaced meanwhile")))
	}
	return d.fail("chmod", name, unix.Fchmod(fd, mode))
}

// touch sets the time of a file or of a link itself.
func (d *dir) touch(name string, mtime int64) error {
	ts := unix.NsecToTimespec(mtime)
	return d.fail("touch", name, unix.UtimesNanoAt(d.fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW))
}

func (d *dir) sync() error { return d.fail("sync", "", unix.Fsync(d.fd)) }

// names lists a directory, at most max names.
func (d *dir) names(max int) ([]string, error) {
	own, err := d.sub(".")
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(own.fd), d.path)
	defer f.Close()
	names, err := f.Readdirnames(max)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("list %s: %w", d.path, err)
	}
	return names, nil
}

// split parts a path into its directory and its name.
func split(p string) (up, name string) {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i], p[i+1:]
	}
	return "", p
}
