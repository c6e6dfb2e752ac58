package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// failing makes the stage's model fail as it is told to, until it is told nil.
func (s *stage) failing(fail func(try int) error) {
	answer, tries := s.answer, 0
	s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		if err := fail(tries); err != nil {
			tries++
			return nil, err
		}
		return answer(ctx, n, r, sink)
	}
}

// resume opens the session again, as a person does who resumes it.
func (p process) resume(se *engine.Session, opt engine.Options) *engine.Session {
	p.t.Helper()
	if err := se.Close(p.t.Context(), ""); err != nil {
		p.t.Fatal(err)
	}
	se = p.open(opt)
	if !opt.NewPrompt {
		if err := se.Resume(p.t.Context(), store.Actor{}); err != nil {
			p.t.Fatal(err)
		}
	}
	return se
}

// Goal: whatever the API says, the turn stays open with its reason; each resume tries once more, sends what was sent,
// and the turn ends as if nothing had been.
func TestFailedTurnStaysOpen(t *testing.T) {
	for _, fault := range []*modelapi.Error{
		{Class: modelapi.ClassAuth, Status: 401, Message: "invalid x-api-key"},
		{Class: modelapi.ClassAuth, Status: 403, Message: "not for you"},
		{Class: modelapi.ClassNotFound, Status: 404, Message: "no such model"},
		{Class: modelapi.ClassInvalid, Status: 400, Message: "bad"},
		{Class: modelapi.ClassContext, Status: 400, Message: "prompt is too long"},
		{Class: modelapi.ClassRateLimit, Status: 429, Message: "slow down"},
		{Class: modelapi.ClassServer, Status: 529, Message: "overloaded"},
		{Class: modelapi.ClassUnreached, Message: "connection refused"},
	} {
		t.Run(fmt.Sprint(fault.Class, fault.Status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, reply(modelapi.StopEndTurn, text("at last")), reply(modelapi.StopEndTurn, text("and more")))
				s.config = func(c *engine.Config) { c.RetryFor, c.Poll = time.Hour, time.Hour }
				broken := true
				s.failing(func(int) error {
					if broken {
						return fault
					}
					return nil
				})
				p, se := s.start("the question")
				p.say("the next one")
				for range 3 {
					st := run(t, se)
					f := st.Failure()
					if f == nil || !f.Rests || f.Class != string(fault.Class) || f.Status != fault.Status || f.Message != fault.Message || f.Since == 0 {
						t.Fatalf("failure %+v", f)
					}
					if st.Turn == nil || st.Turn.N != 1 || len(st.Queue) != 1 || st.LastTurn != nil {
						t.Fatalf("turn %+v, %d queued", st.Turn, len(st.Queue))
					}
					asked := len(s.requests)
					if run(t, se); len(s.requests) != asked {
						t.Fatal("it was tried again although nobody asked for it")
					}
					se = p.resume(se, engine.Options{})
				}
				broken = false
				st := run(t, se)
				if st.Turns != 2 || st.LastTurn.Stop != session.TurnEndTurn || st.Failure() != nil {
					t.Errorf("turn %+v", st.LastTurn)
				}
				first := render(s.requests[0].Messages)
				for _, r := range s.requests[1 : len(s.requests)-1] {
					if got := render(r.Messages); got != first {
						t.Errorf("a retry sent %s, before it was %s", got, first)
					}
				}
				if got := render(s.last().Messages); strings.Count(got, "the question") != 1 {
					t.Errorf("sent at last: %s", got)
				}
			})
		})
	}
}

// A new prompt gives a failed turn up: its question stays in the conversation, and the prompt joins it.
func TestNewPromptGivesAFailedTurnUp(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("ok")))
	s.failing(func(try int) error {
		if try == 0 {
			return &modelapi.Error{Class: modelapi.ClassAuth, Status: 401, Message: "invalid x-api-key"}
		}
		return nil
	})
	p, se := s.start("one")
	run(t, se)
	p.say("two")
	se = p.resume(se, engine.Options{NewPrompt: true})
	st := run(t, se)
	if st.LastTurn == nil || st.LastTurn.N != 2 || st.LastTurn.Stop != session.TurnEndTurn {
		t.Fatalf("turn %+v", st.LastTurn)
	}
	if got := s.last().Messages; len(got) != 1 || len(got[0].Blocks) != 2 {
		t.Errorf("sent %s", render(got))
	}
}

var refused = &modelapi.Error{Class: modelapi.ClassUnreached, Message: "connection refused"}

// An outage of half a day is waited for, with pauses that grow to a minute.
func TestOutageIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopEndTurn, text("back")))
		s.config = func(c *engine.Config) { c.Jitter, c.Poll = func() float64 { return 0.999 }, time.Hour }
		start := time.Now()
		longest, last := time.Duration(0), start
		s.failing(func(int) error {
			longest, last = max(longest, time.Since(last)), time.Now()
			if time.Since(start) < 12*time.Hour {
				return refused
			}
			return nil
		})
		_, se := s.start("go")
		if st := run(t, se); st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
			t.Fatalf("turn %+v", st.Turn)
		}
		if longest > time.Minute || len(s.requests) > 1000 {
			t.Errorf("the longest pause was %s, %d attempts", longest, len(s.requests))
		}
	})
}

// Goal: the patience counts from the first failure in a row, ends with an attempt, is kept over a resume, and begins
// anew with it.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.failing(func(int) error { return refused })
		p, se := s.start("go")
		ten := 10 * time.Second
		se = p.resume(se, engine.Options{RetryFor: &ten})
		for range 2 {
			start, before := time.Now(), len(s.requests)
			if st := run(t, se); !st.Failure().Rests {
				t.Fatalf("failure %+v", st.Failure())
			}
			if took, n := time.Since(start), len(s.requests)-before; took != ten || n != 6 { // at 0, 0.5, 1.5, 3.5, 7.5 and 10 s
				t.Errorf("it was tried %d times in %s", n, took)
			}
			se = p.resume(se, engine.Options{})
		}
		none := time.Duration(0)
		se = p.resume(se, engine.Options{RetryFor: &none})
		before := len(s.requests)
		run(t, se)
		if n := len(s.requests) - before; n != 1 {
			t.Errorf("with no patience it was tried %d times", n)
		}
	})
}

// What the API asks for is waited for, if the patience lasts so long.
func TestRetryAfterIsRespected(t *testing.T) {
	for _, asked := range []time.Duration{20 * time.Minute, 3 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, reply(modelapi.StopEndTurn, text("ok")))
			s.config = func(c *engine.Config) { c.RetryFor = 30 * time.Minute }
			s.failing(func(try int) error {
				if try == 0 {
					return &modelapi.Error{Class: modelapi.ClassRateLimit, Status: 429, Message: "later", RetryAfter: asked}
				}
				return nil
			})
			start := time.Now()
			_, se := s.start("go")
			st := run(t, se)
			took := time.Since(start)
			switch {
			case asked > time.Hour && (!st.Failure().Rests || took != 0):
				t.Errorf("failure %+v after %s", st.Failure(), took)
			case asked < time.Hour && (st.LastTurn == nil || took != asked):
				t.Errorf("it took %s, turn %+v", took, st.Turn)
			}
		})
	}
}

// Attempts that cost tokens, or are not understood, are bounded by their number.
func TestBrokenRepliesAreBounded(t *testing.T) {
	for _, fault := range []error{
		&modelapi.Error{Class: modelapi.ClassDisconnect, Started: true, Message: "cut"},
		errors.New("a provider of somebody's own that is set up wrong"),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			s.failing(func(int) error { return fault })
			_, se := s.start("go")
			if st := run(t, se); !st.Failure().Rests || len(s.requests) != 8 {
				t.Errorf("failure %+v after %d attempts", st.Failure(), len(s.requests))
			}
		})
	}
}

// A run that is resumed with another model does not wait for the pause of the one before it.
func TestAnotherModelIsTriedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopEndTurn, text("ok")))
		s.failing(func(try int) error {
			if try == 0 {
				return &modelapi.Error{Class: modelapi.ClassRateLimit, Status: 429, Message: "later", RetryAfter: time.Hour}
			}
			return nil
		})
		p, se := s.start("go")
		stop, over := background(t, se)
		synctest.Wait()
		stop()
		<-over
		start := time.Now()
		se = p.open(engine.Options{Agent: &session.Agent{Provider: "stage", Model: "other", MaxTokens: 1000}})
		if err := se.Resume(t.Context(), store.Actor{}); err != nil {
			t.Fatal(err)
		}
		if st := run(t, se); st.LastTurn == nil || time.Since(start) != 0 {
			t.Errorf("turn %+v after %s", st.Turn, time.Since(start))
		}
	})
}

// The limit of steps is kept over a resume, and counts anew for whoever resumes.
func TestStepLimitSurvivesAResume(t *testing.T) {
	s := newStage(t)
	s.answer = func(context.Context, int, modelapi.Request, func(modelapi.Delta)) (*modelapi.Response, error) {
		return reply(modelapi.StopToolUse, use("a", "TodoWrite", `{"todos":[]}`)), nil
	}
	p, se := s.start("go")
	two := 2
	se = p.resume(se, engine.Options{MaxSteps: &two})
	for i := range 3 {
		st := run(t, se)
		if halt, _ := st.Halt(); halt != session.TurnMaxSteps || st.Turn.Step != 2*(i+1) || st.Config.MaxSteps != 2 {
			t.Fatalf("halt %q at step %d, limit %d", halt, st.Turn.Step, st.Config.MaxSteps)
		}
		se = p.resume(se, engine.Options{})
	}
}

// Goal: how long a bundle says that its session waits for a model only narrows what is usual here, until somebody here says
// it; the control is the session where it was said.
func TestImportedPatienceOnlyNarrows(t *testing.T) {
	hour, short, usual := time.Hour, 2*time.Second, 5*time.Second
	for name, c := range map[string]struct {
		claimed time.Duration
		said    *time.Duration // here
		want    time.Duration
	}{
		"longer":           {hour, nil, usual},
		"shorter":          {short, nil, short},
		"longer, and said": {hour, &hour, hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			s.config = func(cfg *engine.Config) { cfg.RetryFor = usual }
			s.failing(func(int) error { return refused })
			there, se := s.start("go")
			start := time.Now()
			se = there.resume(se, engine.Options{RetryFor: &c.claimed})
			run(t, se)
			if took := time.Since(start); took != c.claimed {
				t.Errorf("%s: where it was said, it was tried for %s", name, took)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			here := newStage(t)
			here.config = s.config
			here.failing(func(int) error { return refused })
			p := here.process()
			st, err := there.Load(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			in := engine.Incoming{State: st, Past: there.store.Read(t.Context(), "s", 1, st.Head.Seq), Body: &session.Imported{From: "/w", Root: "/w", Cwd: "/w"}}
			if err := p.Import(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			se = p.open(engine.Options{RetryFor: c.said})
			if err := se.Resume(t.Context(), store.Actor{}); err != nil {
				t.Fatal(err)
			}
			start = time.Now()
			run(t, se)
			if took := time.Since(start); took != c.want {
				t.Errorf("%s: it was tried for %s, want %s", name, took, c.want)
			}
		})
	}
}
