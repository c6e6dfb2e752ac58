package homes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// ErrNoFiles says that nothing is known of what a session's files were then.
var ErrNoFiles = errors.New("nothing was captured of its files then")

// ErrNothingToUndo says that nothing is missing, and yet there is no point to go back to. It is an ErrNoFiles.
var ErrNothingToUndo = errors.New("there is nothing to undo")

// errOff says that this home captures nothing.
var errOff = errors.New("files are not captured: files.capture of the configuration is off")

// FilePoint is what a session's files were at some moment.
type FilePoint struct {
	Tree store.Digest
	Dir  string // that the session works on today: a fork has its parent's points, and a directory of its own
	Seq  int64  // of the event that says so
	Time int64  // ms UTC
	To   string // the moment in words
	Turn int    // of the moment before a turn's first change; 0: another moment
	Undo *int64 // undo goes back to the point of this seq, which is over then; nil: it is a restore, which can be undone

	Applied string // the session whose changes were applied just after it; empty: that is not what came
}

// UndoPoint is the state of the files before the newest change of the session's own: before its newest turn that changed
// something, or before a restore. The error wraps ErrNoFiles if there is none.
func (h *Home) UndoPoint(ctx context.Context, id string) (FilePoint, error) {
	st, err := h.lookedAfter(ctx, id)
	if err != nil {
		return FilePoint{}, err
	}
	w := &st.Workspace
	for i := len(w.Points) - 1; i >= 0; i-- {
		if p := w.Points[i]; p.Tree != w.Tree || w.Refused != "" || w.Unsure > p.Seq {
			at := pointOf(st, p)
			at.Undo = &p.Seq
			if what := h.applied(ctx, id, p); what != "" {
				at.To, at.Applied = "before "+what+" were applied", strings.TrimPrefix(what, changesOf(""))
			}
			return at, h.pointKept(ctx, id, at)
		}
	}
	if w.Refused != "" {
		return FilePoint{}, fmt.Errorf("session %s: %w: %s", id, ErrNoFiles, w.Refused)
	}
	if c := interrupted(st); c != nil {
		return FilePoint{}, fmt.Errorf("session %s: %w: turn %d is within %s, and what that has done is not captured yet; once it has ended, it can be undone",
			id, ErrNoFiles, st.Turn.N, c.Tool)
	}
	if st.Turn != nil {
		return FilePoint{}, nothingToUndo(fmt.Sprintf("session %s: no turn has changed a file before turn %d, which is still open; once it has ended, it can be undone", id, st.Turn.N))
	}
	return FilePoint{}, nothingToUndo(fmt.Sprintf("session %s: there is nothing to undo: no turn has changed a file, or what they changed is undone", id))
}

// nothingToUndo is an ErrNothingToUndo in words of its own.
type nothingToUndo string

func (e nothingToUndo) Error() string { return string(e) }

// Is reports whether it is an ErrNothingToUndo, or an ErrNoFiles.
func (nothingToUndo) Is(target error) bool { return target == ErrNothingToUndo || target == ErrNoFiles }

// interrupted is the call of the open turn that had begun and may have changed files, if there is one.
func interrupted(st *session.State) *session.Call {
	if st.Turn == nil {
		return nil
	}
	for i := range st.Turn.Calls {
		if c := &st.Turn.Calls[i]; c.State == session.ActExecuting && c.Effect.Changes() {
			return c
		}
	}
	return nil
}

// lookedAfter is a session's state once the ends of its background tasks are in its log, and the files as they left them:
// what a task did after its turn is the session's own doing. Who holds the session has looked; where nobody can, the state
// is as it was.
func (h *Home) lookedAfter(ctx context.Context, id string) (*session.State, error) {
	st, err := h.State(ctx, id)
	if err != nil || h.spaces == nil || !slices.ContainsFunc(st.Tasks, func(t session.Task) bool { return t.Live() }) {
		return st, err
	}
	if err := h.drainOnce(ctx, id, engine.Options{}); err != nil && !errors.Is(err, store.ErrHeld) {
		h.cfg.Log.Warn("the tasks of a session could not be looked after", "session", id, "error", err)
	}
	return h.State(ctx, id)
}

func pointOf(st *session.State, p session.FilePoint) FilePoint {
	to := fmt.Sprintf("before turn %d", p.Turn)
	if p.Turn == 0 {
		to = fmt.Sprintf("before the restore of event %d", p.Seq)
	}
	return FilePoint{Tree: p.Tree, Dir: filesDir(st), Seq: p.Seq, Time: p.Time, To: to, Turn: p.Turn}
}

// BeforeTurn is the event up to which a session's own log knows nothing of the turn that an event lies in, nor of the
// message that began it. The error wraps ErrNoFiles if there is no such turn.
func (h *Home) BeforeTurn(ctx context.Context, id string, seq int64) (int64, error) {
	for ev, err := range h.Range(ctx, id, Range{Through: seq, Kinds: []store.Kind{session.KindTurnStarted}, Reverse: true}) {
		if err != nil {
			return 0, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return 0, err
		}
		if b, ok := body.(*session.TurnStarted); ok && b.Message > 0 && b.Message < ev.Seq {
			return b.Message - 1, nil
		}
		return ev.Seq - 1, nil
	}
	return 0, fmt.Errorf("session %s: %w: event %d lies in no turn of its own", id, ErrNoFiles, seq)
}

// FilesAt finds what a session's files were at a moment that a person names: a checkpoint's name, the number of an event,
// with or without an @ before it, or "turn N" for the files before that turn's first change. The error wraps ErrNoFiles,
// or says that there is no such moment.
func (h *Home) FilesAt(ctx context.Context, id, moment string) (FilePoint, error) {
	st, err := h.lookedAfter(ctx, id)
	if err != nil {
		return FilePoint{}, err
	}
	w := &st.Workspace
	if c, ok := w.Checkpoint(moment); ok {
		return FilePoint{Tree: c.Tree, Dir: filesDir(st), Seq: c.Seq, Time: c.Time, To: "checkpoint " + c.Name}, nil
	}
	if n, ok := number(strings.TrimSpace(strings.TrimPrefix(moment, "turn"))); ok && strings.HasPrefix(moment, "turn") {
		for _, p := range w.Points {
			if int64(p.Turn) == n {
				at := pointOf(st, p)
				return at, h.pointKept(ctx, id, at)
			}
		}
		return FilePoint{}, fmt.Errorf("session %s: %w: turn %d changed nothing, or there is none, or it is too long ago", id, ErrNoFiles, n)
	}
	if seq, ok := number(strings.TrimPrefix(moment, "@")); ok {
		return h.filesAsOf(ctx, st, seq)
	}
	return FilePoint{}, fmt.Errorf("session %s has no checkpoint %q: %w", id, moment, ErrNoFiles)
}

func number(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0
}

// filesAsOf finds the newest tree that the log names up to an event.
func (h *Home) filesAsOf(ctx context.Context, st *session.State, seq int64) (FilePoint, error) {
	if seq > st.Head.Seq {
		return FilePoint{}, fmt.Errorf("session %s has %d events, and no event %d: %w", st.ID, st.Head.Seq, seq, ErrNoFiles)
	}
	kinds := []store.Kind{session.KindFilesCaptured, session.KindFilesRestored}
	for ev, err := range h.Range(ctx, st.ID, Range{Through: seq, Kinds: kinds, Reverse: true}) {
		if err != nil {
			return FilePoint{}, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return FilePoint{}, err
		}
		p := FilePoint{Seq: ev.Seq, Time: ev.Time, Dir: filesDir(st), To: fmt.Sprintf("event %d", seq)}
		switch b := body.(type) {
		case *session.FilesCaptured:
			p.Tree = b.Tree
		case *session.FilesRestored:
			p.Tree = b.Tree
		default:
		}
		if !p.Tree.IsZero() {
			return p, h.stillKept(ctx, st.ID, p)
		}
	}
	return FilePoint{}, fmt.Errorf("session %s: %w: before event %d", st.ID, ErrNoFiles, seq)
}

// pointKept says that a point of undo is gone, since the session's room was used up. Nothing else takes one away.
func (h *Home) pointKept(ctx context.Context, id string, p FilePoint) error {
	if t := h.thinningOf(id); !t.Some || p.Seq > t.Points {
		return nil
	}
	err := h.stillKept(ctx, id, p)
	if errors.Is(err, ErrNoFiles) {
		err = fmt.Errorf("session %s: %w: what its files were %s had to go when the room of the session was used up (files.session_quota_mb of the configuration)", id, ErrNoFiles, p.To)
	}
	return err
}

// stillKept says that what a point's files held is not kept any more, if so.
func (h *Home) stillKept(ctx context.Context, id string, p FilePoint) error {
	if h.blobs == nil {
		return nil
	}
	work := h.Progress().Begin("looking at what is kept", "")
	defer work.End()
	trees, err := h.treesOf(ctx, id)
	if err != nil {
		return err
	}
	err = tree.Walk(trees, p.Tree, func(path string, e tree.Entry) error {
		if e.Kind != tree.File || e.Digest.IsZero() {
			return nil
		}
		work.Add(1, e.Size)
		there, err := h.blobs.Has(e.Digest)
		if err == nil && !there {
			err = blob.ErrMissing
		}
		return err
	})
	if errors.Is(err, blob.ErrMissing) {
		return fmt.Errorf("session %s: %w: they were captured at event %d, which was thinned since: %s", id, ErrNoFiles, p.Seq, Thinned)
	}
	return err
}

// PlanRestore says what restoring a session's files to a point would do, now. It touches no file of theirs.
func (h *Home) PlanRestore(ctx context.Context, id string, to FilePoint, paths []string, force bool) (*workspace.Planned, error) {
	if h.spaces == nil {
		return nil, errOff
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	r := engine.RestoreRequest{Session: id, Dir: filesDir(st), Target: to.Tree, Paths: paths, Force: force}
	if r.Unsure = st.Workspace.Refused != ""; !r.Unsure && st.Workspace.Unsure > 0 {
		info, err := h.store.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		r.Unsure = info.Holder == nil || info.Holder.Alive == store.Dead // a live one has looked
	}
	if st.Workspace.Dir == r.Dir {
		r.Base = st.Workspace.Tree
	}
	if r.Partial, err = h.fromElsewhere(ctx, id); err != nil {
		return nil, err
	}
	p, err := h.spaces.Plan(ctx, r, h.others(ctx, r))
	return p, usedUp(err)
}

// filesDir is the directory that a session works on.
func filesDir(st *session.State) string {
	if st.Config.Root != "" {
		return st.Config.Root
	}
	return st.Cwd
}

// FilesNow captures what a session's files are. The caller calls release when it has read what it wants of them.
func (h *Home) FilesNow(ctx context.Context, id string) (p FilePoint, release func(), err error) {
	if h.spaces == nil {
		return FilePoint{}, nil, errOff
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return FilePoint{}, nil, err
	}
	dir := filesDir(st)
	got, err := h.spaces.Capture(ctx, engine.CaptureRequest{Session: id, Dir: dir, Why: session.CaptureNamed, Rung: session.RungWalk})
	if err != nil {
		return FilePoint{}, nil, usedUp(err) // no capture goes for the sake of a look
	}
	if got.Body.Refused != "" {
		return FilePoint{}, nil, errors.New(got.Body.Refused)
	}
	return FilePoint{Tree: got.Body.Tree, Dir: dir, Time: h.cfg.Now().UnixMilli(), To: "now"}, got.Release, nil
}

// FileChanges visits what differs between two trees, by path. What git ignores and stayed where a tree comes from is in
// neither.
func (h *Home) FileChanges(from, to store.Digest, visit func(tree.Change) error) error {
	if h.blobs == nil {
		return errOff
	}
	return tree.Diff(workspace.Arrived(h.blobs), from, to, visit)
}

// FileText gives what a captured file held, if that is a text of at most so many bytes.
func (h *Home) FileText(e *tree.Entry, most int64) (string, bool) {
	if e == nil {
		return "", true
	}
	if e.Kind != tree.File || e.Flags.Has(tree.Skipped) || e.Size > most {
		return "", false
	}
	b, err := h.blobs.Get(e.Digest)
	return string(b), err == nil && bytes.IndexByte(b[:min(len(b), 8000)], 0) < 0
}
