package homes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ForkSpec says what a fork is to be.
type ForkSpec struct {
	Seq        int64        // the event to fork at; 0: the newest
	Checkpoint string       // the files of this checkpoint, and the conversation as it was then; Seq is 0
	Tree       store.Digest // the files that it begins with; zero: those of the event
	ID         string       // of the fork; empty: a new one
	Title      string       // empty: the parent's
	// Conversation has the fork share its parent's directory. Isolate makes it an error if it can have none of its own:
	// else it shares its parent's then, too.
	Conversation, Isolate bool
}

// ForkWith is [Home.Fork] that branches the files, too: the fork gets a directory of its own, see [Home.CreateIsolated],
// with the files as of the event that it is forked at, for the newest one as they are now. Where it shares its parent's
// directory instead, it is one commit, Own has no tree, and Shared says why. Errors: as Fork, ErrNoFiles, ErrNotCaptured.
func (h *Home) ForkWith(ctx context.Context, parent string, f ForkSpec) (Own, error) {
	own, err := h.forkWith(ctx, parent, f)
	if err != nil {
		return Own{}, fmt.Errorf("fork session %s: %w", parent, err)
	}
	return own, nil
}

func (h *Home) forkWith(ctx context.Context, parent string, f ForkSpec) (own Own, err error) {
	if f.Checkpoint != "" {
		p, err := h.FilesAt(ctx, parent, f.Checkpoint)
		switch {
		case err != nil:
			return own, err
		case p.Seq <= 0:
			of, _, err := h.Inherited(ctx, parent, p.Seq)
			if err != nil || of == "" {
				return own, errors.Join(err, fmt.Errorf("checkpoint %s is of the session that %s was forked from, which is gone", f.Checkpoint, parent))
			}
			return own, fmt.Errorf("checkpoint %s is of the session that %s was forked from: fork %s@%s", f.Checkpoint, parent, of, f.Checkpoint)
		}
		f.Seq, f.Tree = p.Seq, p.Tree
	}
	st, err := h.eng.ForkState(ctx, parent, f.Seq)
	if err != nil {
		return own, err
	}
	own.From, own.Tree = filesDir(st), f.Tree
	if why, shares := h.shares(st, f); shares {
		return h.forkShared(ctx, parent, f, own, why)
	}
	own, err = h.forkOwn(ctx, parent, st, f, own)
	if errors.Is(err, ErrNotCaptured) && f.Tree.IsZero() && !f.Isolate {
		return h.forkShared(ctx, parent, f, own, err.Error())
	}
	return own, err
}

// shares reports whether a fork shares its parent's directory from the start, and why, if nobody has asked for it.
func (h *Home) shares(st *session.State, f ForkSpec) (why string, yes bool) {
	switch {
	case f.Conversation || filesDir(st) == "":
		return "", true
	case f.Isolate || !f.Tree.IsZero():
		return "", false
	case h.spaces == nil:
		return errOff.Error(), true
	case st.Workspace.Refused != "":
		return st.Workspace.Refused, true
	case !st.Workspace.Tree.IsZero():
		return "", false
	}
	_, err := os.Stat(filesDir(st))
	return "that one is gone", errors.Is(err, os.ErrNotExist)
}

// forkShared makes a fork that works in its parent's directory.
func (h *Home) forkShared(ctx context.Context, parent string, f ForkSpec, own Own, why string) (Own, error) {
	own = Own{From: own.From, Dir: own.From, Shared: why}
	var err error
	own.Session, own.At, err = h.Fork(ctx, parent, f.Seq, f.ID, f.Title)
	return own, err
}

// forkOwn makes a fork with a directory of its own.
func (h *Home) forkOwn(ctx context.Context, parent string, st *session.State, f ForkSpec, own Own) (_ Own, err error) {
	if own.Tree.IsZero() {
		if own.Tree, err = h.treeOfFork(ctx, st, f.Seq); err != nil {
			return own, err
		}
	}
	if own.Session = f.ID; f.ID == "" {
		own.Session = h.eng.NewKey()
	}
	own.of = parent
	taken, err := h.takenBack(ctx, parent, f.Seq)
	if err != nil {
		return own, err
	}
	err = h.withOwn(ctx, &own, func(events []session.Body) error {
		cwd := own.Dir
		if rel, err := filepath.Rel(own.From, st.Cwd); err == nil && filepath.IsLocal(rel) {
			if info, err := os.Stat(filepath.Join(own.Dir, rel)); err == nil && info.IsDir() {
				cwd = filepath.Join(own.Dir, rel)
			}
		}
		moved := &session.Configured{Root: &own.Dir, Cwd: &cwd, Moved: true}
		_, own.At, err = h.eng.Fork(ctx, parent, f.Seq, own.Session, f.Title, slices.Concat([]session.Body{moved}, taken, events)...)
		return err
	})
	return own, err
}

// treeOfFork is what the files were at the event at which a session is forked; zero: they are captured now. Before its
// first change they were what the first capture found; where there is none, it never changed any.
func (h *Home) treeOfFork(ctx context.Context, st *session.State, seq int64) (store.Digest, error) {
	if seq == 0 {
		if _, err := os.Stat(filesDir(st)); errors.Is(err, os.ErrNotExist) {
			return st.Workspace.Tree, nil
		}
		return store.Digest{}, nil
	}
	if !st.Workspace.Tree.IsZero() {
		return st.Workspace.Tree, nil
	}
	return h.firstTree(ctx, st.ID)
}

// firstTree is what the first capture of a session found; zero if there is none, or if what lies before it is damaged.
func (h *Home) firstTree(ctx context.Context, id string) (store.Digest, error) {
	for ev, err := range h.Range(ctx, id, Range{Kinds: []store.Kind{session.KindFilesCaptured}}) {
		if _, damaged := errors.AsType[*store.CorruptError](err); damaged {
			break
		}
		if err != nil {
			return store.Digest{}, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return store.Digest{}, err
		}
		if b, ok := body.(*session.FilesCaptured); ok && !b.Tree.IsZero() {
			return b.Tree, nil
		}
	}
	return store.Digest{}, nil
}
