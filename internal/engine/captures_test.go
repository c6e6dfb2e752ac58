package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// twoWrites is a stage whose model writes two files in one step, and reads one.
func twoWrites(t *testing.T) *stage {
	return newStage(t, reply(modelapi.StopToolUse,
		use("1", "Write", `{"file_path":"/w/a","content":"A"}`),
		use("2", "Read", `{"file_path":"/w/a"}`),
		use("3", "Write", `{"file_path":"/w/b","content":"B"}`)), reply(modelapi.StopEndTurn, text("done")))
}

// kept gives a stage a keeper of its files.
func (s *stage) kept() *keeper {
	k := newKeeper(s.files)
	s.config = func(c *engine.Config) { c.Captures = k }
	return k
}

// log reads the events of session s of some kinds.
func (p process) log(kinds ...store.Kind) (out []session.Body) {
	p.t.Helper()
	for e, err := range p.store.Read(context.Background(), "s", 1, 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		if slices.Contains(kinds, e.Kind) {
			body, err := session.Decode(e)
			if err != nil {
				p.t.Fatal(err)
			}
			out = append(out, body)
		}
	}
	return out
}

// Files are captured before the first act of a turn that may change them, after each such act before anything else
// begins, and at the turn's end; a tree that the log has already is not logged again.
func TestCapturesOfATurn(t *testing.T) {
	s := twoWrites(t)
	k := s.kept()
	s.files.m["/w/old"] = []byte("old")
	first := k.now()
	p, se := s.start("go")
	st := run(t, se)
	want := []string{"before hint", "act hint t1.s1.b1.a1", "act hint t1.s1.b3.a1", "turn walk"}
	if !slices.Equal(k.calls, want) {
		t.Errorf("captures %q, want %q", k.calls, want)
	}
	var order []string
	for _, b := range p.log(session.KindFilesCaptured, session.KindToolStarted, session.KindToolFinished, session.KindTurnEnded) {
		order = append(order, strings.TrimPrefix(fmt.Sprintf("%T", b), "*session."))
	}
	const captured = "FilesCaptured"
	if got := strings.Join(order, " "); got != captured+" ToolStarted ToolFinished "+captured+" ToolStarted ToolFinished ToolStarted ToolFinished "+captured+" TurnEnded" {
		t.Errorf("order %s", got)
	}
	w := st.Workspace
	if w.Tree != k.now() || w.Dir != "/w" || len(w.Points) != 1 || w.Points[0].Tree != first || w.Points[0].Turn != 1 {
		t.Errorf("workspace %+v", w)
	}
	if k.held != 0 {
		t.Errorf("%d answers are not released", k.held)
	}
}

// countedStore is a store that counts commits.
type countedStore struct {
	store.Store
	n *atomic.Int64
}

func (c countedStore) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	c.n.Add(1)
	return c.Store.Append(ctx, l, b)
}

// commits runs a stage's turn and counts its commits.
func (s *stage) commits(k *keeper) int64 {
	s.t.Helper()
	var n atomic.Int64
	s.config = func(c *engine.Config) {
		c.Store = countedStore{c.Store, &n}
		if k != nil {
			c.Captures = k
		}
	}
	_, se := s.start("go")
	n.Store(0)
	run(s.t, se)
	return n.Load()
}

// A capture is at most one commit, and a turn that only looks captures nothing at all.
func TestWhatCapturesCost(t *testing.T) {
	s := twoWrites(t)
	if without, with := twoWrites(t).commits(nil), s.commits(newKeeper(s.files)); with > without+3 || with <= without {
		t.Errorf("two changes: %d commits, %d without captures", with, without)
	}
	reads := func() *stage {
		s := newStage(t, reply(modelapi.StopToolUse, use("1", "Read", `{"file_path":"/w/a"}`)), reply(modelapi.StopEndTurn, text("done")))
		s.files.m["/w/a"] = []byte("A")
		return s
	}
	s = reads()
	k := newKeeper(s.files)
	if without, with := reads().commits(nil), s.commits(k); with != without || len(k.calls) > 0 {
		t.Errorf("a look: %d commits, %d without captures; captured %q", with, without, k.calls)
	}
}

// Whoever opens a session that died in a capture captures again; the act itself is not done again.
func TestCaptureOfADeadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := twoWrites(t)
		k, died, lives := newKeeper(s.files), make(chan struct{}), 0
		s.config = func(c *engine.Config) {
			if c.Captures = k; lives == 0 {
				c.Captures = killedKeeper{k, died}
			}
			lives++
		}
		p, se := s.start("go")
		stop, over := background(t, se)
		<-died
		die(p, stop, over)
		st := run(t, s.process().open(engine.Options{}))
		if n := slices.Index(k.calls, "act hint t1.s1.b1.a1"); n < 0 || slices.Index(k.calls[n+1:], "act hint t1.s1.b1.a1") < 0 {
			t.Errorf("captures %q", k.calls)
		}
		if st.Workspace.Tree != k.now() || len(st.Workspace.Points) != 1 {
			t.Errorf("workspace %+v", st.Workspace)
		}
	})
}

// killedKeeper is a keeper whose process is killed in its first capture after an act.
type killedKeeper struct {
	*keeper
	died chan struct{}
}

func (d killedKeeper) Capture(ctx context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	if r.Why != session.CaptureAct {
		return d.keeper.Capture(ctx, r)
	}
	d.calls = append(d.calls, "act hint "+r.Act)
	close(d.died)
	<-ctx.Done()
	return engine.Captured{}, ctx.Err()
}

// A capture that fails or panics stops nothing, and the log says once why the files are not captured. Nothing is said to
// be known of what they were then.
func TestACaptureThatFails(t *testing.T) {
	for name, fail := range map[string]func(engine.CaptureRequest) error{
		"the disk is full": func(engine.CaptureRequest) error { return errors.New("the disk is full") },
		"panic: no":        func(engine.CaptureRequest) error { panic("no") },
	} {
		s := twoWrites(t)
		k := s.kept()
		k.fail = fail
		p, se := s.start("go")
		st := run(t, se)
		if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || len(st.Workspace.Points) != 0 || st.Workspace.Refused != name {
			t.Errorf("%s: %+v, workspace %+v", name, st.LastTurn, st.Workspace)
		}
		if n := len(p.log(session.KindFilesCaptured)); n != 1 {
			t.Errorf("%s is in the log %d times", name, n)
		}
		if want := []string{"before hint", "turn walk"}; !slices.Equal(k.calls, want) {
			t.Errorf("captures %q, want %q: one that failed is not tried after each act", k.calls, want)
		}
	}
}

// A capture that takes too long is a failure; one that never returns ends the run, and says so.
func TestACaptureThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := twoWrites(t)
		s.config = func(c *engine.Config) { c.Captures = slow{newKeeper(s.files), nil} }
		_, se := s.start("go")
		if st := run(t, se); st.LastTurn == nil || !strings.Contains(st.Workspace.Refused, "deadline") {
			t.Errorf("workspace %+v", st.Workspace)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, free := twoWrites(t), make(chan struct{})
		defer close(free)
		s.config = func(c *engine.Config) {
			c.CaptureLimit = time.Minute
			c.Captures = slow{newKeeper(s.files), free}
		}
		_, se := s.start("go")
		if err := se.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "/w") || !strings.Contains(err.Error(), "1m0s") {
			t.Errorf("error %v", err)
		}
	})
}

// slow is a keeper that waits for its context, or for the test.
type slow struct {
	*keeper
	free chan struct{}
}

func (s slow) Capture(ctx context.Context, _ engine.CaptureRequest) (engine.Captured, error) {
	if s.free != nil {
		<-s.free
		return engine.Captured{}, nil
	}
	<-ctx.Done()
	return engine.Captured{}, ctx.Err()
}

// A checkpoint that is asked for is made, or the log says why not.
func TestACheckpoint(t *testing.T) {
	s := twoWrites(t)
	k := s.kept()
	p, se := s.start("go")
	run(t, se)
	p.send("c", &session.CheckpointRequested{Name: "good"})
	p.send("c2", &session.CheckpointRequested{Name: "good"})
	st := run(t, se)
	c, ok := st.Workspace.Checkpoint("good")
	if !ok || c.Tree != k.now() || len(st.Workspace.Asked) > 0 {
		t.Errorf("workspace %+v", st.Workspace)
	}
	k.fail = func(engine.CaptureRequest) error { return errors.New("the disk is full") }
	p.send("d", &session.CheckpointRequested{Name: "bad"})
	st = run(t, se)
	if _, ok := st.Workspace.Checkpoint("bad"); ok || len(st.Workspace.Asked) > 0 {
		t.Errorf("workspace %+v", st.Workspace)
	}
	refused := p.log(session.KindInboxRefused)
	if len(refused) != 1 || !strings.Contains(refused[0].(*session.InboxRefused).Reason, "there is a checkpoint good") {
		t.Errorf("refused %+v", refused)
	}
	all := p.log(session.KindFilesCaptured)
	if last := all[len(all)-1].(*session.FilesCaptured); last.Refused != "the disk is full" || last.Name != "bad" || last.Why != session.CaptureNamed {
		t.Errorf("the answer is %+v", last)
	}
}

// Where nothing is captured, what needs it is refused at once, and what another program asked for is answered.
func TestWithoutCaptures(t *testing.T) {
	s := twoWrites(t)
	p, se := s.start("go")
	run(t, se)
	for i, b := range []session.Body{
		&session.CheckpointRequested{Name: "x"}, &session.RestoreRequested{Target: store.Sum(nil)}, &session.ArtifactAdded{},
	} {
		p.send(fmt.Sprint(i), b)
	}
	run(t, se)
	if n := len(p.log(session.KindInboxRefused)); n != 3 {
		t.Errorf("%d were refused", n)
	}
	actor := store.Actor{Type: store.ActorUser}
	must(t, se.Append(t.Context(), actor, &session.CheckpointRequested{Name: "x"}, &session.RestoreRequested{Target: store.Sum(nil)}))
	if st := run(t, se); len(st.Workspace.Asked) > 0 || st.Workspace.Restore != nil {
		t.Errorf("workspace %+v", st.Workspace)
	}
}

// An act that changed nothing leaves nothing in the log, and nobody looks again when the session is given back. When a
// task has ended since, the files are captured then: what it wrote is in the log before somebody else goes on.
func TestCaptureWhenTheSessionIsGivenBack(t *testing.T) {
	count := 0
	s := newStage(t, reply(modelapi.StopToolUse, use("1", "Call", `{}`)), reply(modelapi.StopEndTurn, text("done")))
	s.tools = append(s.tools, newOutside("Call", false, &count, func(context.Context) (tools.Result, error) {
		return tools.Result{Content: []model.Part{model.TextPart("ok")}}, nil
	}))
	k := s.kept()
	p, se := s.start("go")
	must(t, se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Call", Scope: "session"}))
	run(t, se)
	if want := []string{"before hint", "act hint t1.s1.b1.a1", "turn walk"}; count != 1 || !slices.Equal(k.calls, want) {
		t.Fatalf("%d calls, captures %q, want %q", count, k.calls, want)
	}
	must(t, se.Close(t.Context(), "done"))
	if n := len(p.log(session.KindFilesCaptured)); n != 1 || len(k.calls) != 3 {
		t.Errorf("%d in the log, captures %q", n, k.calls)
	}
	se = p.open(engine.Options{})
	s.files.m["/w/out"] = []byte("written by a task")
	code := 0
	must(t, se.Append(t.Context(), store.Actor{Type: store.ActorEngine}, &session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "a"}},
		&session.TaskExited{Task: "bash_1", State: command.State{Status: command.Exited, ExitCode: &code}}))
	must(t, se.Close(t.Context(), "done"))
	st, err := p.Load(t.Context(), "s")
	must(t, err)
	if k.calls[len(k.calls)-1] != "pause walk" || st.Workspace.Tree != k.now() || st.Workspace.Unsure != 0 {
		t.Errorf("captures %q, workspace %+v", k.calls, st.Workspace)
	}
}
