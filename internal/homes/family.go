package homes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
			r.Own, r.Changed = true, h.countChanged(ctx, info.ID, base, st.Workspace.Tree)
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
			r.Forks = append(r.Forks, c)
		}
		if after = page.Next; after == "" {
			slices.SortFunc(r.Forks, func(a, b *Relative) int { return older(a.Info, b.Info) })
			return r, nil
		}
	}
}

// countChanged counts the files of a session that are not as it began with them, as far as they can be read: those of now,
// whoever has changed them; where they cannot be captured, those that were captured last.
func (h *Home) countChanged(ctx context.Context, id string, began, now store.Digest) (n int) {
	if p, release, err := h.FilesNow(ctx, id); err == nil {
		defer release()
		now = p.Tree
	}
	began, release, err := h.stayedElsewhere(ctx, id, began, now)
	if err != nil {
		return 0
	}
	defer release()
	_ = h.FileChanges(began, now, func(c tree.Change) error {
		if !onlyDir(c) {
			n++
		}
		return nil
	})
	return n
}

// older compares sessions by when they were made, whatever was done in them since.
func older(a, b store.Info) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
}

// ForksOf are the sessions that were forked from one, the oldest first, at most so many.
func (h *Home) ForksOf(ctx context.Context, id string, most int) ([]store.Info, error) {
	page, err := h.store.List(ctx, store.Query{Parent: id, Limit: most})
	slices.SortFunc(page.Sessions, older)
	return page.Sessions, err
}

// onlyDir reports a change of a directory alone, since what is in it says more, or of what is not captured.
func onlyDir(c tree.Change) bool {
	dir := func(e *tree.Entry) bool { return e == nil || e.Kind == tree.Dir || e.Flags.Has(tree.Skipped) }
	return dir(c.Before) && dir(c.After)
}
