package session_test

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// eventLine is one event for golden files: what matters for the interaction, no digests.
func eventLine(e store.Event, body session.Body) string {
	s := fmt.Sprintf("%d %s", e.Seq, e.Kind)
	field := func(name string, v any) {
		if t := fmt.Sprint(v); t != "" && t != "0" && t != "false" {
			s += " " + name + "=" + t
		}
	}
	switch b := body.(type) {
	case *session.Resumed:
		field("epoch", b.Epoch)
	case *session.Forked:
		field("parent", fmt.Sprint(b.Parent.Session, "@", b.Parent.Seq))
	case *session.LifecycleSet:
		field("to", b.To)
	case *session.MessageReceived:
		field("note", b.Note)
		s += fmt.Sprintf(" %q", model.Text(b.Content))
	case *session.TurnStarted:
		field("turn", b.N)
		field("met", b.Met)
	case *session.TurnEnded:
		field("turn", b.N)
		field("stop", b.Stop)
	case *session.CompactRequested:
		s += fmt.Sprintf(" %q", b.Focus)
	case *session.Compacted:
		s += fmt.Sprintf(" %d by %s, level %d, %s", b.N, b.By, b.Level, b.Reason)
	case *session.ModelRequested:
		s += " " + b.Act
		field("purpose", b.Purpose)
		field("rung", b.Rung)
		field("through", b.Through)
		field("epoch", b.Epoch)
	case *session.ModelResponded:
		s += " " + b.Act
		field("stop", b.Stop)
	case *session.ModelFailed:
		s += " " + b.Act
		field("class", b.Class)
		field("retry_at", b.RetryAt)
	case *session.ModelLost:
		s += " " + b.Act
		field("lost", b.Lost)
	case *session.TimerFired:
		field("id", b.ID)
	default:
		s += toolLine(body) + awaitLine(body)
	}
	return s
}

func toolLine(body session.Body) string {
	switch b := body.(type) {
	case *session.ToolDecided:
		verdict := map[bool]string{true: " allow", false: " deny"}[b.Decision.Allow]
		if b.Decision.Human {
			verdict += " by approval"
		}
		return " " + b.Act + verdict
	case *session.ToolStarted:
		return fmt.Sprintf(" %s epoch=%d", b.Act, b.Start.Epoch)
	case *session.ToolFinished:
		return fmt.Sprintf(" %s %s %q", b.Act, b.Outcome, model.Text(b.Content))
	case *session.ToolVoid:
		return " " + b.Act
	case *session.ToolUnknown:
		return fmt.Sprintf(" %s %q", b.Act, model.Text(b.Content))
	case *session.ApprovalRequested:
		return " " + b.Act
	case *session.ApprovalAnswered:
		return fmt.Sprintf(" %s allow=%t", b.Act, b.Allow)
	case *session.QuestionAsked:
		return fmt.Sprintf(" %s %q", b.Act, b.Question.Question)
	case *session.QuestionAnswered:
		return fmt.Sprintf(" %s %q", b.Act, b.Text)
	default:
	}
	return ""
}

// actionLines shows Next.
func actionLines(as []session.Action) string {
	var out strings.Builder
	for _, a := range as {
		fmt.Fprintf(&out, "%s: ", a.ID)
		switch d := a.Do.(type) {
		case session.StartTurn:
			fmt.Fprintf(&out, "start turn %d", a.Turn)
		case session.EndTurn:
			fmt.Fprintf(&out, "end turn %d, %s", a.Turn, d.Stop)
		case session.CallModel:
			fmt.Fprintf(&out, "call model")
			if d.Through > 0 {
				fmt.Fprintf(&out, " with what was sent, through %d", d.Through)
			}
		case session.Decide:
			fmt.Fprintf(&out, "decide %s", d.Call.Tool)
		case session.Execute:
			fmt.Fprintf(&out, "execute %s", d.Call.Tool)
		case session.Conclude:
			fmt.Fprintf(&out, "conclude as %s", d.Outcome)
		case session.Summarize:
			fmt.Fprintf(&out, "summarize, rung %d, %s", d.Rung, d.Reason)
		case session.Compact:
			fmt.Fprintf(&out, "compact, level %d, %s", d.Level, d.Reason)
		case session.Settle:
			fmt.Fprintf(&out, "settle")
			if d.Cancel {
				fmt.Fprintf(&out, " (cancel)")
			}
		case session.CaptureFiles:
			fmt.Fprintf(&out, "capture %s", d.Ask.Name)
		case session.RestoreFiles:
			fmt.Fprintf(&out, "restore to %s", d.Restore.To)
		case session.FinishRestore:
			fmt.Fprintf(&out, "finish the restore to %s", d.Restore.To)
		case session.Wake:
			fmt.Fprintf(&out, "wake at %d", d.At)
		case session.MeetAwait:
			fmt.Fprintf(&out, "meet")
		case session.DropAwait:
			fmt.Fprintf(&out, "drop: %s", d.Reason)
		default:
			fmt.Fprintf(&out, "%T", d)
		}
		if len(a.After) > 0 {
			fmt.Fprintf(&out, ", after %s", strings.Join(a.After, " "))
		}
		out.WriteByte('\n')
	}
	if len(as) == 0 {
		return "nothing\n"
	}
	return out.String()
}

// stateLines shows the part of the state that decides what comes next.
func stateLines(s *session.State) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s, %s, epoch %d, mode %s\n", session.ActivityOf(s), s.Lifecycle, s.Epoch, s.Config.Mode)
	if stop, why := s.Halt(); stop != "" {
		fmt.Fprintf(&out, "halted: %s (%s)\n", stop, why)
	}
	if f := s.Failure(); f != nil {
		fmt.Fprintf(&out, "failing: %s since %d, %d times, rests=%t\n", f.Class, f.Since, f.Tries, f.Rests)
	}
	if t := s.Turn; t != nil {
		fmt.Fprintf(&out, "turn %d, step %d", t.N, t.Step)
		if t.Model != nil {
			fmt.Fprintf(&out, ", call %s %s", t.Model.ID, t.Model.Status)
		}
		out.WriteByte('\n')
		for _, c := range t.Calls {
			fmt.Fprintf(&out, "  %s %s %s", c.ID, c.Tool, c.State)
			if c.Outcome != "" {
				fmt.Fprintf(&out, " %s", c.Outcome)
			}
			if c.Approval != nil {
				fmt.Fprintf(&out, ", approval answered=%t allow=%t spent=%t", c.Approval.Answered, c.Approval.Allow, c.Approval.Spent)
			}
			out.WriteByte('\n')
		}
	}
	if l := s.LastTurn; l != nil {
		fmt.Fprintf(&out, "last turn %d: %s, %d steps\n", l.N, l.Stop, l.Steps)
	}
	u := s.Total()
	fmt.Fprintf(&out, "usage in %d out %d lost %d, spent %d\n", u.Input, u.Output, u.LostInput, s.Spent)
	for _, g := range s.Permissions.Grants {
		fmt.Fprintf(&out, "grant %s (%s)\n", g.Rule, g.Scope)
	}
	if n := len(s.Queue); n > 0 {
		fmt.Fprintf(&out, "%d queued\n", n)
	}
	for _, a := range s.Awaits {
		fmt.Fprintf(&out, "awaits %s: %s %s\n", a.ID, a.Event, a.Task)
	}
	if n := s.Untold.Count; n > 0 {
		fmt.Fprintf(&out, "%d met and not told\n", n)
	}
	return out.String()
}

// messageLines shows a conversation.
func messageLines(ms []model.Message) string {
	var out strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&out, "%s:", m.Role)
		for _, b := range m.Blocks {
			switch {
			case b.Tool != nil:
				fmt.Fprintf(&out, " call(%s %s %s)", b.Tool.ID, b.Tool.Name, b.Tool.Input)
			case b.Result != nil:
				mark := map[bool]string{true: " ERROR", false: ""}[b.Result.IsError]
				fmt.Fprintf(&out, " result(%s%s %q)", b.Result.ID, mark, model.Text(b.Result.Content))
			default:
				fmt.Fprintf(&out, " %q", b.Text)
			}
		}
		out.WriteByte('\n')
	}
	if len(ms) == 0 {
		return "empty\n"
	}
	return out.String()
}
