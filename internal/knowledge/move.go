package knowledge

import (
	"context"
	"errors"
	"strings"
)

func (m *Memory) remove(ctx context.Context, c Command, by By) (string, error) {
	s, name, err := m.place(c.Path)
	if err == nil && name == "" {
		err = refuse("Error: %s is the memory itself: delete what is in it", c.Path)
	}
	if err != nil {
		return "", err
	}
	done, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		list, err := d.tree(name)
		if err == nil && len(list) == 0 {
			err = gone(c.Path)
		}
		for _, n := range list {
			d.set(n, nil)
		}
		if err == nil {
			err = d.unlink(list)
		}
		return "delete " + s.shown(name), "Successfully deleted " + c.Path, err
	})
	if err != nil {
		return "", err
	}
	return done.Result, nil
}

// tree are the names of a file, or of the files of a directory, each of which has been got.
func (d *draft) tree(name string) ([]string, error) {
	if b, err := d.get(name); err == nil && b != nil {
		return []string{name}, nil
	} else if err != nil && !errors.Is(err, ErrLink) {
		return nil, err
	}
	delete(d.was, name)
	list, err := d.below(name)
	var out []string
	for _, k := range list {
		if _, err := d.get(k.Name); err != nil {
			return nil, err
		}
		out = append(out, k.Name)
	}
	return out, err
}

// unlink takes the lines of files that go out of the index.
func (d *draft) unlink(names []string) error {
	return d.reindex(func(x *index) {
		x.drop(func(e Entry) bool {
			for _, n := range names {
				if n == e.File {
					return true
				}
			}
			return false
		})
	})
}

// reindex changes the index, if there is one and it stays.
func (d *draft) reindex(change func(x *index)) error {
	b, err := d.get(indexName)
	if err != nil || b == nil {
		return err
	}
	x := parseIndex(string(b))
	n := len(x.lines)
	before := x.text()
	if change(x); len(x.lines) != n || x.text() != before {
		d.set(indexName, []byte(x.text()))
	}
	return nil
}

func (m *Memory) rename(ctx context.Context, c Command, by By) (string, error) {
	from, old, err := m.place(c.OldPath)
	if err != nil {
		return "", err
	}
	to, name, err := m.place(c.NewPath)
	switch {
	case err != nil:
		return "", err
	case old == "" || name == "" || old == indexName || name == indexName:
		return "", refuse("Error: %s keeps its place: rename other files", clip(firstOf(old, name, c)))
	case from != to:
		return "", refuse("Error: a file stays in its memory: create it in the other one, then delete it here")
	case strings.HasPrefix(name, old+"/"):
		return "", refuse("Error: %s lies in %s", c.NewPath, c.OldPath)
	}
	done, err := from.change(ctx, by, func(d *draft) (string, string, error) {
		err := d.move(c, old, name)
		return "rename " + from.shown(old) + " to " + from.shown(name), "Successfully renamed " + c.OldPath + " to " + c.NewPath, err
	})
	if err != nil {
		return "", err
	}
	return done.Result, nil
}

// firstOf is the path of the two that names the index or a memory itself.
func firstOf(old, name string, c Command) string {
	if old == "" || old == indexName || name != "" && name != indexName {
		return c.OldPath
	}
	return c.NewPath
}

// move renames a file, or the files of a directory, and the links of the index to them. It never overwrites.
func (d *draft) move(c Command, old, name string) error {
	list, err := d.tree(old)
	if err == nil && len(list) == 0 {
		err = gone(c.OldPath)
	}
	if err != nil {
		return err
	}
	if there, err := d.tree(name); err != nil || len(there) > 0 {
		return errors.Join(err, refuse("Error: The destination %s already exists", c.NewPath))
	}
	moved := map[string]string{}
	for _, n := range list {
		to := name + strings.TrimPrefix(n, old)
		if err := checkName(to); err != nil {
			return refuse("Error: %q is no path of the memory: %v", clip(to), err)
		}
		if _, err := d.get(to); err != nil {
			return err
		}
		moved[n] = to
		d.set(to, d.was[n])
		d.set(n, nil)
		if mark, ok := d.meta.Files[n]; ok {
			d.meta.Files[to] = mark
		}
	}
	return d.reindex(func(x *index) {
		x.change(func(e Entry) bool { return moved[e.File] != "" }, func(e Entry) Entry { e.File = moved[e.File]; return e })
	})
}
