package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// twoWrites is a stage whose model writes two files in one step, and reads one.
func twoWrites(t *testing.T) *stage {
	return newStage(t, reply(model.StopToolUse,
		use("1", "Write", `{"file_path":"/w/a","content":"A"}`),
		use("2", "Read", `{"file_path":"/w/a"}`),
		use("3", "Write", `{"file_path":"/w/b","content":"B"}`)), reply(model.StopEndTurn, text("done")))
}

// The hook sees the files as one call left them: nothing else has begun. What it returns is in the log next.
func TestAfterAct(t *testing.T) {
	s := twoWrites(t)
	var seen []string
	s.config = func(c *engine.Config) {
		c.AfterAct = func(_ context.Context, id string, act session.Act) ([]session.Body, error) {
			seen = append(seen, fmt.Sprintf("%s %s %s %d", act.ID, act.Tool, act.Outcome, len(s.files.m)))
			return []session.Body{&session.App{Namespace: "capture", Data: []byte(id + act.ID)}}, nil
		}
	}
	p, se := s.start("go")
	run(t, se)
	if want := []string{"t1.s1.b1.a1 Write ok 1", "t1.s1.b3.a1 Write ok 2"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	var kinds []string
	for e, err := range p.store.Read(t.Context(), "s", 1, se.Head().Seq) {
		must(t, err)
		if e.Kind == session.KindToolFinished || e.Kind == session.KindApp || e.Kind == session.KindToolStarted {
			kinds = append(kinds, string(e.Kind))
		}
	}
	if got := strings.Join(kinds, " "); !strings.HasPrefix(got, "tool.started tool.finished app") || strings.Count(got, "app") != 2 {
		t.Errorf("order %s", got)
	}
}

// Whoever opens a session that died in the hook has it called again; the call itself is not made again.
func TestAfterActOfADeadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := twoWrites(t)
		died, lives := make(chan struct{}), 0
		var seen []string
		s.config = func(c *engine.Config) {
			lives++
			life := lives
			c.AfterAct = func(ctx context.Context, _ string, act session.Act) ([]session.Body, error) {
				seen = append(seen, act.ID)
				if life == 1 {
					close(died)
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return nil, nil
			}
		}
		p, se := s.start("go")
		stop, over := background(t, se)
		<-died
		die(p, stop, over)
		run(t, s.process().open(engine.Options{}))
		if want := []string{"t1.s1.b1.a1", "t1.s1.b1.a1", "t1.s1.b3.a1"}; !slices.Equal(seen, want) {
			t.Errorf("seen %q, want %q", seen, want)
		}
	})
}

// A hook that fails or panics stops nothing. One that never returns ends the run, and says which it is.
func TestAfterActThatFails(t *testing.T) {
	for name, hook := range map[string]engine.AfterAct{
		"error": func(context.Context, string, session.Act) ([]session.Body, error) { return nil, errors.New("no") },
		"panic": func(context.Context, string, session.Act) ([]session.Body, error) { panic("no") },
		"late": func(ctx context.Context, _ string, _ session.Act) ([]session.Body, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := twoWrites(t)
			s.config = func(c *engine.Config) { c.AfterAct = hook }
			_, se := s.start("go")
			if st := run(t, se); st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
				t.Errorf("%s: turn ended as %+v", name, st.LastTurn)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, free := twoWrites(t), make(chan struct{})
		defer close(free)
		s.config = func(c *engine.Config) {
			c.AfterActLimit = time.Minute
			c.AfterAct = func(context.Context, string, session.Act) ([]session.Body, error) { <-free; return nil, nil }
		}
		_, se := s.start("go")
		if err := se.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "t1.s1.b1.a1") || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("error %v", err)
		}
	})
}
