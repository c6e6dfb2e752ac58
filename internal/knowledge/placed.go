package knowledge

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrProject is wrapped by errors about a project's own directory, which has no room or cannot be written: the home is not
// concerned.
var ErrProject = errors.New("the project's directory")

// placed says of an error that it is one of the project's directory, where it is.
func (s *Scope) placed(err error) error {
	if !s.shared || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return fmt.Errorf("%w %s: %w", ErrProject, s.root, err)
}
