package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

func (d *draft) now() string { return d.s.cfg.Now().UTC().Format(time.RFC3339) }

// Log gives the changes that are kept, the newest first, without the bytes that they replaced.
func (s *Scope) Log() ([]Change, error) {
	f, err := s.look()
	if err != nil {
		return nil, err
	}
	defer f.close()
	f.changes, err = openAt(s.cfg.Home, s.changes, false, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was changed yet
	}
	if err != nil {
		return nil, err
	}
	list, err := f.history()
	var out []Change
	for _, r := range slices.Backward(list) {
		c, err := f.load(r)
		if err != nil {
			return out, err
		}
		for i := range c.Files {
			c.Files[i].Before, c.Files[i].After = nil, nil
		}
		out = append(out, *c)
	}
	return out, err
}

// Undo brings back what the newest change replaced that was not undone yet. It is a change itself. What somebody changed
// since is not overwritten.
func (s *Scope) Undo(ctx context.Context, by By) (*Change, error) {
	f, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer f.close()
	last, err := f.undoable()
	if err != nil {
		return nil, err
	}
	d, err := f.draft()
	if err != nil {
		return nil, err
	}
	for _, p := range last.Files {
		now, err := d.get(p.Name)
		switch {
		case err != nil:
			return nil, err
		case p.Name == metaName && digest(now) != p.Post:
			continue // the marks of what comes back are made anew
		case digest(now) != p.Post:
			return nil, refuse("%s changed since by other hands: change %d (%s) cannot be undone", s.shown(p.Name), last.N, last.What)
		}
		switch {
		case p.Pre == "":
			d.set(p.Name, nil)
		case p.Before == nil:
			d.set(p.Name, []byte{})
		default:
			d.set(p.Name, p.Before)
		}
	}
	return last, d.commit(&Change{By: by, What: fmt.Sprintf("undo %d: %s", last.N, last.What), Undoes: last.N})
}

// undoable is the newest change that was not undone and undoes nothing.
func (f *files) undoable() (*Change, error) {
	list, err := f.history()
	if err != nil {
		return nil, err
	}
	undone := map[int64]bool{}
	for _, r := range slices.Backward(list) {
		c, err := f.load(r)
		switch {
		case err != nil:
			return nil, err
		case c.Undoes != 0:
			undone[c.Undoes] = true
		case !undone[c.N]:
			return c, nil
		}
	}
	return nil, refuse("there is nothing to undo")
}
