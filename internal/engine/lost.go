package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// lostAct finds the act among those that just ended of which nobody can tell what it did, if its changes of files can be
// taken back.
func (s *held) lostAct(bodies []session.Body) (int, *session.Call) {
	if s.eng.cfg.Captures == nil {
		return 0, nil
	}
	for i, b := range bodies {
		unknown, ok := b.(*session.ToolUnknown)
		if !ok {
			continue
		}
		if c := s.state.Call(unknown.Act); c != nil && s.canTakeBack(c) {
			return i, c
		}
	}
	return 0, nil
}

// takeBack is the wish to have the files as they were before an act of which nobody can tell what it did, if the session
// is set to that; nil: there is none. It goes into the log together with the act's outcome, so that it is asked for once.
func (s *held) takeBack(bodies []session.Body) *session.RestoreRequested {
	if s.state.Config.OnLost != session.OnLostRollback {
		return nil
	}
	_, c := s.lostAct(bodies)
	if c == nil {
		return nil
	}
	return takenBack(c, s.state.Workspace.Tree)
}

func takenBack(c *session.Call, tree store.Digest) *session.RestoreRequested {
	return &session.RestoreRequested{Target: tree, To: "before " + c.ID + " (" + c.Tool + "), which was interrupted"}
}

// askAbout turns the outcome of a lost act into a question to a person, if the session is set to that and files have
// changed since before it. What has changed by now is captured for it, in the same commit: a person's own edits while it
// waits are no doing of the act's. An error is of ctx, or wraps errLate; then nothing is to be appended. free is called
// once the events are in the log, or not wanted.
func (s *files) askAbout(ctx context.Context, bodies []session.Body) (asked []session.Body, free func(), err error) {
	if s.state.Config.OnLost != session.OnLostAsk {
		return bodies, nil, nil
	}
	i, c := s.lostAct(bodies)
	if c == nil {
		return bodies, nil, nil
	}
	r := s.toCapture(CaptureRequest{Why: session.CaptureAct, Act: c.ID, Rung: session.RungHint})
	shown := s.showFiles(ctx, r.Dir)
	got, err := beside(ctx, s.eng.cfg.CaptureLimit, func(ctx context.Context) (Captured, error) { return s.eng.cfg.Captures.Capture(ctx, r) })
	shown()
	switch {
	case errors.Is(err, errLate):
		return nil, got.Release, fmt.Errorf("session %s: capture of %s: %w", s.state.ID, r.Dir, err)
	case err != nil && ctx.Err() != nil:
		return nil, got.Release, ctx.Err() // the next holder does it again
	}
	files := s.answered(r, got.Body, err)
	if files.Refused != "" || s.isNewest(files) {
		return bodies, got.Release, nil
	}
	unknown, _ := bodies[i].(*session.ToolUnknown)
	asks := *unknown
	asks.Asks, asks.Before = session.LostQuestion(c), s.state.Workspace.Tree
	asked = append(slices.Clone(bodies), files)
	asked[i] = &asks
	return asked, got.Release, nil
}

// admitLost takes an answer about a lost act: an option, or its number.
func (s *admission) admitLost(c *session.Call, b *session.QuestionAnswered) error {
	options := []string{session.LostKeep, session.LostTakeBack, session.LostStop}
	text := strings.TrimSpace(b.Text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(options) {
		text = options[n-1]
	}
	if !slices.Contains(options, text) {
		return fmt.Errorf("%s is answered with 1, 2 or 3: it is about files, and the model is not asked", c.ID)
	}
	w := &s.state.Workspace
	switch {
	case text != session.LostTakeBack:
	case s.eng.cfg.Captures == nil:
		return errNoCaptures
	case w.Restore != nil:
		return fmt.Errorf("%s is not over", w.Restore.Words())
	case w.Dir != s.filesDir():
		return fmt.Errorf("the session works on %s by now, and what the act changed is in %s", named(s.filesDir()), named(w.Dir))
	}
	b.Act, b.Text = c.ID, text
	return nil
}

// decided is what an answer about a lost act leads to, besides the answer: it goes into the log together with it, so that
// it is done once, and only by an answer that was given to this session here.
func (s *held) decided(actor store.Actor, body session.Body) (actors []store.Actor, bodies []session.Body) {
	b, ok := body.(*session.QuestionAnswered)
	if !ok {
		return nil, nil
	}
	c := s.state.Call(b.Act)
	if c == nil || !c.Lost() {
		return nil, nil
	}
	words, then := "to keep it", session.Body(nil)
	switch b.Text {
	case session.LostTakeBack:
		words, then = "to have it taken back", takenBack(c, c.Before)
	case session.LostStop:
		words, then = "to keep it and to stop the turn", &session.CancelRequested{}
	default:
	}
	note := fmt.Sprintf("[The user was asked what becomes of what %s (%s), which was interrupted, has changed in files, and decided %s.]", c.ID, c.Tool, words)
	actors, bodies = append(actors, engineActor), append(bodies, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(note)}})
	if then != nil {
		actors, bodies = append(actors, actor), append(bodies, then)
	}
	return actors, bodies
}

// canTakeBack reports whether the newest tree is of just before an act that was begun. A change of one file is none: it
// was made whole or not at all, so that what else is there is somebody else's.
func (s *held) canTakeBack(c *session.Call) bool {
	w, t := &s.state.Workspace, s.state.Turn
	began := c.Start != nil && !c.Left && (c.Effect == session.EffectProcess || c.Effect == session.EffectExternal)
	known := !w.Tree.IsZero() && w.Refused == "" && w.Dir == s.filesDir() && w.Restore == nil
	return began && known && t != nil && t.Cancel == nil && w.Time <= c.Start.Time
}
