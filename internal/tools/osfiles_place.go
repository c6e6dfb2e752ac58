//go:build unix

package tools

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// inPlace overwrites a file whose other names or whose owner a rename would lose. It is not atomic: a crash in the
// middle can leave a mix of both contents. An error, such as a full disk, puts the old content back.
func (f OSFiles) inPlace(p place, e session.Edit, content []byte) error {
	file, err := p.open(unix.O_RDWR)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := f.step(StepCheck); err != nil {
		return err
	}
	old, err := io.ReadAll(io.LimitReader(file, maxWhole+1))
	switch {
	case err != nil:
		return err
	case len(old) > maxWhole:
		return ErrTooLarge
	}
	if store.Sum(old) != e.Pre || p.moved() {
		return ErrChanged
	}
	if err := f.step(StepPlaceWrite); err != nil {
		return err
	}
	if err := f.overwrite(file, content); err != nil {
		if again := putBack(file, old); again != nil {
			return unsettled(fmt.Errorf("%w, and its old content could not be put back: %w", err, again))
		}
		return err
	}
	if err := f.step(StepPlaceSync); err != nil {
		return unsettled(err)
	}
	if err := f.sync(file); err != nil {
		return unsettled(err)
	}
	return unsettled(f.step(StepDone))
}

func putBack(file *os.File, old []byte) error {
	if _, err := file.WriteAt(old, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(old)))
}

// overwrite writes what grows beyond the old end first, so that a full disk is met before old bytes are gone.
func (f OSFiles) overwrite(file *os.File, content []byte) error {
	fi, err := file.Stat()
	if err != nil {
		return err
	}
	size, length := fi.Size(), int64(len(content))
	if size < length {
		if _, err := file.WriteAt(content[size:], size); err != nil {
			return err
		}
		content = content[:size]
	}
	half := len(content) / 2
	if _, err := file.WriteAt(content[:half], 0); err != nil {
		return err
	}
	if err := f.step(StepPlaceMid); err != nil {
		return err
	}
	if _, err := file.WriteAt(content[half:], int64(half)); err != nil {
		return err
	}
	return file.Truncate(length)
}
