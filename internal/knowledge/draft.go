package knowledge

import (
	"context"
	"slices"
)

// draft is a change as it is put together under the lock: files that it looked at, and what they shall be.
type draft struct {
	*files
	was  map[string][]byte
	will map[string][]byte // nil: gone
	meta *meta
}

func (f *files) draft() (*draft, error) {
	d := &draft{files: f, was: map[string][]byte{}, will: map[string][]byte{}}
	b, err := d.get(metaName)
	if err == nil {
		d.meta, err = parseMeta(b)
	}
	return d, err
}

// get is a file as it shall be so far; nil is no file.
func (d *draft) get(name string) ([]byte, error) {
	if b, ok := d.will[name]; ok {
		return b, nil
	}
	if b, ok := d.was[name]; ok {
		return b, nil
	}
	b, err := d.read(name)
	if err == nil {
		d.was[name] = b
	}
	return b, err
}

// set says what a file shall be; nil: gone. The file was got before.
func (d *draft) set(name string, b []byte) { d.will[name] = b }

func (d *draft) index() (*index, error) {
	b, err := d.get(indexName)
	return parseIndex(string(b)), err
}

// check holds the rules of the memory against a draft. An undo brings back what was allowed once, unchecked.
func (d *draft) check() error {
	list, err := d.list()
	if err != nil {
		return err
	}
	for name, b := range d.will {
		if b == nil || name == metaName {
			continue
		}
		shown := d.s.shown(name)
		if err := checkText(shown, d.was[name], b); err != nil {
			return err
		}
		if name == indexName {
			before, after := parseIndex(string(d.was[name])), parseIndex(string(b))
			if err := after.checkFits(shown, before, d.meta); err != nil {
				return err
			}
			if err := after.check(before); err != nil {
				return err
			}
			continue
		}
		left := slices.DeleteFunc(slices.Clone(list), func(k Kept) bool { b, ok := d.will[k.Name]; return ok && b == nil })
		if err := checkRoom(left, name, len(b)); err != nil {
			return err
		}
	}
	return nil
}

// commit notes who made the change, and makes it. A draft that changes nothing is no change: nil.
func (d *draft) commit(c *Change) error {
	changed := map[string]bool{}
	for name, b := range d.will {
		if digest(b) == digest(d.was[name]) {
			delete(d.will, name)
		} else if name != indexName && name != metaName {
			changed[name] = b != nil
		}
	}
	if len(d.will) == 0 {
		return nil
	}
	if _, err := d.get(indexName); err != nil {
		return err
	}
	after, err := d.index()
	if err != nil {
		return err
	}
	if _, restored := d.will[metaName]; !restored {
		d.meta.note(parseIndex(string(d.was[indexName])), after, changed, c.By, d.s.cfg.Now())
		b, err := d.meta.bytes()
		if err != nil {
			return err
		}
		d.set(metaName, b)
	}
	names := make([]string, 0, len(d.will))
	for name := range d.will {
		names = append(names, name)
	}
	slices.Sort(names)
	// New details come before the line that leads to them, and the marks last.
	slices.SortStableFunc(names, func(a, b string) int { return order(a) - order(b) })
	for _, name := range names {
		c.Files = append(c.Files, part(name, d.was[name], d.will[name]))
	}
	return d.files.commit(c)
}

func order(name string) int {
	switch name {
	case metaName:
		return 2
	case indexName:
		return 1
	}
	return 0
}

// change runs one change of a scope under its lock. With a key that was used before it gives what came of it then.
func (s *Scope) change(ctx context.Context, by By, make func(d *draft) (what, result string, err error)) (*Change, error) {
	c, err := s.changed(ctx, by, make)
	return c, s.placed(err)
}

func (s *Scope) changed(ctx context.Context, by By, make func(d *draft) (what, result string, err error)) (*Change, error) {
	f, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if c, err := f.made(by.Key); err != nil {
		return nil, err
	} else if c != nil {
		return c, c.stayed()
	}
	d, err := f.draft()
	if err != nil {
		return nil, err
	}
	c := &Change{By: by}
	if c.What, c.Result, err = make(d); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return c, d.commit(c)
}
