package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

var errDisk = errors.New("input/output error")

// breaks lets one of the calls that it counts fail.
type breaks struct {
	mu   sync.Mutex
	at   int    // calls until then; 0: never
	what string // failed
	told strings.Builder
}

func (b *breaks) next(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at--; b.at != 0 {
		return nil
	}
	b.what = what
	return fmt.Errorf("%s: %w", what, errDisk)
}

func (b *breaks) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told.Write(p)
}

// say notes an error that a caller was told.
func (b *breaks) say(err error) {
	if err != nil {
		_, _ = b.Write([]byte(err.Error() + "\n"))
	}
}

// heard reports whether anybody was told of the failure.
func (b *breaks) heard() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.told.String(), errDisk.Error())
}

// brokenReads is a store of which one read fails.
type brokenReads struct {
	store.Store
	*breaks
}

func (b brokenReads) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if err := b.next("read " + id); err != nil {
			yield(store.Event{}, err)
			return
		}
		b.Store.Read(ctx, id, from, to)(yield)
	}
}

func (b brokenReads) Pending(ctx context.Context, id string, after int64, most int) ([]store.Item, error) {
	if err := b.next("inbox of " + id); err != nil {
		return nil, err
	}
	return b.Store.Pending(ctx, id, after, most)
}

func (b brokenReads) Get(ctx context.Context, id string) (store.Info, error) {
	if err := b.next("get " + id); err != nil {
		return store.Info{}, err
	}
	return b.Store.Get(ctx, id)
}

// Whichever read of the store fails, whoever asked for the work is told, or the program's log is; nothing is taken for
// empty, and the next process does the work as if nothing had been.
func TestAReadThatFailsIsTold(t *testing.T) {
	work := func(c *crowd, p process, b *breaks) {
		ctx := t.Context()
		se, err := p.Open(ctx, "s", engine.Options{})
		if b.say(err); err != nil {
			return
		}
		b.say(se.Run(ctx))
		b.say(se.Handoff(ctx, session.HandoffAsked, time.Minute))
		b.say(se.Close(ctx, ""))
		if _, _, err = p.Fork(ctx, "s", 0, "child", ""); err != nil {
			b.say(err)
			return
		}
		child, err := p.Open(ctx, "child", engine.Options{})
		if b.say(err); err != nil {
			return
		}
		_, err = child.Transcript(ctx)
		b.say(err)
		_, err = p.Whole(ctx, child.State())
		b.say(err)
		b.say(child.Close(ctx, ""))
		_, err = p.AppendFree(ctx, "child", engine.FreeAppend{Key: "k"}, person, &session.FactAdded{Fact: session.Fact{Text: "f"}})
		b.say(err)
		_, err = p.BodyAt(ctx, "s", 1)
		b.say(err)
	}
	for at := 1; ; at++ {
		c := newCrowd(t, 12_000, 6, 6000)
		b := &breaks{}
		c.config = func(cfg *engine.Config) {
			cfg.Store, cfg.Documents = brokenReads{cfg.Store, b}, nowhere{}
			cfg.Log = slog.New(slog.NewTextHandler(b, nil))
		}
		p := c.process()
		if _, err := p.Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage", Model: "m", MaxTokens: 1000, Window: 12_000}}); err != nil {
			t.Fatal(err)
		}
		p.say("go")
		b.at = at
		work(c, p, b)
		if b.what == "" {
			if at < 20 {
				t.Errorf("only %d reads", at)
			}
			break
		}
		if !b.heard() {
			t.Errorf("read %d (%s) failed, and nobody was told", at, b.what)
		}
		p.store.Kill()
		st := run(t, c.process().open(engine.Options{}))
		if st.Turns != 1 || st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || st.LastTurn.Steps != 6 {
			t.Errorf("after read %d (%s): turn %+v, last %+v", at, b.what, st.Turn, st.LastTurn)
		}
	}
}

// brokenShims are shims of which one call fails.
type brokenShims struct {
	*steered
	*breaks
}

func (b brokenShims) Prepare(ctx context.Context, spec command.Spec) error {
	if err := b.next("prepare " + spec.Act); err != nil {
		return err
	}
	return b.steered.Prepare(ctx, spec)
}

func (b brokenShims) Start(ctx context.Context, spec command.Spec) error {
	if err := b.next("start " + spec.Act); err != nil {
		return err
	}
	return b.steered.Start(ctx, spec)
}

func (b brokenShims) State(id, act string) (command.State, error) {
	if err := b.next("state " + act); err != nil {
		return command.State{}, err
	}
	if b.find(act) == nil {
		return command.State{Status: command.Absent}, nil
	}
	return b.steered.State(id, act)
}

func (b brokenShims) Settle(ctx context.Context, id, act string) (command.State, error) {
	if err := b.next("settle " + act); err != nil {
		return command.State{}, err
	}
	if b.find(act) == nil {
		return command.State{Status: command.Absent}, nil
	}
	return b.steered.Settle(ctx, id, act)
}

func (b brokenShims) Wait(ctx context.Context, id, act string) (command.State, error) {
	if err := b.next("wait " + act); err != nil {
		return command.State{}, err
	}
	return b.steered.Wait(ctx, id, act)
}

func (b brokenShims) Kill(ctx context.Context, id, act, by string) error {
	if err := b.next("kill " + act); err != nil {
		return err
	}
	return b.steered.Kill(ctx, id, act, by)
}

func (b brokenShims) Read(id, act string, from int64, limit int) ([]byte, int64, int64, error) {
	if err := b.next("read " + act); err != nil {
		return nil, 0, 0, err
	}
	return b.steered.Read(id, act, from, limit)
}

func (b brokenShims) Remove(id, act string) error {
	if err := b.next("remove " + act); err != nil {
		return err
	}
	return b.steered.Remove(id, act)
}

func (b brokenShims) WriteStdin(id, act string, text []byte) (int, error) {
	if err := b.next("write to " + act); err != nil {
		return 0, err
	}
	return b.steered.WriteStdin(id, act, text)
}

// commandsAtWork is a stage whose model runs commands in every way: in the foreground, with a long output, leaving
// processes behind, in the background, written to, read and ended.
func commandsAtWork(t *testing.T, b *breaks) (*stage, brokenShims) {
	s, cmds := shell(t)
	s.answer = newStage(t,
		reply(modelapi.StopToolUse, use("a", "Bash", `{"command":"print 200000"}`), use("b", "Bash", `{"command":"leave"}`)),
		reply(modelapi.StopToolUse, use("c", "Bash", `{"command":"sleep","run_in_background":true,"stdin":true}`)),
		reply(modelapi.StopToolUse, use("d", "BashInput", `{"bash_id":"bash_2","text":"yes"}`), use("e", "BashOutput", `{"bash_id":"bash_2"}`)),
		reply(modelapi.StopToolUse, use("f", "KillBash", `{"shell_id":"bash_2"}`)),
		reply(modelapi.StopEndTurn, text("done"))).answer
	broken := brokenShims{&steered{shims: cmds}, b}
	config := s.config
	s.config = func(c *engine.Config) {
		config(c)
		c.Commands, c.Log = broken, slog.New(slog.NewTextHandler(b, nil))
	}
	return s, broken
}

// Whichever call of the machinery of commands fails, somebody is told: who runs the session, the model, or the program's
// log. No command is started twice, and the next process goes on.
func TestACommandThatFailsIsTold(t *testing.T) {
	for at := 1; ; at++ {
		b := &breaks{}
		s, cmds := commandsAtWork(t, b)
		p, se := s.start("go")
		se = restart(t, p, se)
		b.at = at
		b.say(se.Run(t.Context()))
		b.say(se.Close(t.Context(), ""))
		if b.what == "" {
			if at < 20 || se.State().LastTurn == nil {
				t.Errorf("only %d calls, turn %+v:\n%s", at, se.State().Turn, render(s.last().Messages))
			}
			break
		}
		b.at = 0
		se = p.open(bypass)
		p.send("kill", &session.TaskSignalled{Task: "bash_2"})
		st := run(t, se)
		if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn {
			t.Errorf("after call %d (%s): turn %+v", at, b.what, st.Turn)
		}
		must(t, se.Close(t.Context(), ""))
		known := strings.HasPrefix(b.what, "wait ") && st.Task("bash_2") != nil && st.Task("bash_2").Status == command.Killed // by another look
		if b.say(errors.New(render(s.last().Messages))); !b.heard() && !known {
			t.Errorf("call %d (%s) failed, and nobody was told", at, b.what)
		}
		for act := range cmds.cmds {
			_ = cmds.shims.Kill(t.Context(), "s", act, "test")
		}
	}
}
