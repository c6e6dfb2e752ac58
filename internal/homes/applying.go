package homes

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// ErrNotOwn is wrapped by the error about a session that has no directory of its own: its changes are where they were made.
var ErrNotOwn = errors.New("it has no directory of its own")

// Branch is what a session with a directory of its own has made of the files that it began with.
type Branch struct {
	Session string
	Base    store.Digest // what it began with
	Now     FilePoint    // what its files are now
	Parent  string       // the session that it was forked from; empty: none
	From    string       // the directory of which it has a copy

	release func()
}

// Release lets blobs be swept again.
func (b *Branch) Release() { b.release() }

// Branch captures the files of a session with a directory of its own. Errors: ErrNotOwn, ErrNotCaptured.
func (h *Home) Branch(ctx context.Context, id string) (Branch, error) {
	b, err := h.BranchOf(ctx, id)
	if err != nil {
		return b, err
	}
	if b.Now, b.release, err = h.FilesNow(ctx, id); err != nil {
		return b, err
	}
	base, release, err := h.stayedElsewhere(ctx, id, b.Base, b.Now.Tree)
	if err != nil {
		b.release()
		return b, err
	}
	now := b.release
	b.Base, b.release = base, func() { release(); now() }
	return b, nil
}

// BranchOf is [Home.Branch] without what the files are now: nothing is captured, and nothing is to be released.
func (h *Home) BranchOf(ctx context.Context, id string) (Branch, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return Branch{}, err
	}
	b := Branch{Session: id}
	b.Base, err = h.beginning(ctx, id)
	if err != nil {
		return b, err
	}
	if o, err := h.origin(id); err == nil {
		b.From = o.From
	}
	if st.Parent != nil {
		b.Parent = st.Parent.Session
	}
	return b, nil
}

// beginning is the tree with which a session's own directory began.
func (h *Home) beginning(ctx context.Context, id string) (store.Digest, error) {
	kinds := []store.Kind{session.KindFilesCaptured}
	for ev, err := range h.Range(ctx, id, Range{Kinds: kinds}) {
		if err != nil {
			return store.Digest{}, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return store.Digest{}, err
		}
		if b, ok := body.(*session.FilesCaptured); ok && b.Why == session.CaptureFork && !b.Tree.IsZero() {
			return b.Tree, nil
		}
		break // it is the first of a log
	}
	return store.Digest{}, fmt.Errorf("session %s: %w", id, ErrNotOwn)
}

// PlanApply says what applying a branch's changes to a session's files, or, without one, to a directory's, would do now.
func (h *Home) PlanApply(ctx context.Context, b *Branch, id, dir string, force bool) (*workspace.Planned, error) {
	r := engine.RestoreRequest{Session: id, Dir: dir, Base: b.Base, Target: b.Now.Tree, Force: force, Merge: true}
	if id != "" {
		st, err := h.State(ctx, id)
		if err != nil {
			return nil, err
		}
		r.Dir = filesDir(st)
	}
	p, err := h.spaces.Plan(ctx, r, nil)
	return p, usedUp(err)
}

// ApplyTo merges a branch's changes into the files of a session, as a restore of its log, which undo takes back: what both
// have changed stays as it is there, with the branch's version beside it. Errors: those of [Home.RestoreFiles].
func (h *Home) ApplyTo(ctx context.Context, b *Branch, id string, force bool) (session.FilesRestored, error) {
	return h.RestoreFiles(ctx, id, session.RestoreRequested{
		Target: b.Now.Tree, Merge: b.Base, To: changesOf(b.Session), Force: force,
	})
}

// changesOf names what is applied.
func changesOf(id string) string { return "the changes of session " + id }

// applied names the changes before whose application a point is; empty: it is none of that kind.
func (h *Home) applied(ctx context.Context, id string, p session.FilePoint) string {
	if p.Turn != 0 || p.Seq <= 0 {
		return ""
	}
	if b, ok := h.event(ctx, id, p.Seq).(*session.RestoreStarted); ok {
		if r, ok := h.event(ctx, id, b.Request).(*session.RestoreRequested); ok && !r.Merge.IsZero() {
			return r.To
		}
	}
	return ""
}

// IsBeforeApply reports whether what came just after a point of a session were a fork's changes that were applied. Of what
// a fork has from its session it is not told.
func (h *Home) IsBeforeApply(ctx context.Context, id string, p session.FilePoint) bool {
	return h.applied(ctx, id, p) != ""
}

// event is an event's body; nil: there is none that can be read.
func (h *Home) event(ctx context.Context, id string, seq int64) session.Body {
	for ev, err := range h.store.Read(ctx, id, seq, seq) {
		if err != nil {
			return nil
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil
		}
		return body
	}
	return nil
}
