package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// prepared is where commands can be asked for; none is ever started.
type prepared struct{ engine.Commands }

func (prepared) Prepare(context.Context, command.Spec) error { return nil }

// Goal: a session's row tells its tasks exactly while nobody works in it, and says that it does not know at every other
// moment, a death in the middle included.
func TestListedTasks(t *testing.T) {
	s := newStage(t)
	s.config = func(cfg *engine.Config) { cfg.Commands = prepared{} }
	p, live := s.start("x")
	look := func(p process, id string) ([]session.Task, bool) {
		t.Helper()
		info, err := p.store.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return engine.ListedTasks(info)
	}
	if _, ok := look(p, "s"); ok {
		t.Error("a row knows the tasks of a session that is open")
	}
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if tasks, ok := look(p, "s"); !ok || len(tasks) != 0 {
		t.Errorf("%v, %v", tasks, ok)
	}
	child, _, err := p.Fork(t.Context(), "s", 0, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := look(p, child); !ok {
		t.Error("the row of a new session does not know")
	}

	// A death after the row was right leaves one that does not know.
	p.send("k", &session.TaskRequested{Command: "sleep", Argv: []string{"sleep"}, Cwd: "/w", Name: strings.Repeat("n", 50)})
	live = p.open(engine.Options{})
	if err := live.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.store.Kill()
	p = s.process()
	if _, ok := look(p, "s"); ok {
		t.Error("a row knows the tasks of a session whose holder died")
	}
	live = p.open(engine.Options{})
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	st, err := p.Load(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if tasks, ok := look(p, "s"); !ok || len(tasks) != 1 || !reflect.DeepEqual(tasks, st.Tasks) {
		t.Errorf("%v: the row has %+v, the state %+v", ok, tasks, st.Tasks)
	}

	// Too many tasks for a row are in the state only.
	for i := range 100 {
		p.send(fmt.Sprint("k", i), &session.TaskRequested{Command: strings.Repeat("c", 200), Argv: []string{"c"}, Cwd: "/w"})
	}
	live = p.open(engine.Options{})
	if err := live.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if tasks, ok := look(p, "s"); ok {
		t.Errorf("a row of %d tasks", len(tasks))
	}
}

// Goal: a session that is opened with other settings and left is no younger than before, neither while it is open nor
// after its holder was killed; what happens in it makes it younger.
func TestSettingsDoNotMakeASessionYounger(t *testing.T) {
	s, now := newStage(t), time.UnixMilli(1_700_000_000_000)
	s.config = func(cfg *engine.Config) {
		cfg.Commands = prepared{}
		cfg.Now = func() time.Time { now = now.Add(time.Second); return now } // each event has a time of its own
	}
	p, live := s.start("x")
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	stirred := func(p process) int64 {
		t.Helper()
		info, err := p.store.Get(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return engine.Stirred(info)
	}
	before := stirred(p)
	steps := 7
	p.open(engine.Options{Mode: permission.ModePlan, MaxSteps: &steps})
	if got := stirred(p); got != before {
		t.Errorf("open: %d, was %d", got, before)
	}
	p.store.Kill()
	p = s.process()
	if got := stirred(p); got != before {
		t.Errorf("after a kill: %d, was %d", got, before)
	}
	live = p.open(engine.Options{Mode: permission.ModeDefault})
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if got := stirred(p); got != before {
		t.Errorf("left: %d, was %d", got, before)
	}
	p.send("k", &session.StateSet{Key: "k", Value: []byte(`"news"`)})
	live = p.open(engine.Options{})
	if err := live.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := live.Close(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if got := stirred(p); got <= before {
		t.Errorf("with news: %d, was %d", got, before)
	}
}
