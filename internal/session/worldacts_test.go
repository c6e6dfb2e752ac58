package session_test

import (
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// effects are the tools of this world.
var effects = map[string]session.Effect{
	"Read": session.EffectRead, "Bash": session.EffectProcess, "Edit": session.EffectEdit,
	"Fetch": session.EffectExternal, "Ask": session.EffectQuestion,
}

// action finds an action that may start: nothing that it waits for is outstanding, and it is not under way.
func (w *world) action(id string) (session.Action, error) {
	as := session.Next(w.st)
	i := slices.IndexFunc(as, func(a session.Action) bool { return a.ID == id })
	switch {
	case i < 0:
		return session.Action{}, fmt.Errorf("%s is not in Next", id)
	case w.flight[id]:
		return session.Action{}, fmt.Errorf("%s is under way", id)
	case len(as[i].After) > 0:
		return session.Action{}, fmt.Errorf("%s waits for %v", id, as[i].After)
	}
	return as[i], nil
}

// bookkeep does an action that has no effect outside the log, and reports whether it was one.
func (w *world) bookkeep(a session.Action) bool {
	switch d := a.Do.(type) {
	case session.StartTurn:
		w.append(engine, &session.TurnStarted{N: a.Turn, Message: d.Message, Met: d.Met})
	case session.EndTurn:
		w.append(engine, &session.TurnEnded{N: a.Turn, Stop: d.Stop, Message: d.Message})
	case session.Conclude:
		w.append(engine, &session.ToolFinished{Act: a.ID, Outcome: d.Outcome, Content: []model.Part{model.TextPart(d.Text)}})
	case session.Decide:
		w.append(engine, w.decide(d.Call))
	case session.WriteHandoff:
		w.writeHandoff(d)
	case session.Compact:
		w.compact(d)
	case session.MeetAwait:
		w.append(engine, w.met(*d.Await))
	case session.DropAwait:
		w.append(engine, w.dropped(*d.Await, d.Reason))
	default:
		return false
	}
	return true
}

// decide is a small permission engine: deny beats an approval and a grant, those beat ask, and reads are allowed.
func (w *world) decide(c *session.Call) session.Body {
	effect := effects[c.Tool]
	bound, pre := w.st.Binding(c), store.Digest{}
	switch effect {
	case "":
		return &session.ToolFinished{
			Act: c.ID, Outcome: session.OutcomeError, Content: []model.Part{model.TextPart("no such tool")},
		}
	case session.EffectQuestion:
		return &session.QuestionAsked{Act: c.ID, Question: session.Question{Question: string(c.Input)}}
	case session.EffectEdit:
		pre = store.Sum([]byte(w.file))
	}
	has := func(effect string) bool {
		return slices.ContainsFunc(w.st.Permissions.Rules, func(r session.Rule) bool {
			return r.Effect == effect && r.Text == c.Tool
		})
	}
	granted := slices.ContainsFunc(w.st.Permissions.Grants, func(g session.Grant) bool { return g.Rule == c.Tool })
	d := session.Decision{Allow: true, Bound: bound, Pre: pre, Epoch: w.st.Epoch}
	switch {
	case has("deny"):
		d.Allow, d.Rule, d.Reason = false, c.Tool, "a rule denies "+c.Tool
	case c.Approval.Covers(d):
		d.Human = true
	case w.st.Config.Mode == "bypassPermissions" || granted || has("allow"):
	case has("ask") || effect != session.EffectRead:
		return &session.ApprovalRequested{Act: c.ID, Effect: effect, Bound: bound, Pre: pre, Cwd: w.st.Cwd}
	}
	return &session.ToolDecided{Act: c.ID, Effect: effect, Decision: d}
}

// start appends the intent of an act. Sending another request than before under the same act is an error.
func (w *world) start(a session.Action) error {
	w.flight[a.ID] = true
	switch d := a.Do.(type) {
	case session.Summarize:
		return w.summarize(a, d)
	case session.CallModel:
		if w.hurried {
			w.append(engine, &session.ModelRequested{
				Act: a.ID, Turn: a.Turn, Step: d.Step, Attempt: d.Attempt, Epoch: w.st.Epoch, Model: "fake/m",
				Through: w.st.Head.Seq, Prefix: store.Sum([]byte(a.ID)), MaxTokens: 1000, Estimate: w.st.Estimate(),
			})
			return nil
		}
		through, messages := d.Through, w.tr.Messages()
		if through == 0 {
			through, messages = w.st.Head.Seq, w.tr.Upcoming()
		}
		if err := pairing(messages); err != nil {
			return err
		}
		prefix := store.Sum([]byte(asJSON(messages)))
		base := fmt.Sprint(session.BaseOf(a.ID), "@", w.id)
		if was, again := w.requests[base]; again && d.Through != 0 && was != prefix {
			return fmt.Errorf("%s sends another request than the attempt before it", a.ID)
		}
		w.requests[base] = prefix
		w.append(engine, &session.ModelRequested{
			Act: a.ID, Turn: a.Turn, Step: d.Step, Attempt: d.Attempt, Epoch: w.st.Epoch, Model: "fake/m",
			Through: through, Prefix: prefix, MaxTokens: 1000, Estimate: w.st.Estimate(),
		})
		if got := store.Sum([]byte(asJSON(w.tr.Messages()))); got != prefix {
			return fmt.Errorf("%s: the log says that another request was sent", a.ID)
		}
	case session.Execute:
		s := session.Start{Epoch: w.st.Epoch, BootID: "boot", Time: w.now}
		if d.Call.Effect == session.EffectEdit {
			pre := store.Sum([]byte(w.file))
			if d.Call.Decision.Pre != pre { // only the world knows that: decided again, for what the file is now
				delete(w.flight, a.ID)
				w.append(engine, w.decide(d.Call))
				return nil
			}
			s.Edit = &session.Edit{Path: "/w/f", Pre: pre, Post: store.Sum([]byte("two"))}
		}
		w.append(engine, &session.ToolStarted{Act: a.ID, Start: s})
	default:
		return fmt.Errorf("%s is not started, it is done", a.ID)
	}
	return nil
}

// reply seals a model call.
func (w *world) reply(act string, stop modelapi.StopReason, u model.Usage, blocks ...session.SealedBlock) {
	delete(w.flight, act)
	w.append(robot, &session.ModelResponded{
		Act: act, Model: "fake/m", Provider: "fake", Stop: stop, Usage: u, Cost: meter.Cost(w.st.Agent.Price, u), Blocks: blocks,
	})
}

// result is the outcome of a tool call.
func (w *world) result(b *session.ToolFinished) {
	delete(w.flight, b.Act)
	w.append(store.Actor{Type: store.ActorTool}, b)
}

// settle closes an interrupted or cancelled act as void, unknown or lost.
func (w *world) settle(id, how string) error {
	delete(w.flight, id)
	a, err := w.action(id)
	if err != nil {
		return err
	}
	if _, ok := a.Do.(session.Settle); !ok {
		return fmt.Errorf("%s is not to be settled", id)
	}
	switch how {
	case "void":
		w.append(engine, &session.ToolVoid{Act: id, Reason: "no effect"})
	case "unknown":
		w.append(engine, &session.ToolUnknown{Act: id, Reason: "crash", Content: []model.Part{model.TextPart("Outcome unknown.")}})
	case "asked":
		unknown := &session.ToolUnknown{Act: id, Reason: "crash", Content: []model.Part{model.TextPart("Outcome unknown.")}}
		if c := w.st.Call(id); c != nil {
			unknown.Asks, unknown.Before = session.LostQuestion(c), store.Sum([]byte("before"))
		}
		w.append(engine, unknown)
	case "lost":
		w.append(engine, &session.ModelLost{Act: id, Model: "fake/m", Reason: "crash", Lost: w.st.ModelCall(id).Estimate})
	default:
		return fmt.Errorf("settle %s as %q", id, how)
	}
	return nil
}
