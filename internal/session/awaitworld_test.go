package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// met words what a world's await came to. Every word is there once, so that it can be counted.
func (w *world) met(a session.Await) *session.AwaitMet {
	b := &session.AwaitMet{ID: a.ID, Task: a.Task, How: session.MetEnd}
	switch {
	case a.Due && a.Event == session.AwaitTimer:
		b.How = session.MetTimer
	case a.Due:
		b.How = session.MetTimeout
	}
	b.Text = []byte(metText(w.id, a.ID) + " " + string(b.How))
	return b
}

func metText(id, await string) string { return fmt.Sprintf("[%s of %s is met:", await, id) }

func (w *world) dropped(a session.Await, reason string) *session.AwaitDropped {
	b := &session.AwaitDropped{ID: a.ID, Reason: reason}
	if reason == session.DropFork {
		b.Text = []byte("[" + a.ID + " is left to the parent session]")
	}
	return b
}

// await does what has to do with awaits:
//
//	await end TASK [after=MS] | line TASK [after=MS] | timer after=MS   sets one
//	met ID LINE                                                         a line matched
//	dropped ID REASON
//	task ID | exited ID                                                 a task starts, or ends
func (s *script) await(verb string, args []string) error {
	w := s.w
	switch verb {
	case "task":
		w.append(engine, &session.TaskStarted{Task: session.Task{ID: args[0], Act: "act." + args[0]}})
	case "exited":
		code := 0
		w.append(engine, &session.TaskExited{Task: args[0], State: command.State{Status: command.Exited, ExitCode: &code}})
	case "met":
		if w.st.Await(args[0]) == nil {
			return fmt.Errorf("no await %s", args[0])
		}
		w.append(engine, &session.AwaitMet{ID: args[0], How: session.MetLine, Line: args[1], Text: []byte(metText(w.id, args[0]) + " " + args[1])})
	case "dropped":
		w.append(human, &session.AwaitDropped{ID: args[0], Reason: args[1]})
	case "await":
		a := session.Await{ID: session.AwaitID(w.st.NextAwait + 1), Event: session.AwaitEvent(args[0])}
		for _, x := range args[1:] {
			if _, err := fmt.Sscanf(x, "after=%d", &a.AfterMS); err != nil {
				a.Task, a.TaskAct = x, "act."+x
			}
		}
		w.append(engine, &session.AwaitSet{Await: a})
	}
	return nil
}

// awaitLine is an event about an await for golden files.
func awaitLine(body session.Body) string {
	switch b := body.(type) {
	case *session.AwaitSet:
		return fmt.Sprintf(" %s %s %s", b.Await.ID, b.Await.Event, b.Await.Task)
	case *session.AwaitMet:
		return fmt.Sprintf(" %s %s", b.ID, b.How)
	case *session.AwaitDropped:
		return fmt.Sprintf(" %s %s", b.ID, b.Reason)
	default:
	}
	return ""
}

// awaitSomething sets, meets or drops an await, as models, tasks and people do.
func (r *run) awaitSomething() {
	n := len(r.st.Awaits)
	switch k := r.src.number(6); {
	case k < 2 && n < 4:
		a := session.Await{ID: session.AwaitID(r.st.NextAwait + 1), Event: session.AwaitTimer, AfterMS: 7}
		if k == 0 {
			id := fmt.Sprintf("bash_%d", len(r.st.Tasks)+1)
			r.append(engine, &session.TaskStarted{Task: session.Task{ID: id, Act: "act." + id}})
			a.Event, a.Task, a.TaskAct = []session.AwaitEvent{session.AwaitEnd, session.AwaitLine}[r.src.number(2)], id, "act."+id
			a.AfterMS *= int64(r.src.number(2))
		}
		r.append(engine, &session.AwaitSet{Await: a})
	case n == 0:
	case k == 2:
		r.append(human, &session.AwaitDropped{ID: r.st.Awaits[r.src.number(n)].ID, Reason: session.DropUser})
	default:
		switch a := r.st.Awaits[r.src.number(n)]; {
		case a.Session != "" || r.st.Lifecycle == session.LifecycleClosed || a.Event == session.AwaitTimer:
		case a.Event == session.AwaitEnd && r.st.Task(a.Task).Session == "":
			r.append(engine, &session.TaskExited{Task: a.Task, State: command.State{Status: command.Exited}})
		default:
			b := r.met(a)
			b.How, b.Line = session.MetLine, "green"
			r.append(engine, b)
		}
	}
}

// awaitActs tells, apart from Next, whether an await is something to act on.
func (r *run) awaitActs() bool {
	return slices.ContainsFunc(r.st.Awaits, func(a session.Await) bool {
		t := r.st.Task(a.Task)
		ended := a.Event == session.AwaitEnd && (t == nil || t.Session == "" && t.Status != command.Running)
		return a.Session != "" || r.st.Lifecycle == session.LifecycleClosed || a.AfterMS > 0 || ended
	})
}

// toldOnce checks that what awaits came to is in the conversation once, and that the state knows of all that no request
// holds yet.
func (r *run) toldOnce() error {
	all, sent := asJSON(r.tr.Upcoming()), asJSON(r.tr.Messages())
	untold := 0
	for _, e := range r.events {
		b, ok := decode(e).(*session.AwaitMet)
		if !ok {
			continue
		}
		text := metText(r.id, b.ID)
		if strings.Contains(sent, text) {
			r.told[text] = true
		}
		if !r.told[text] {
			untold++
		}
		left := r.told[text] && r.st.Overlay != nil && e.Seq < r.st.Overlay.Seq  // by a compaction, after it was told
		waits := r.st.Untold.Paused && !r.st.Untold.Calls && !r.st.Untold.Prompt // behind a reply that goes on first
		if n := strings.Count(all, text); n > 1 || n == 0 && !waits && !left {
			return fmt.Errorf("%s is told %d times", b.ID, n)
		}
	}
	if untold != r.st.Untold.Count {
		return fmt.Errorf("%d met awaits are not in a request, the state says %d", untold, r.st.Untold.Count)
	}
	return nil
}

// TestAwaitIDs refuses an await under a name that an act could have: its wake-up would be the act's.
func TestAwaitIDs(t *testing.T) {
	for id, good := range map[string]bool{"await_1": true, "await_01": false, "t1.s1.b0.a1": false, "": false, "await_": false, "1": false} {
		w := newWorld("s")
		w.append(engine, &session.AwaitSet{Await: session.Await{ID: id, Event: session.AwaitTimer, AfterMS: 1000}})
		if got := len(w.st.Awaits) == 1 && len(w.st.Faults) == 0; got != good {
			t.Errorf("%q: %v, %q", id, w.st.Awaits, w.st.Faults)
		}
	}
}
