package engine

import (
	"bytes"
	"context"
	"errors"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// lostSecret gives the name of a secret that a change would put in the place of its value: a model that was shown a file
// with the name in it writes it back so.
func (s *held) lostSecret(e *session.Edit, content []byte) string {
	if e.Pre.IsZero() || !bytes.Contains(content, []byte(session.Hidden)) {
		return ""
	}
	old, _, err := s.eng.cfg.Files.Read(e.Path, 0)
	if err != nil {
		return "" // the change itself fails, or finds another file
	}
	return s.eng.cfg.Secrets.Lost(old, content)
}

// startEdit prepares the file change, logs it whole but for its content, and makes it. If the file is not what the
// decision was made for, the call is decided again.
func (s *toolCalls) startEdit(ctx context.Context, a session.Action, p plan, t tools.Editor, c *session.Call, start session.Start) error {
	edit, content, refusal, err := t.Prepare(ctx, p.call, s.env())
	switch {
	case err != nil:
		refusal = errorResult("Cannot prepare the change: %v", err)
		fallthrough
	case refusal != nil:
		refusal.Content = s.redact(refusal.Content) // it may quote the file
		return s.append(ctx, engineActor, refused(a.ID, *refusal))
	case edit.Pre != c.Decision.Pre || edit.Path != p.path:
		return s.decide(ctx, a, c)
	}
	if s.holds(edit.Path) {
		return s.append(ctx, engineActor, refused(a.ID, *errorResult("The path holds a secret, which the log must not keep. Change this file with a command.")))
	}
	if label := s.lostSecret(edit, content); label != "" {
		return s.append(ctx, engineActor, refused(a.ID, *errorResult("%s stands for a value that is not shown to you. This would write "+
			"the words %s over the value itself. Use Edit on the other lines only.", label, label)))
	}
	edit.Result = string(s.eng.cfg.Secrets.Replace([]byte(edit.Result))) // it quotes the file
	start.Edit = edit
	if err := s.append(ctx, engineActor, &session.ToolStarted{Act: a.ID, Start: start}); err != nil {
		return err
	}
	e := *edit
	s.fly(a.ID, func(context.Context) landing {
		if err := s.eng.cfg.Files.Replace(e, content); err != nil {
			return s.editFailed(a.ID, e, err)
		}
		return editLanding(a.ID, p.call.Name, e, false)
	})
	return nil
}

// editFailed finds out what a failed change left. A file still as it was is an ordinary error; anything else the
// next look at the file decides.
func (s *toolCalls) editFailed(act string, e session.Edit, cause error) landing {
	now, _, err := s.eng.cfg.Files.Digest(e.Path)
	if err == nil && now == e.Pre || !errors.Is(cause, tools.ErrUnsettled) {
		return landing{actor: engineActor, bodies: []session.Body{
			&session.ToolFinished{Act: act, Outcome: session.OutcomeError, Content: tools.EditFailed(e, cause).Content},
		}}
	}
	return landing{actor: engineActor, bodies: []session.Body{
		&session.ToolUnknown{Act: act, Reason: cause.Error(), Content: unknownContent("the file could not be checked after a failed write")},
	}}
}

// editLanding is the outcome of a change that was made, now or before a crash: the words come from the intent.
func editLanding(act, name string, e session.Edit, collected bool) landing {
	use := session.FileModified
	if e.Pre.IsZero() {
		use = session.FileCreated
	}
	return landing{actor: store.Actor{Type: store.ActorTool, ID: name}, bodies: []session.Body{
		&session.FileSeen{File: session.File{Path: e.Path, Digest: e.Post, Mode: e.Mode, Size: e.Size, Use: use}},
		&session.ToolFinished{Act: act, Outcome: session.OutcomeOK, Collected: collected, Content: []model.Part{model.TextPart(e.Result)}},
	}}
}
