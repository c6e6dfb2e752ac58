//go:build unix

package restore

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
)

// tries bounds how often a path is looked at again after somebody was faster.
const tries = 5

// remove takes away what an op's path was, if it still is that.
func (w *work) remove(i int, o *op, d *dir, name string) error {
	if isDir(o.From) {
		return w.removeDir(o, d, name)
	}
	s, err := d.look(name)
	if err != nil || s.kind == 0 {
		return err
	}
	if isDir(o.To) && s.kind == tree.Dir { // done before
		return nil
	}
	if was, err := d.is(name, o.From); err != nil {
		return err
	} else if !was {
		return w.refuse(i, o, d, Edited)
	}
	if err := w.step("take", o.Path); err != nil {
		return err
	}
	err = w.cfg.mover.over(d, name, w.stage, oldName(i))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.step("removed", o.Path); err != nil {
		return err
	}
	if was, err := w.stage.is(oldName(i), o.From); err != nil {
		return err
	} else if was {
		return w.stage.unlink(oldName(i))
	}
	if err := w.bringBack(i, d, name); err != nil {
		return err
	}
	return w.refuse(i, o, d, Edited)
}

func (w *work) removeDir(o *op, d *dir, name string) error {
	err := d.rmdir(name)
	switch {
	case errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST):
		w.keep(o, Kept{Why: NotEmpty})
		if o.To != nil {
			w.stuck[o.Path] = true
		} else {
			return d.chmod(name, o.From.Mode, dirBits)
		}
		return nil
	case errors.Is(err, unix.ENOTDIR):
		if is, ierr := d.is(name, o.To); ierr != nil || !is {
			w.keep(o, Kept{Why: Edited})
			w.stuck[o.Path] = true
			return ierr
		}
		return nil
	}
	return err
}

// makeDir makes a directory; one that is there already is as good.
func (w *work) makeDir(_ int, o *op, d *dir, name string) error {
	err := d.mkdir(name)
	if err == nil {
		of, err := d.look(".")
		return errors.Join(err, own(d, name, of), d.chmod(name, 0o700, 0o700)) // whatever the umask took
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	s, err := d.look(name)
	if err == nil && s.kind != tree.Dir {
		w.keep(o, Kept{Why: InTheWay})
		w.stuck[o.Path] = true
	}
	return err
}

// put brings the staged version to its place.
func (w *work) put(i int, o *op, d *dir, name string) error {
	n := strconv.Itoa(i)
	for range tries {
		if done, err := d.is(name, o.To); err != nil {
			return err
		} else if done {
			return w.stage.unlink(n)
		}
		s, err := d.look(name)
		if err != nil {
			return err
		}
		empty := o.From == nil || o.leaves() || w.gap[i]
		switch {
		case s.kind == 0 && !empty:
			return w.refuse(i, o, d, Gone)
		case s.kind == 0:
			if err := w.ready(i, d); err != nil {
				return err
			}
			if err := w.step("place", o.Path); err != nil {
				return err
			}
			err := w.cfg.mover.place(w.stage, n, d, name)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return err
		case o.From == nil || o.leaves():
			return w.refuse(i, o, d, Edited)
		}
		if was, err := d.is(name, o.From); err != nil {
			return err
		} else if !was {
			return w.refuse(i, o, d, Edited)
		}
		if err := w.ready(i, d); err != nil {
			return err
		}
		if err := own(w.stage, n, s); err != nil {
			return err
		}
		if err := w.replace(i, o, d, name); err != nil {
			return err
		}
	}
	return w.refuse(i, o, d, Edited)
}

// ready makes sure that the wanted version is staged, and belongs to whom the directory belongs.
func (w *work) ready(i int, d *dir) error {
	s, err := w.stage.look(strconv.Itoa(i))
	if err == nil && s.kind == 0 {
		err = w.stageSome([]int{i})
	}
	if err != nil {
		return err
	}
	of, err := d.look(".")
	return errors.Join(err, own(w.stage, strconv.Itoa(i), of))
}

// own gives a name to the owner of something else, where this user may do that: root restores other users' files.
func own(d *dir, name string, of seen) error {
	if os.Geteuid() != 0 {
		return nil
	}
	err := unix.Fchownat(d.fd, name, int(of.uid), int(of.gid), unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) { // a root that may not either
		return nil
	}
	return d.fail("chown", name, err)
}

// replace swaps the staged version with the file in its place, and looks at what came out. Whoever calls it looks at the
// place again.
func (w *work) replace(i int, o *op, d *dir, name string) error {
	n, old := strconv.Itoa(i), oldName(i)
	if err := w.step("swap", o.Path); err != nil {
		return err
	}
	err := w.cfg.mover.swap(w.stage, n, d, name)
	switch {
	case errors.Is(err, errUnsupported): // for a moment there is nothing
		err = w.cfg.mover.over(d, name, w.stage, old)
		w.gap[i] = err == nil
	case err == nil:
		if err := w.step("swapped", o.Path); err != nil {
			return err
		}
		err = w.cfg.mover.over(w.stage, n, w.stage, old)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.step("moved", o.Path); err != nil {
		return err
	}
	was, err := w.stage.is(old, o.From)
	if err != nil {
		return err
	}
	if !was {
		w.gap[i] = false
		return w.bringBack(i, d, name)
	}
	if !w.gap[i] {
		return w.stage.unlink(old)
	}
	if err := w.cfg.mover.place(w.stage, n, d, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	w.gap[i] = false
	return w.stage.unlink(old)
}

// fileMode gives a file whose content stays its permissions.
func (w *work) fileMode(_ int, o *op, d *dir, name string) error {
	s, err := d.look(name)
	if err != nil {
		return err
	}
	switch {
	case s.kind == 0:
		w.keep(o, Kept{Why: Gone})
	case s.kind != tree.File || s.mode&fileBits != o.From.Mode&fileBits && s.mode&fileBits != o.To.Mode&fileBits:
		w.keep(o, Kept{Why: Edited})
	default:
		return d.chmod(name, o.To.Mode, fileBits)
	}
	return nil
}

// dirMode gives a directory its permissions, unless somebody gave it others.
func (w *work) dirMode(_ int, o *op, d *dir, name string) error {
	s, err := d.look(name)
	if err != nil {
		return err
	}
	if s.kind != tree.Dir {
		w.keep(o, Kept{Why: Edited})
		return nil
	}
	known := []uint32{o.To.Mode, o.To.Mode | 0o700, 0o700}
	if isDir(o.From) {
		known = []uint32{o.To.Mode, o.To.Mode | 0o700, o.From.Mode, o.From.Mode | 0o700}
	}
	for _, mode := range known {
		if s.mode&dirBits == mode&dirBits {
			return d.chmod(name, o.To.Mode, dirBits)
		}
	}
	if isDir(o.From) {
		w.keep(o, Kept{Why: Edited})
	}
	return nil
}
