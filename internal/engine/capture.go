package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// seenFiles is what a holder knows of its session's files beyond the log. The log is enough without it: whoever opens a
// session captures once more than needed.
type seenFiles struct {
	act     string          // the newest act that may have changed files and that no capture came after; empty: none
	sure    int64           // the log's head at the newest capture of this holder
	failed  int             // the newest turn in which a capture failed: acts of that turn are not captured
	reasons map[string]bool // of failures, that the log has
}

// maxReasons bounds how many failures of captures a holder logs.
const maxReasons = 16

// unsure reports whether files may have changed since they were captured last: an act, or a task, has ended.
func (s *files) unsure() bool { return s.state.Workspace.Unsure > s.seen.sure }

// noteActs remembers the newest call that was settled before this holder, if nothing was captured since.
func (s *files) noteActs() {
	if t := s.state.Turn; t != nil && s.eng.cfg.Captures != nil && s.unsure() {
		for i := range t.Calls {
			if c := &t.Calls[i]; mayHaveChanged(c) {
				s.seen.act = c.ID
			}
		}
	}
}

// mayHaveChanged reports whether a call was begun that is not only a look.
func mayHaveChanged(c *session.Call) bool {
	return c != nil && (c.Settled() || c.Lost()) && c.Start != nil && !c.Left && c.Effect.Changes()
}

// noteAct remembers that an event tells of something that may have changed files.
func (s *files) noteAct(body session.Body) {
	if s.eng.cfg.Captures == nil {
		return
	}
	var act string
	switch b := body.(type) {
	case *session.ToolFinished:
		act = b.Act
	case *session.ToolUnknown:
		act = b.Act
	case *session.FilesRestored:
		s.seen.act = ""
		return
	default:
		return
	}
	if c := s.state.Call(act); mayHaveChanged(c) {
		s.seen.act = c.ID
	}
}

// captureAct captures the files after an act that may have changed them, before anything else begins.
func (s *files) captureAct(ctx context.Context) error {
	if s.seen.act == "" {
		return nil
	}
	r := CaptureRequest{Why: session.CaptureAct, Act: s.seen.act, Rung: session.RungHint}
	if c := s.state.Call(r.Act); c != nil && c.Start != nil && c.Start.Edit != nil {
		r.Paths = []string{c.Start.Edit.Path}
	}
	if err := s.capture(ctx, r); err != nil {
		return err
	}
	s.seen.act = ""
	return nil
}

// captureBefore captures the files before the first act of the turn that may change them: what others did since the
// session looked last is no doing of the turn's.
func (s *files) captureBefore(ctx context.Context, c *session.Call) error {
	if s.eng.cfg.Captures == nil || !c.Effect.Changes() || s.state.Workspace.Marked(s.state.Turn.N) {
		return nil
	}
	return s.capture(ctx, CaptureRequest{Why: session.CaptureBefore, Rung: session.RungHint})
}

// captureTurn captures the files at the end of a turn that may have changed them, or in which a task ended.
func (s *files) captureTurn(ctx context.Context, turn int) error {
	if s.eng.cfg.Captures == nil || s.state.Workspace.Turn != turn && !s.unsure() {
		return nil
	}
	return s.capture(ctx, CaptureRequest{Why: session.CaptureTurn, Rung: session.RungWalk})
}

// captureLeft captures the files when the session is given back, if a task has ended since they were captured last. What
// keeps it from that is for the next holder to find.
func (s *files) captureLeft(ctx context.Context) {
	if s.eng.cfg.Captures == nil || !s.unsure() || s.failed != nil || s.state.Workspace.Restoring() {
		return
	}
	if err := s.capture(ctx, CaptureRequest{Why: session.CapturePause, Rung: session.RungWalk}); err != nil {
		s.eng.cfg.Log.Warn("the files of a session were not captured", "session", s.state.ID, "error", err)
	}
}

// capture captures the session's files and logs the tree, if it is another one than before. A failure is logged once for
// each reason, and stops nothing; after one the acts of its turn are not captured. An error is of the log, of ctx, or
// wraps errLate.
func (s *files) capture(ctx context.Context, r CaptureRequest) error {
	turn := s.state.Turns
	if s.seen.failed == turn && turn > 0 && (r.Why == session.CaptureAct || r.Why == session.CaptureBefore) {
		return nil
	}
	r = s.toCapture(r)
	shown := s.showFiles(ctx, r.Dir)
	got, err := beside(ctx, s.eng.cfg.CaptureLimit, func(ctx context.Context) (Captured, error) { return s.eng.cfg.Captures.Capture(ctx, r) })
	shown()
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("session %s: capture of %s: %w", s.state.ID, r.Dir, err)
	case err != nil && ctx.Err() != nil:
		return ctx.Err() // the next holder does it again
	}
	defer release(got.Release)
	b := s.answered(r, got.Body, err)
	if b.Refused != "" {
		s.seen.failed = turn
		if s.knownReason(b.Refused) {
			return nil
		}
		s.eng.cfg.Log.Warn("the files of a session are not captured", "session", s.state.ID, "reason", b.Refused)
		return s.append(ctx, engineActor, b)
	}
	s.seen.sure = s.state.Head.Seq
	if s.isNewest(b) {
		return nil
	}
	return s.append(ctx, engineActor, b)
}

// toCapture completes a request.
func (s *files) toCapture(r CaptureRequest) CaptureRequest {
	r.Session, r.Dir = s.state.ID, s.filesDir()
	r.Last = s.knownTree()
	return r
}

// filesDir is the directory that the session works on.
func (s *held) filesDir() string { return orDefault(s.state.Config.Root, s.state.Cwd) }

// knownTree is the newest tree that the session knows of that directory.
func (s *files) knownTree() store.Digest {
	if w := &s.state.Workspace; w.Dir == s.filesDir() {
		return w.Tree
	}
	return store.Digest{}
}

// answered makes the event of a capture's answer. What is no tree is a refusal.
func (s *files) answered(r CaptureRequest, b *session.FilesCaptured, err error) *session.FilesCaptured {
	switch {
	case err != nil:
		b = &session.FilesCaptured{Refused: err.Error()}
	case b == nil || b.Tree.IsZero() && b.Refused == "":
		b = &session.FilesCaptured{Refused: "there is no tree of them"}
	}
	b.Dir, b.Why, b.Act, b.Name, b.Request = r.Dir, r.Why, r.Act, "", 0
	if b.Refused != "" {
		b.Tree = store.Digest{}
	}
	b.Bound()
	s.hideNames(b)
	return b
}

// hideNames replaces known secrets in names of files: the log is no place for them.
func (s *files) hideNames(b *session.FilesCaptured) {
	hide := func(text string) string { return string(s.eng.cfg.Secrets.Replace([]byte(text))) }
	for i := range b.Skipped {
		b.Skipped[i].Path = hide(b.Skipped[i].Path)
	}
	for i := range b.Torn {
		b.Torn[i] = hide(b.Torn[i])
	}
	for i := range b.Repos {
		b.Repos[i].Dir = hide(b.Repos[i].Dir)
	}
	b.Refused = hide(b.Refused)
}

// isNewest reports whether the log says already what a capture found.
func (s *files) isNewest(b *session.FilesCaptured) bool {
	w := &s.state.Workspace
	return w.Refused == "" && w.Dir == b.Dir && w.Tree == b.Tree
}

// knownReason reports whether the log has it already that the files are not captured, and why.
func (s *files) knownReason(why string) bool {
	now := s.state.Workspace.Refused
	if now == why || now != "" && (s.seen.reasons[why] || len(s.seen.reasons) >= maxReasons) {
		return true
	}
	if s.seen.reasons == nil {
		s.seen.reasons = map[string]bool{}
	}
	s.seen.reasons[why] = true
	return false
}

// makeCheckpoint answers a request for a checkpoint, with a tree or with why there is none.
func (s *files) makeCheckpoint(ctx context.Context, ask session.CheckpointAsk) error {
	r := s.toCapture(CaptureRequest{Why: session.CaptureNamed, Rung: session.RungWalk})
	got, err := Captured{}, errNoCaptures
	if c := s.eng.cfg.Captures; c != nil {
		got, err = beside(ctx, 0, func(ctx context.Context) (Captured, error) { return c.Capture(ctx, r) })
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	defer release(got.Release)
	b := s.answered(r, got.Body, err)
	b.Name, b.Request = ask.Name, ask.Seq
	return s.append(ctx, engineActor, b)
}
