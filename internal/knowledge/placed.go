package knowledge

import (
	"errors"
	"io/fs"
	"syscall"
)

// PlaceError says that a project's own directory, where its knowledge lies by the user's consent, could not be written:
// it is read-only, somebody else's, or on a full disk. The home is another place.
type PlaceError struct {
	Dir string // that directory
	Err error
}

func (e *PlaceError) Error() string { return e.Dir + " cannot be written: " + e.Err.Error() }

func (e *PlaceError) Unwrap() error { return e.Err }

// placed names the directory behind an error of its filesystem, if the scope lies in a project.
func (s *Scope) placed(err error) error {
	filesystem := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS)
	if !s.shared || !filesystem || errors.As(err, new(*PlaceError)) {
		return err
	}
	return &PlaceError{Dir: s.Dir(), Err: err}
}
