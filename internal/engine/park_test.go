package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// A run that was parked can be run again under the same lease: what it had started is settled, never started twice.
func TestParkedRunGoesOnInTheSameLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopToolUse, use("a", "Out", `{}`)), reply(modelapi.StopEndTurn, text("done")))
		count := 0
		began, block := blocker()
		s.tools = append(s.tools, newOutside("Out", false, &count, block))
		_, se := s.start("go")
		if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Out", Scope: "session"}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- se.Run(ctx) }()
		<-began
		stop()
		if err := <-over; !errors.Is(err, engine.ErrParked) {
			t.Fatalf("run: %v", err)
		}
		st := run(t, se)
		if count != 1 || st.LastTurn == nil {
			t.Errorf("the act happened %d times, turn %+v", count, st.Turn)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Errorf("second close: %v", err)
		}
	})
}

// The same for a model call: it is counted as lost, and the same request goes again.
func TestParkedModelCallGoesOnInTheSameLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		began := make(chan struct{}, 1)
		s.answer = func(ctx context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if strings.HasSuffix(r.Act, ".a1") {
				began <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return reply(modelapi.StopEndTurn, text("ok")), nil
		}
		_, se := s.start("go")
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- se.Run(ctx) }()
		<-began
		stop()
		<-over
		if st := run(t, se); st.Usage[0].Lost != 1 || st.Usage[0].Calls != 1 {
			t.Errorf("usage %+v", st.Usage)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// A run whose context has ended already parks: what waits in the inbox was not looked at, so it is not done.
func TestRunOfAnEndedContextParks(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("ok")))
	_, se := s.start("go")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := se.Run(ctx); !errors.Is(err, engine.ErrParked) {
		t.Errorf("run: %v", err)
	}
	if st := run(t, se); st.LastTurn == nil {
		t.Error("the prompt did not run")
	}
}

// What an act outside reported is told to the model, although the user cancelled meanwhile; if it reported nothing, its
// outcome is unknown.
func TestCancelledActOutside(t *testing.T) {
	for _, reports := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, reply(modelapi.StopToolUse, use("a", "Out", `{}`)), reply(modelapi.StopEndTurn, text("done")))
			count := 0
			began := make(chan struct{}, 1)
			s.tools = append(s.tools, newOutside("Out", false, &count, func(ctx context.Context) (tools.Result, error) {
				began <- struct{}{}
				<-ctx.Done()
				if reports {
					return tools.Result{Content: []model.Part{model.TextPart("sent")}}, nil
				}
				return tools.Result{}, ctx.Err()
			}))
			p, se := s.start("go")
			if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Out", Scope: "session"}); err != nil {
				t.Fatal(err)
			}
			go func() {
				<-began
				p.send("c", &session.CancelRequested{})
			}()
			st := run(t, se)
			act := st.Settled[len(st.Settled)-1]
			if want := map[bool]session.Outcome{true: session.OutcomeOK, false: session.OutcomeUnknown}[reports]; act.Outcome != want || st.LastTurn.Stop != session.TurnCancelled {
				t.Errorf("reports %v: outcome %s, turn %s", reports, act.Outcome, st.LastTurn.Stop)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A session without events is somebody else's: it is refused by name, and never taken for one to be created.
func TestSessionWithoutEvents(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("ok")))
	p := s.process()
	if err := p.store.Create(t.Context(), store.NewSession{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Open(t.Context(), "s", engine.Options{}); !errors.Is(err, engine.ErrNoEvents) {
		t.Errorf("open: %v", err)
	}
	if _, _, err := p.Fork(t.Context(), "s", 0, "child", ""); !errors.Is(err, engine.ErrNoEvents) {
		t.Errorf("fork: %v", err)
	}
	if _, err := p.Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage"}}); !errors.Is(err, store.ErrExists) {
		t.Errorf("create: %v", err)
	}
}

// A fork at a seq finds the settled one before it, although the newest snapshot was taken in the middle of an act.
func TestForkBeforeAnUnsettledSnapshot(t *testing.T) {
	s := newStage(t, reply(modelapi.StopToolUse, use("a", "AskUser", `{"question":"?"}`)), reply(modelapi.StopEndTurn, text("done")))
	p, se := s.start("go")
	run(t, se)
	settled := se.State().Head.Seq
	err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.QuestionAnswered{Act: "t1.s1.b1.a1", Text: "!"})
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	s.answer = func(ctx context.Context, _ int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	stop, over := background(t, se)
	<-began
	info, err := p.store.Get(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	st, err := p.Load(t.Context(), "s")
	if err != nil || st.SettledNow() {
		t.Fatalf("the head is settled: %v", err)
	}
	state, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.store.SaveSnapshot(t.Context(), "s", store.Snapshot{Seq: st.Head.Seq, Hash: st.Head.Hash, FoldVersion: session.FoldVersion, State: state}); err != nil {
		t.Fatal(err)
	}
	_, at, err := p.Fork(t.Context(), "s", info.Head.Seq, "child", "")
	if err != nil || at < settled || at >= info.Head.Seq {
		t.Errorf("forked at %d of %d: %v", at, info.Head.Seq, err)
	}
	die(p, stop, over)
}

// A retry sends what was sent before, the bound of the reply too, although the window has less room by now.
func TestRetryKeepsItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.spec = func(sp *engine.Spec) { sp.Agent.Window, sp.Agent.MaxTokens = 9000, 8000 }
		var p process
		s.answer = func(_ context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if strings.HasSuffix(r.Act, ".a1") {
				note := strings.Repeat("news ", 600)
				p.send("note", &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(note)}})
				return nil, &modelapi.Error{Class: modelapi.ClassServer, Status: 500}
			}
			return reply(modelapi.StopEndTurn, text("ok")), nil
		}
		var se *engine.Session
		p, se = s.start("go")
		run(t, se)
		if len(s.requests) != 2 || s.requests[0].MaxTokens != s.requests[1].MaxTokens || render(s.requests[0].Messages) != render(s.requests[1].Messages) {
			t.Errorf("the retry differs: %d and %d tokens", s.requests[0].MaxTokens, s.requests[len(s.requests)-1].MaxTokens)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// A clock that is set back while a retry waits does not hold it for hours.
func TestClockSetBackDoesNotHoldARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		var back atomic.Int64
		s.config = func(c *engine.Config) {
			c.Now = func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		}
		s.answer = func(_ context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if strings.HasSuffix(r.Act, ".a1") {
				return nil, &modelapi.Error{Class: modelapi.ClassServer, Status: 500}
			}
			return reply(modelapi.StopEndTurn, text("ok")), nil
		}
		_, se := s.start("go")
		began := time.Now()
		time.AfterFunc(100*time.Millisecond, func() { back.Store(int64(24 * time.Hour)) })
		run(t, se)
		if waited := time.Since(began); waited > time.Minute {
			t.Errorf("waited %v", waited)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// Nothing that stands in the inbox becomes a fault, and each item becomes one event.
func TestInboxNeverFaults(t *testing.T) {
	s := newStage(t, reply(modelapi.StopToolUse, use("a", "AskUser", `{"question":"?"}`), use("b", "Write", `{"file_path":"/x","content":"c"}`)))
	p, se := s.start("go")
	run(t, se)
	approval := se.State().Call("t1.s1.b2.a1").Approval
	wrong := store.Sum([]byte("wrong"))
	labels := map[string]string{}
	for i := range 300 {
		labels[fmt.Sprint(i)] = "x"
	}
	bodies := []session.Body{
		&session.ApprovalAnswered{Act: "t1.s1.b2.a1", Allow: true, Bound: approval.Bound, Pre: wrong},
		&session.ApprovalAnswered{Act: "t1.s1.b2.a1", Allow: true, Bound: wrong},
		&session.ApprovalAnswered{Act: "t1.s1.b2.a1", Allow: true, Bound: approval.Bound, Grant: "Bash(("},
		&session.ApprovalAnswered{Act: "t1.s1.b1.a1", Allow: true, Bound: approval.Bound},
		&session.ApprovalAnswered{Act: "nonsense"},
		&session.QuestionAnswered{Act: "t1.s1.b2.a1"}, &session.QuestionAnswered{Act: "t9.s9.b9.a9"},
		&session.CancelRequested{Turn: 7}, &session.TaskSignalled{Task: "bash_9"}, &session.Labelled{Labels: labels},
		&session.LifecycleSet{To: "asleep"}, &session.PermissionGranted{Rule: ")("}, &session.StateSet{Key: "k", Value: make([]byte, 2<<20)},
		&session.MessageReceived{Content: []model.Part{{Type: "video"}}}, &session.TurnEnded{N: 1}, &session.Resumed{Epoch: 99},
		&session.TimerSet{ID: "odd"}, &session.ToolFinished{Act: "t1.s1.b1.a1"},
	}
	before := se.State().Head.Seq
	for i, b := range bodies {
		p.send(fmt.Sprint("bad", i), b)
	}
	p.send("good", &session.QuestionAnswered{Act: "t1.s1.b1.a1", Text: "yes"})
	if err := se.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused, others := 0, 0
	for ev, err := range p.store.Read(t.Context(), "s", before+1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == session.KindInboxRefused {
			refused++
		} else {
			others++
		}
	}
	if refused != len(bodies) || others != 1 || len(se.State().Faults) > 0 {
		t.Errorf("%d refused, %d others, faults %q", refused, others, se.State().Faults)
	}
}

// A tool that is gone does not hold its session up: what it had started is unknown.
func TestToolThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopToolUse, use("a", "Out", `{}`)), reply(modelapi.StopEndTurn, text("done")))
		began, block := blocker()
		s.tools = append(s.tools, newOutside("Out", false, new(int), block))
		p, se := s.start("go")
		if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Out", Scope: "session"}); err != nil {
			t.Fatal(err)
		}
		stop, over := background(t, se)
		<-began
		die(p, stop, over)
		s.tools = tools.Builtin()
		se = s.process().open(engine.Options{})
		st := run(t, se)
		if st.LastTurn == nil || st.Settled[0].Outcome != session.OutcomeUnknown {
			t.Errorf("turn %+v, settled %+v", st.Turn, st.Settled)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// Several deltas and events at once reach an observer one at a time.
func TestObserverIsCalledOneAtATime(t *testing.T) {
	s := newStage(t)
	s.answer = func(_ context.Context, _ int, _ modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		for range 50 {
			sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: "x"})
		}
		return reply(modelapi.StopEndTurn, text("ok")), nil
	}
	seen := 0 // guarded by nothing: the race detector tells
	s.config = func(c *engine.Config) { c.Observe = func(engine.Update) { seen++ } }
	p, se := s.start("go")
	go func() {
		p.send("fact", &session.FactAdded{Fact: session.Fact{Kind: "fact", Text: "f", Provenance: "user"}})
	}()
	run(t, se)
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if seen < 55 {
		t.Errorf("%d updates", seen)
	}
}
