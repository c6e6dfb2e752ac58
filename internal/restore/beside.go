//go:build unix

package restore

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/perdure/perdure/internal/tree"
)

// refuse leaves an op's path as somebody made it, and writes the wanted version beside it.
func (w *work) refuse(i int, o *op, d *dir, why Reason) error {
	k := Kept{Why: why}
	if isDir(o.To) {
		w.stuck[o.Path] = true
	}
	if o.To != nil && o.stages() {
		if err := w.ready(i, d); err != nil {
			return err
		}
		var err error
		if k.Copy, err = w.beside(strconv.Itoa(i), o, d, false); err != nil {
			return err
		}
	}
	w.keep(o, k)
	if err := w.stayed(o.Path); err != nil {
		return err
	}
	return w.stage.unlink(strconv.Itoa(i))
}

// stayed notes that a path was left to somebody, if no copy says so: an undo has nothing to do there.
func (w *work) stayed(p string) error {
	if slices.ContainsFunc(w.j.copies, func(c besideFrame) bool { return string(c.Path) == p && !c.Theirs }) {
		return nil
	}
	return w.noteCopy(besideFrame{Path: []byte(p)})
}

func (w *work) noteCopy(c besideFrame) error {
	if err := w.j.note(frame{Copy: &c}); err != nil {
		return err
	}
	w.j.copies = append(w.j.copies, c)
	return nil
}

// bringBack returns somebody's version, which was taken out of an op's place in good faith, from "N.old". If the place
// is taken by now, it goes beside; if the directory is gone, beside in the root.
func (w *work) bringBack(i int, d *dir, name string) error {
	o, n, old := &w.ops[i], strconv.Itoa(i), oldName(i)
	if d == nil {
		_, err := w.beside(old, &op{Path: name}, w.root, true)
		return err
	}
	for range tries {
		err := w.cfg.mover.place(w.stage, old, d, name)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if ours, err := d.is(name, o.To); err != nil || !ours || o.To == nil {
			break
		}
		if err := w.cfg.mover.swap(w.stage, old, d, name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			break
		}
		if ours, err := w.stage.is(old, o.To); err != nil {
			return err
		} else if ours {
			return w.cfg.mover.over(w.stage, old, w.stage, n)
		}
	}
	_, err := w.beside(old, o, d, true)
	return err
}

// beside moves something from the staging directory to a free name beside an op's path, and gives that path. It is noted
// first, so that the next run does not put another one there.
func (w *work) beside(from string, o *op, d *dir, theirs bool) (string, error) {
	if c := w.noted(o, d); c != "" && !theirs {
		return c, nil
	}
	for n := 1; n <= maxCopies; n++ {
		at := conflictName(o.Path, n)
		_, name := split(at)
		s, err := d.look(name)
		if err != nil {
			return "", err
		}
		if s.kind != 0 {
			continue
		}
		if err := w.noteCopy(besideFrame{Path: []byte(o.Path), Copy: []byte(at), Theirs: theirs}); err != nil {
			return "", err
		}
		if err := w.step("beside", o.Path); err != nil {
			return "", err
		}
		err = w.cfg.mover.place(w.stage, from, d, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil && theirs {
			w.keep(&op{Path: o.Path}, Kept{Why: Edited, Copy: at})
		}
		return at, err
	}
	return "", d.fail("place", o.Path, fs.ErrExist)
}

// noted gives the copy that an earlier run made of an op's wanted version, if it is there.
func (w *work) noted(o *op, d *dir) string {
	i := slices.IndexFunc(w.j.copies, func(c besideFrame) bool {
		_, name := split(string(c.Copy))
		if string(c.Path) != o.Path || c.Theirs || len(c.Copy) == 0 {
			return false
		}
		is, err := d.is(name, o.To)
		return err == nil && is && o.To.Kind != tree.Dir
	})
	if i < 0 {
		return ""
	}
	return string(w.j.copies[i].Copy)
}
