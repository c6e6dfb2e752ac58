package session_test

import (
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// move is one random thing that happens: mostly the engine's, at times a human's, the machine's or nobody's.
func (r *run) move() {
	if as := session.Next(r.st); len(as) > 0 && r.src.number(5) > 0 {
		r.step(as[r.src.number(len(as))])
		return
	}
	switch r.src.number(27) {
	case 20:
		r.append(human, &session.CompactRequested{Focus: "the end"})
	case 21:
		r.append(human, &session.HandoffRequested{Why: session.HandoffAsked})
	case 22:
		r.append(engine, given(r.src.number(3), r.src.number(3)))
	case 23, 24, 25, 26:
		r.wantFiles()
	case 0, 1:
		r.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart("and more")}})
	case 2:
		r.append(human, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("a note")}})
	case 3, 4, 5, 6:
		if ws := session.Waits(r.st); len(ws) > 0 {
			r.answer(ws[r.src.number(len(ws))], r.src.number(4) > 0)
		}
	case 7:
		if n := len(r.st.Queue); n > 0 && r.src.number(2) == 0 {
			r.append(human, &session.MessageWithdrawn{Seq: r.st.Queue[r.src.number(n)].Seq})
		} else {
			r.append(human, &session.CancelRequested{})
		}
	case 8:
		to := session.LifecycleOpen
		if n := r.src.number(4); n < 2 {
			to = []session.Lifecycle{session.LifecyclePaused, session.LifecycleClosed}[n]
		}
		r.append(human, &session.LifecycleSet{To: to})
	case 9:
		effect, tool := []string{"allow", "ask", "deny"}[r.src.number(3)], []string{"Bash", "Read", "Edit"}[r.src.number(3)]
		rule := session.Rule{Effect: effect, Text: tool}
		r.append(engine, &session.PermissionRules{Rules: []session.Rule{rule}, Digest: store.Sum([]byte(effect + tool))})
	case 10:
		mode, steps := []string{"default", "bypassPermissions"}[r.src.number(2)], r.src.number(4)
		r.append(human, &session.Configured{Mode: &mode, MaxSteps: &steps})
	case 11:
		r.append(human, &session.PermissionRevoked{Rule: "Bash"})
	case 12:
		if r.forks++; r.forks < 4 {
			r.fork()
		}
	case 13:
		r.append(engine, &session.TimerSet{ID: session.TimerID("t"), At: r.now + 5})
	case 14, 15:
		r.resume()
		if halt, why := r.st.Halt(); halt != "" && r.src.number(4) == 0 {
			r.append(engine, &session.TurnEnded{N: r.st.Turn.N, Stop: halt, Message: why})
		} else if r.st.Failure() != nil && r.st.Failure().Rests {
			r.append(human, &session.TimerFired{ID: session.WakeID(r.stopped())})
		}
	default:
		r.awaitSomething()
	}
}

// fork goes on in a child of here, or of a settled seq before.
func (r *run) fork() {
	seq := int64(len(r.events))
	if r.src.number(2) == 0 {
		base := session.New(r.id)
		if r.parent != nil {
			st, _ := r.parent.refold(r.forkSeq)
			base = session.Fork(st, r.id)
		}
		at := 1 + int64(r.src.number(len(r.events)))
		settled, err := session.SettledSeq(base, r.events, at)
		if err != nil {
			r.t.Fatal(err)
		}
		if st, _ := r.refold(settled); settled > at || !st.SettledNow() {
			r.t.Fatalf("%d is not the settled seq of %d", settled, at)
		}
		seq = settled
	}
	out := r.out.String()
	r.world = r.world.fork(fmt.Sprintf("%s%d", r.id, r.forks), seq)
	r.out.WriteString(out)
	r.resume()
}

// step lets the engine start or end an action.
func (r *run) step(a session.Action) {
	if r.flight[a.ID] {
		r.land(a)
		return
	}
	if _, err := r.action(a.ID); err != nil {
		return // it waits for others
	}
	if r.bookkeep(a) {
		return
	}
	switch d := a.Do.(type) {
	case session.CaptureFiles, session.RestoreFiles, session.FinishRestore:
		r.doFiles(a)
	case session.Wake:
		r.now = max(r.now, d.At)
		r.append(engine, &session.TimerFired{ID: a.ID})
	case session.Settle:
		r.settleAny(a, d)
	default:
		if err := r.start(a); err != nil {
			r.t.Fatalf("%s\n%s", err, r.out.String())
		}
	}
}

// land ends what is under way: normally, or as a cancel demands.
func (r *run) land(a session.Action) {
	switch d := a.Do.(type) {
	case session.Settle:
		r.settleAny(a, d)
	case session.CallModel:
		r.answerCall(a.ID)
	case session.Summarize:
		r.answerSummary(a.ID)
	case session.Execute:
		b := &session.ToolFinished{Act: a.ID, Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart("done")}}
		switch {
		case d.Call.Tool == "Bash" && r.src.number(3) == 0:
			b.Cwd = []string{"/w", "/w/sub"}[r.src.number(2)]
		case d.Call.Tool == "Bash" && r.src.number(3) == 0:
			v := "v"
			b.Env = []command.EnvDelta{{}, {"A": nil}, {"A": &v}}[r.src.number(3)]
		case d.Call.Tool == "Edit":
			r.file += "+"
		case r.src.number(4) == 0:
			b.Outcome = session.OutcomeError
		}
		r.result(b)
	default:
	}
}

func (r *run) settleAny(a session.Action, d session.Settle) {
	how := "lost"
	if d.Call != nil {
		how = []string{"void", "unknown", "finished", "asked"}[r.src.number(4)]
	}
	if how == "finished" {
		r.result(&session.ToolFinished{Act: a.ID, Outcome: session.OutcomeOK, Collected: true, Content: []model.Part{model.TextPart("collected")}})
		return
	}
	if err := r.settle(a.ID, how); err != nil {
		r.t.Fatal(err)
	}
}

// answerCall ends a model call in one of the ways that a provider has.
func (r *run) answerCall(id string) {
	text := session.SealedBlock{Type: model.BlockText, Text: true, Raw: []byte(`{"type":"text"}`), Shown: []byte("word")}
	u := model.Usage{Input: 10 + int64(r.src.number(1500)), Output: 5}
	n := r.src.number(10)
	if r.ended {
		n = 0
	}
	switch n {
	case 0:
		r.reply(id, modelapi.StopEndTurn, u, text)
	case 1:
		r.reply(id, modelapi.StopPause, u, text)
	case 2:
		r.reply(id, []modelapi.StopReason{modelapi.StopRefusal, modelapi.StopMaxTokens, modelapi.StopContext}[r.src.number(3)], u, text)
	case 3:
		delete(r.flight, id)
		b := &session.ModelFailed{Act: id, Model: "fake/m", Class: []string{"overloaded", "context"}[r.src.number(2)]}
		if b.Class != "context" && r.src.number(4) > 0 {
			b.RetryAt = r.now + 10
		}
		r.append(engine, b)
	case 4:
		r.reply(id, modelapi.StopEndTurn, model.Usage{}) // nothing at all, counted by nobody
	default:
		blocks := []session.SealedBlock{text}
		tools := []string{"Read", "Read", "Bash", "Edit", "Fetch", "Ask", "Gone"}
		for i := range 1 + r.src.number(12) {
			blocks = append(blocks, session.SealedBlock{
				Type: model.BlockToolUse, ID: fmt.Sprintf("u%d.%s", i, id), Name: tools[r.src.number(len(tools))],
				Raw: []byte("{}"), Input: fmt.Appendf(nil, `{"n":%d}`, i),
			})
		}
		r.reply(id, modelapi.StopToolUse, u, slices.Clip(blocks)...)
	}
}

// answer is a human's say on what waits.
func (r *run) answer(w session.Wait, allow bool) {
	if w.Kind == "question" {
		r.append(human, &session.QuestionAnswered{Act: w.Call.ID, Text: "yes"})
		return
	}
	b := &session.ApprovalAnswered{Act: w.Call.ID, Allow: allow, Bound: w.Call.Approval.Bound, Pre: w.Call.Approval.Pre}
	if allow && r.src.number(4) == 0 {
		b.Grant = w.Call.Tool
	}
	r.append(human, b)
}

// answerSummary ends a call for a summary in one of the ways that a provider has.
func (r *run) answerSummary(id string) {
	text := session.SealedBlock{Type: model.BlockText, Text: true, Raw: []byte(`{"type":"text"}`), Shown: []byte("a summary")}
	u := model.Usage{Input: 10, Output: 5}
	n := r.src.number(8)
	if r.ended {
		n = 7
	}
	switch n {
	case 0:
		r.reply(id, []modelapi.StopReason{modelapi.StopRefusal, modelapi.StopMaxTokens, modelapi.StopContext}[r.src.number(3)], u, text)
	case 1:
		r.reply(id, modelapi.StopEndTurn, u)
	case 2, 3:
		delete(r.flight, id)
		b := &session.ModelFailed{Act: id, Model: "fake/m", Class: []string{"overloaded", "context", "invalid", "auth"}[r.src.number(4)]}
		if b.Class == "overloaded" {
			b.RetryAt = r.now + 10
		}
		r.append(engine, b)
	default:
		r.reply(id, modelapi.StopEndTurn, u, text)
	}
}
