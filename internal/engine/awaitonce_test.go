package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// kindsOf are the kinds of a session's events, in order.
func kindsOf(t *testing.T, st *memory.Store) (kinds []store.Kind) {
	t.Helper()
	for ev, err := range st.Read(t.Context(), "s", 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, ev.Kind)
	}
	return kinds
}

func count(kinds []store.Kind, kind store.Kind) (n int) {
	for _, k := range kinds {
		if k == kind {
			n++
		}
	}
	return n
}

// A line that is found when its await is over already is told to nobody: it was dropped, or met, between two runs.
func TestAwaitThatIsOverIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1","pattern":"green"}`)
		p, se := s.start("go")
		se = restart(t, p, se)
		_, stop, over := waiting(t, se)
		<-time.After(time.Minute)
		stop()
		<-over
		cmds.print(theTask, "green\n")
		<-time.After(time.Minute) // whoever looks has found it, and waits for the next run
		if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.AwaitDropped{ID: "await_1", Reason: session.DropUser}); err != nil {
			t.Fatal(err)
		}
		st := run(t, se)
		if n := count(kindsOf(t, p.store), session.KindAwaitMet); n != 0 || st.Turns != 1 || len(s.requests) != 3 {
			t.Errorf("met %d times, %d turns, %d requests", n, st.Turns, len(s.requests))
		}
		cmds.end(theTask, 0)
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// That a command ended without the awaited line is told once the log knows of the end, not when the shim does.
func TestEndWithoutTheLineIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1","pattern":"green"}`)
		p, se := s.start("go")
		se = restart(t, p, se)
		_, _, over := waiting(t, se)
		<-time.After(time.Minute)
		code := 0
		c := cmds.find(theTask)
		cmds.mu.Lock()
		c.st.Status, c.st.ExitCode = command.Exited, &code // the shim knows; who waits for it does not yet
		cmds.mu.Unlock()
		<-time.After(time.Minute)
		if n := count(kindsOf(t, p.store), session.KindAwaitMet); n != 0 {
			t.Error("it is told before the log knows of the end")
		}
		close(c.ended)
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		kinds := kindsOf(t, p.store)
		end, met := slices.Index(kinds, session.KindTaskExited), slices.Index(kinds, session.KindAwaitMet)
		if end < 0 || met < end || count(kinds, session.KindAwaitMet) != 1 {
			t.Errorf("the end is event %d, what is told %d: %v", end, met, kinds)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// Whoever interrupts a turn wants quiet: what was met meanwhile starts no turn of its own in this run, but is told with
// the next prompt.
func TestInterruptKeepsAMetAwaitFromStartingATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1"}`)
		script := s.answer
		s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
			if strings.Contains(render(r.Messages), "think") && !strings.Contains(render(r.Messages), "quiet") {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return script(ctx, n, r, sink)
		}
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		p.say("think")
		over := make(chan error, 1)
		go func() { over <- se.Run(t.Context()) }()
		<-time.After(time.Minute)
		cmds.end(theTask, 0)
		<-time.After(time.Minute)
		synctest.Wait()
		asked := len(s.requests)
		if err := se.Interrupt(t.Context(), store.Actor{Type: store.ActorUser}); err != nil {
			t.Fatal(err)
		}
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		st := se.State()
		if st.Turns != 2 || st.Turn != nil || len(s.requests) != asked || st.Untold.Count != 1 {
			t.Errorf("%d turns, %d requests more, %d untold", st.Turns, len(s.requests)-asked, st.Untold.Count)
		}
		p.say("quiet now")
		run(t, se)
		if s.told("[await_1]") != 1 {
			t.Errorf("told %d times: %s", s.told("[await_1]"), render(s.last().Messages))
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}
