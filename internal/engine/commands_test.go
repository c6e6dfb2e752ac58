package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// shims is a set of commands that outlive their agent. A script is "print N", "sleep" (until killed), "leave" (ends,
// with a process left behind), "cd DIR", or one of texts: it prints that and, if it begins with "then ", runs on.
type shims struct {
	mu    sync.Mutex
	cmds  map[string]*shim
	texts map[string]string
}

type shim struct {
	st    command.State
	out   []byte
	ended chan struct{}
}

func newShims() *shims { return &shims{cmds: map[string]*shim{}} }

func (s *shims) find(act string) *shim {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmds[act]
}

func (s *shims) Prepare(context.Context, command.Spec) error { return nil }

func (s *shims) Start(_ context.Context, spec command.Spec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmds[spec.Act] != nil {
		return errors.New("started twice")
	}
	c := &shim{ended: make(chan struct{}), st: command.State{Status: command.Running, PID: 7, BootID: "b"}}
	s.cmds[spec.Act] = c
	if text, ok := s.texts[spec.Script]; ok {
		c.print(text)
		if strings.HasPrefix(spec.Script, "then ") {
			return nil
		}
		code := 0
		c.st.Status, c.st.ExitCode = command.Exited, &code
		close(c.ended)
		return nil
	}
	n := 0
	if _, err := fmt.Sscanf(spec.Script, "print %d", &n); err == nil || spec.Script == "leave" || strings.HasPrefix(spec.Script, "cd ") {
		code := 0
		_, c.st.Cwd, _ = strings.Cut(spec.Script, "cd ")
		c.out = bytes.Repeat([]byte("0123456789abcde\n"), n/16)
		c.st.Status, c.st.ExitCode, c.st.Output = command.Exited, &code, int64(len(c.out))
		if spec.Script == "leave" {
			c.st.Stragglers = 1
		}
		close(c.ended)
	}
	return nil
}

func (c *shim) print(text string) {
	c.out = append(c.out, text...)
	c.st.Output = int64(len(c.out))
}

func (s *shims) State(_, act string) (command.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.cmds[act]; c != nil {
		return c.st, nil
	}
	return command.State{Status: command.Lost, Reason: "dir_missing"}, nil
}

func (s *shims) Settle(_ context.Context, id, act string) (command.State, error) {
	return s.State(id, act)
}

func (s *shims) Wait(ctx context.Context, id, act string) (command.State, error) {
	if c := s.find(act); c != nil {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return command.State{}, ctx.Err()
		}
	}
	return s.State(id, act)
}

func (s *shims) Kill(_ context.Context, _, act, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cmds[act]
	if c == nil {
		return errors.New("the directory is missing")
	}
	if c.st.Status == command.Running {
		c.st.Status, c.st.Signal, c.st.By = command.Killed, "SIGKILL", by
		close(c.ended)
	}
	return nil
}

func (s *shims) Read(_, act string, from int64, limit int) ([]byte, int64, int64, error) {
	c := s.find(act)
	if c == nil || from >= int64(len(c.out)) {
		return nil, from, 0, nil
	}
	end := min(int64(len(c.out)), from+int64(limit))
	return c.out[from:end], end, 0, nil
}

func (s *shims) Remove(_, act string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cmds, act)
	return nil
}

// shell is a stage with commands that need no approval.
func shell(t *testing.T, calls ...model.Block) (*stage, *shims) {
	s := newStage(t, reply(modelapi.StopToolUse, calls...), reply(modelapi.StopEndTurn, text("done")))
	cmds, out := newShims(), t.TempDir()
	s.config = func(c *engine.Config) { c.Commands, c.OutDir = cmds, out }
	s.spec = func(sp *engine.Spec) { sp.Mode = permission.ModeDefault }
	return s, cmds
}

var bypass = engine.Options{Mode: permission.ModeBypass}

// restart opens the session in mode bypass, which no lease hands on to the next.
func restart(t *testing.T, p process, se *engine.Session) *engine.Session {
	t.Helper()
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	return p.open(bypass)
}

// Output that a result leaves out is kept whole in a file that the result names.
func TestOutputOverTheCapIsKept(t *testing.T) {
	for _, size := range []int{40_000, 200_000} {
		s, cmds := shell(t, use("a", "Bash", fmt.Sprintf(`{"command":"print %d"}`, size)))
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		said := model.Text(s.last().Messages[2].Blocks[0].Result.Content)
		_, path, ok := strings.Cut(said, "the whole output: ")
		if !ok {
			t.Fatalf("%d bytes: no file is named in %.300s", size, said)
		}
		path, _, _ = strings.Cut(path, "]")
		b, err := os.ReadFile(strings.TrimSpace(path))
		if err != nil || len(b) != size/16*16 {
			t.Errorf("%d bytes: %d kept: %v", size, len(b), err)
		}
		if len(cmds.cmds) > 0 {
			t.Errorf("the act directory stays")
		}
	}
}

// A background task whose record is gone can be asked to end: it is lost, and the session goes on.
func TestKillOfATaskWhoseRecordIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true}`))
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		cmds.mu.Lock()
		delete(cmds.cmds, "t1.s1.b1.a1")
		cmds.mu.Unlock()
		p.send("kill", &session.TaskSignalled{Task: "bash_1"})
		if st := run(t, se); st.Tasks[0].Status != command.Lost {
			t.Errorf("task %+v", st.Tasks[0])
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// A task that ends between two runs of one lease, or while none runs, is reported by the next; Close waits for whoever
// watches it, and leaves the task alone.
func TestTaskEndsBetweenRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true}`), use("b", "Bash", `{"command":"sleep","run_in_background":true}`))
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		if err := cmds.Kill(t.Context(), "s", "t1.s1.b1.a1", "user"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_ = se.Run(ctx) // parked at once: nobody may lose the news by it
		p.say("more")
		st := run(t, se)
		if got := render(s.last().Messages); st.Tasks[0].Status != command.Killed || !strings.Contains(got, "[Background task bash_1 was killed") {
			t.Errorf("task %+v\n%s", st.Tasks[0], got)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if st, err := cmds.State("s", "t1.s1.b2.a1"); err != nil || st.Status != command.Running {
			t.Errorf("the other task: %+v %v", st, err)
		}
		_ = cmds.Kill(t.Context(), "s", "t1.s1.b2.a1", "test")
	})
}

// slowShims are shims that say only after some looks what became of the command they started.
type slowShims struct {
	*shims
	looks int
	then  command.State
}

func (s *slowShims) State(id, act string) (command.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.cmds[act]; c != nil && s.looks > 0 {
		if s.looks--; s.looks == 0 {
			c.st.Status, c.st.PID = s.then.Status, s.then.PID
			return c.st, nil
		}
		return command.State{Status: command.Running}, nil
	}
	return s.shims.cmds[act].st, nil
}

// A background command is announced once its process is known; one that did not begin after all is tried again.
func TestBackgroundIsAnnouncedOnceItBegan(t *testing.T) {
	for name, then := range map[string]command.State{
		"t1.s1.b1.a1": {Status: command.Running, PID: 7}, "t1.s1.b1.a2": {Status: command.Absent},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true}`))
			slow := &slowShims{shims: cmds, looks: 5, then: then}
			config := s.config
			s.config = func(c *engine.Config) { config(c); c.Commands = slow }
			p, se := s.start("go")
			se = restart(t, p, se)
			st := run(t, se)
			if len(st.Tasks) != 1 || st.Tasks[0].PID != 7 || st.Tasks[0].Act != name {
				t.Errorf("tasks %+v, want act %s", st.Tasks, name)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			_ = cmds.Kill(t.Context(), "s", name, "test")
		})
	}
}

// Commands that leave processes behind become tasks with names of their own, beside those of the background.
func TestNamesOfTasksDoNotCollide(t *testing.T) {
	s, _ := shell(t, use("a", "Bash", `{"command":"leave"}`), use("b", "Bash", `{"command":"leave"}`),
		use("c", "Bash", `{"command":"print 16","run_in_background":true}`), use("d", "Bash", `{"command":"leave"}`))
	p, se := s.start("go")
	se = restart(t, p, se)
	st := run(t, se)
	var ids []string
	for _, task := range st.Tasks {
		ids = append(ids, task.ID)
	}
	if fmt.Sprint(ids) != "[bash_1 bash_2 bash_3 bash_4]" {
		t.Errorf("tasks %v", ids)
	}
}

// A holder that was taken over does nothing more: its next append is refused, and its run ends.
func TestFencedHolderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep"}`), use("b", "Bash", `{"command":"print 16"}`))
		p, se := s.start("go")
		se = restart(t, p, se)
		over := make(chan error, 1)
		go func() { over <- se.Run(t.Context()) }()
		<-time.After(time.Second) // of the bubble
		other := s.home.Open()
		if _, err := other.Takeover(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if err := cmds.Kill(t.Context(), "s", "t1.s1.b1.a1", "user"); err != nil {
			t.Fatal(err)
		}
		if err := <-over; !errors.Is(err, store.ErrFenced) {
			t.Errorf("run: %v", err)
		}
		if cmds.find("t1.s1.b2.a1") != nil {
			t.Error("the fenced holder started the next command")
		}
		if err := se.Close(t.Context(), ""); !errors.Is(err, store.ErrFenced) {
			t.Errorf("close: %v", err)
		}
	})
}

// After an append whose outcome is uncertain nothing follows; another process learns what the log holds and goes on.
func TestUncertainAppendEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep"}`))
		p, se := s.start("go")
		se = restart(t, p, se)
		over := make(chan error, 1)
		go func() { over <- se.Run(t.Context()) }()
		<-time.After(time.Second) // of the bubble
		p.store.Poison(errors.New("fsync"))
		_ = cmds.Kill(t.Context(), "s", "t1.s1.b1.a1", "user")
		if err := <-over; !errors.Is(err, store.ErrUncertain) {
			t.Errorf("run: %v", err)
		}
		if err := se.Close(t.Context(), ""); !errors.Is(err, store.ErrUncertain) {
			t.Errorf("close: %v", err)
		}
		p.store.Kill()
		se = s.process().open(bypass)
		if st := run(t, se); st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
			t.Errorf("turn %+v", st.Turn)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// A change that failed half-way is not called undone: the model is told that nobody knows.
func TestHalfWrittenFileIsUnknown(t *testing.T) {
	for _, half := range []bool{true, false} {
		s := newStage(t, reply(modelapi.StopToolUse, use("a", "Write", `{"file_path":"/w/x","content":"whole"}`)), reply(modelapi.StopEndTurn, text("done")))
		s.files.fail = func() error {
			if !half {
				return tools.ErrNoSpace
			}
			s.files.m["/w/x"] = []byte("who")
			return fmt.Errorf("write: %w", tools.ErrUnsettled)
		}
		_, se := s.start("go")
		st := run(t, se)
		want := session.OutcomeError
		if half {
			want = session.OutcomeUnknown
		}
		if got := st.Settled[0].Outcome; got != want {
			t.Errorf("half written %v: outcome %s", half, got)
		}
	}
}
