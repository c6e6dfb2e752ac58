package homes

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrUnrelated is wrapped by the error about sessions that have nothing in common: no session that they were forked from,
// and no directory of which they have copies.
var ErrUnrelated = errors.New("they have nothing in common")

// Attempts are sessions that began at the same point and went their own ways.
type Attempts struct {
	Session string // the newest one that all were forked from, or are
	Seq     int64  // its event up to which all are the same
	Dir     string // without a session: the directory of which all have copies
	Each    []Attempt

	free []func()
}

// Attempt is what a session has done since the point that it has in common with others.
type Attempt struct {
	Session, Name string
	Base          store.Digest // its files at that point
	Now           FilePoint
	Own           bool // it has a directory of its own, whose changes can be applied
	Turns         int
	Tokens        int64
	Nano          int64 // of a dollar
	Unpriced      int64 // calls whose price is unknown
}

// Release lets blobs be swept again.
func (a *Attempts) Release() {
	for _, f := range a.free {
		f()
	}
}

// Attempts captures the files of sessions and finds what they have in common, and what each has done since. Errors:
// ErrUnrelated, ErrNoFiles, store.ErrNotFound.
func (h *Home) Attempts(ctx context.Context, ids []string) (*Attempts, error) {
	lines := make([][]store.Position, len(ids))
	for i, id := range ids {
		var err error
		if lines[i], err = h.line(ctx, id); err != nil {
			return nil, err
		}
	}
	a := &Attempts{}
	if a.Session, a.Seq = inCommon(lines); a.Session == "" {
		return a, h.copies(ctx, a, ids)
	}
	err := h.branchesOf(ctx, a, ids, lines)
	if err != nil {
		a.Release()
		return nil, err
	}
	return a, nil
}

// line is where a session comes from: itself, as a whole, what it was forked from, up to which event, and so on.
func (h *Home) line(ctx context.Context, id string) (out []store.Position, err error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	out = []store.Position{{Session: id, Seq: math.MaxInt64}}
	for info.Parent != nil && len(out) < maxFamily {
		out = append(out, *info.Parent)
		info, err = h.store.Get(ctx, info.Parent.Session)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inCommon is the newest session of all lines, and the event up to which all have it.
func inCommon(lines [][]store.Position) (id string, seq int64) {
	for _, p := range lines[0] {
		at, all := p.Seq, true
		for _, line := range lines[1:] {
			i := indexOf(line, p.Session)
			if i < 0 {
				all = false
				break
			}
			at = min(at, line[i].Seq)
		}
		if all && at < math.MaxInt64 {
			return p.Session, at
		}
	}
	return "", 0
}

func indexOf(line []store.Position, id string) int {
	for i, p := range line {
		if p.Session == id {
			return i
		}
	}
	return -1
}

// branchesOf finds what each has done since the point in common.
func (h *Home) branchesOf(ctx context.Context, a *Attempts, ids []string, lines [][]store.Position) error {
	then, err := h.eng.LoadAt(ctx, a.Session, a.Seq, false)
	if err != nil {
		return err
	}
	var base store.Digest // for those that did not begin with it
	bases := make([]store.Digest, len(ids))
	for i, line := range lines {
		if n := indexOf(line, a.Session); n > 0 && line[n].Seq == a.Seq {
			if bases[i], err = h.beginning(ctx, line[n-1].Session); err == nil && base.IsZero() {
				base = bases[i]
			}
		}
	}
	if base.IsZero() {
		p, err := h.filesAsOf(ctx, then, a.Seq)
		if err != nil {
			return err
		}
		base = p.Tree
	}
	for i, id := range ids {
		if bases[i].IsZero() {
			bases[i] = base
		}
		if err := h.attempt(ctx, a, id, bases[i]); err != nil {
			return err
		}
		t := &a.Each[i]
		t.Turns -= then.Turns
		t.subtract(then)
		for _, p := range lines[i][1 : indexOf(lines[i], a.Session)+1] { // what it cost before it was forked; of itself it is there
			st, err := h.eng.LoadAt(ctx, p.Session, p.Seq, false)
			if err != nil {
				return err
			}
			t.add(st)
		}
	}
	return nil
}

// copies takes sessions that began with copies of the same directory.
func (h *Home) copies(ctx context.Context, a *Attempts, ids []string) error {
	for _, id := range ids {
		b, err := h.BranchOf(ctx, id)
		if err != nil || b.From == "" || a.Dir != "" && a.Dir != b.From || b.Parent != "" {
			a.Release()
			return fmt.Errorf("session %s and the others: %w", id, ErrUnrelated)
		}
		a.Dir = b.From
		if err := h.attempt(ctx, a, id, b.Base); err != nil {
			a.Release()
			return err
		}
	}
	return nil
}

// attempt captures the files of one, and counts all that it has done.
func (h *Home) attempt(ctx context.Context, a *Attempts, id string, base store.Digest) error {
	now, release, err := h.FilesNow(ctx, id)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	a.free = append(a.free, release)
	base, release, err = h.stayedElsewhere(ctx, id, base, now.Tree)
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	a.free = append(a.free, release)
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	t := Attempt{Session: id, Name: st.Title, Base: base, Now: now, Turns: st.Turns}
	_, err = h.beginning(ctx, id)
	t.Own = err == nil
	t.add(st)
	a.Each = append(a.Each, t)
	return nil
}

func (t *Attempt) add(st *session.State) {
	u := st.Total()
	t.Tokens, t.Nano, t.Unpriced = t.Tokens+u.Input+u.Output, t.Nano+st.Spent, t.Unpriced+st.Unpriced
}

func (t *Attempt) subtract(st *session.State) {
	u := st.Total()
	t.Tokens, t.Nano, t.Unpriced = t.Tokens-u.Input-u.Output, t.Nano-st.Spent, t.Unpriced-st.Unpriced
}
