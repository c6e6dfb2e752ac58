package homes

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Relative is a session in the family that forks make.
type Relative struct {
	store.Info
	Forks []*Relative // the oldest first
	// Of a session with a directory of its own: how many of its files, as they were known last, are not what it began with.
	Own     bool
	Changed int
	At      string // the checkpoint of its parent that it was forked at; empty: none
}

// maxFamily bounds the sessions of a family.
const maxFamily = 1000

// Family is a session with all that it was forked from and that was forked from those, from the first one down. Sessions
// of which a parent was deleted begin a family. Errors: store.ErrNotFound.
func (h *Home) Family(ctx context.Context, id string) (*Relative, error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	for n := 0; info.Parent != nil && n < maxFamily; n++ {
		up, err := h.store.Get(ctx, info.Parent.Session)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		info = up
	}
	left := maxFamily
	return h.relative(ctx, info, &left)
}

// Inherited finds the event that a position of a session's state leads to: one that is not above 0 counts back from where
// the session was forked, in the log of that one, or of the one before. Where that is not there, session is empty.
func (h *Home) Inherited(ctx context.Context, id string, seq int64) (session string, at int64, err error) {
	for range maxFamily {
		if seq > 0 {
			return id, seq, nil
		}
		info, err := h.store.Get(ctx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && info.Parent == nil {
			return "", 0, nil
		}
		if err != nil {
			return "", 0, err
		}
		id, seq = info.Parent.Session, seq+info.Parent.Seq
	}
	return "", 0, nil
}

func (h *Home) relative(ctx context.Context, info store.Info, left *int) (*Relative, error) {
	r := &Relative{Info: info}
	if *left--; *left < 0 {
		return nil, fmt.Errorf("the family of session %s has over %d sessions", info.ID, maxFamily)
	}
	st, err := h.State(ctx, info.ID)
	if err == nil { // one that cannot be read is there nevertheless
		if base, err := h.beginning(ctx, info.ID); err == nil {
			r.Own = true
			_ = h.FileChanges(base, st.Workspace.Tree, func(c tree.Change) error {
				if !onlyDir(c) {
					r.Changed++
				}
				return nil
			})
		}
	}
	for after := ""; ; {
		page, err := h.store.List(ctx, store.Query{Parent: info.ID, Limit: maxFamily, After: after})
		if err != nil {
			return nil, err
		}
		for _, child := range page.Sessions {
			c, err := h.relative(ctx, child, left)
			if err != nil {
				return nil, err
			}
			if st != nil && child.Parent != nil {
				for _, p := range st.Workspace.Checkpoints {
					if p.Seq == child.Parent.Seq {
						c.At = p.Name
					}
				}
			}
			r.Forks = append([]*Relative{c}, r.Forks...) // the newest came first
		}
		if after = page.Next; after == "" {
			return r, nil
		}
	}
}

// onlyDir reports a change of a directory alone, since what is in it says more, or of what is not captured.
func onlyDir(c tree.Change) bool {
	dir := func(e *tree.Entry) bool { return e == nil || e.Kind == tree.Dir || e.Flags.Has(tree.Skipped) }
	return dir(c.Before) && dir(c.After)
}
