package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoEntry says that no entry has this key.
var ErrNoEntry = errors.New("no such entry")

// Listed is an entry with its mark.
type Listed struct {
	Entry
	Scope   string `json:"scope"`
	Mark    Mark   `json:"mark"`
	Missing bool   `json:"missing,omitempty"` // its file is not there
	Body    string `json:"body,omitempty"`    // the file's text, where it was asked for
}

// List gives the entries of a scope in the order of its index.
func (s *Scope) List() ([]Listed, error) {
	f, err := s.look()
	if err != nil {
		return nil, err
	}
	defer f.close()
	d, err := f.draft()
	if err != nil {
		return nil, err
	}
	x, err := d.index()
	var out []Listed
	for _, e := range x.entries {
		l := Listed{Entry: e, Scope: s.Name, Mark: d.meta.Entries[e.Key]}
		if checkName(e.File) != nil {
			l.Missing = true
		} else if b, err := f.read(e.File); err != nil || b == nil {
			l.Missing = true
		} else {
			l.Body = string(b)
		}
		out = append(out, l)
	}
	return out, err
}

// Show gives one entry with its text.
func (s *Scope) Show(key string) (Listed, error) {
	list, err := s.List()
	if err != nil {
		return Listed{}, err
	}
	for _, l := range list {
		if l.Key == key {
			return l, nil
		}
	}
	return Listed{}, fmt.Errorf("%q: %w", key, ErrNoEntry)
}

// Revision is a change of an entry: what is nil stays.
type Revision struct {
	Summary *string
	Body    *string // of the file
}

// Edit changes an entry's line or its file. With neither it says that the entry still holds.
func (s *Scope) Edit(ctx context.Context, key string, r Revision, by By) error {
	return s.onEntry(ctx, by, "edit "+key, key, func(d *draft, x *index, e Entry) error {
		old, err := d.get(e.File)
		if err != nil {
			return err
		}
		if r.Body != nil {
			if err := guardShrink(s.shown(e.File), old, []byte(*r.Body)); err != nil {
				return err
			}
			d.set(e.File, []byte(*r.Body))
		}
		if r.Summary != nil {
			sum := summary(strings.TrimSpace(*r.Summary))
			x.change(func(o Entry) bool { return o.Key == key }, func(o Entry) Entry { o.Summary = sum; return o })
			d.set(indexName, []byte(x.text()))
		}
		if r.Body == nil && r.Summary == nil {
			d.meta.Entries[key] = d.meta.Entries[key].next(by, d.now())
			b, err := d.meta.bytes()
			if err != nil {
				return err
			}
			d.set(metaName, b)
		}
		return nil
	})
}

// Forget takes an entry out, and its file if no other entry leads to it.
func (s *Scope) Forget(ctx context.Context, key string, by By) error {
	return s.onEntry(ctx, by, "forget "+key, key, func(d *draft, x *index, e Entry) error {
		x.drop(func(o Entry) bool { return o.Key == key })
		d.set(indexName, []byte(x.text()))
		if slices.ContainsFunc(x.entries, func(o Entry) bool { return o.File == e.File }) {
			return nil
		}
		if b, err := d.get(e.File); err != nil || b == nil {
			return err
		}
		d.set(e.File, nil)
		return nil
	})
}

func (s *Scope) onEntry(ctx context.Context, by By, what, key string, do func(d *draft, x *index, e Entry) error) error {
	if _, err := s.Show(key); err != nil {
		return err
	}
	_, err := s.change(ctx, by, func(d *draft) (string, string, error) {
		x, err := d.index()
		if err != nil {
			return "", "", err
		}
		e := x.find(key)
		if e == nil {
			return "", "", fmt.Errorf("%q: %w", key, ErrNoEntry)
		}
		if err := checkName(e.File); err != nil || e.File == indexName {
			return "", "", refuse("%s leads to %q, which is no file of this memory: edit %s by hand", key, clip(e.File), s.IndexFile())
		}
		return what, "", do(d, x, *e)
	})
	return err
}
