//go:build unix

package restore

import (
	"errors"

	"golang.org/x/sys/unix"
)

// mover renames between directories. Some file systems can neither swap names nor refuse a taken one: there it goes by
// hard links, and where these are missing, too, by a look before the rename, with a few microseconds between.
type mover struct {
	noExchange, noNew, noLink bool // a test says that the file system cannot
}

var errUnsupported = errors.New("the file system cannot do that")

// swap exchanges two names, or says errUnsupported with nothing done.
func (m mover) swap(a *dir, x string, b *dir, y string) error {
	err := error(unix.ENOSYS)
	if !m.noExchange {
		err = exchange(a, x, b, y)
	}
	if unsupported(err) {
		return errUnsupported
	}
	return b.fail("swap", y, err)
}

// place moves x to a name that must not be taken: fs.ErrExist if it is.
func (m mover) place(a *dir, x string, b *dir, y string) error {
	err := error(unix.ENOSYS)
	if !m.noNew {
		err = renameNew(a, x, b, y)
	}
	if !unsupported(err) {
		return b.fail("place", y, err)
	}
	if !m.noLink {
		err = unix.Linkat(a.fd, x, b.fd, y, 0)
		if err == nil {
			return a.unlink(x)
		}
		if err == unix.EEXIST || err == unix.ENOENT || err == unix.EXDEV { //nolint:errorlint // bare numbers
			return b.fail("place", y, err)
		}
	}
	s, err := b.look(y)
	if err != nil {
		return err
	}
	if s.kind != 0 {
		return b.fail("place", y, unix.EEXIST)
	}
	return m.over(a, x, b, y)
}

// over moves x to y, whatever stands there. It is for names of the staging directory.
func (m mover) over(a *dir, x string, b *dir, y string) error {
	return b.fail("rename", y, unix.Renameat(a.fd, x, b.fd, y))
}

func unsupported(err error) bool {
	return err == unix.ENOSYS || err == unix.EINVAL || err == unix.EOPNOTSUPP || err == unix.ENOTSUP //nolint:errorlint // bare numbers
}
