package proof_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// awaiter is a talk whose model starts a task that prints a green line once there is a file, awaits that line, and ends
// its turn. What it says next it can only say when it is told.
func awaiter(t *testing.T, id string) *talk {
	t.Helper()
	begin := say("begin")
	begin.Tools = []modeltest.ToolCall{
		{ID: "toolu_task", Name: "Bash", InputText: `{"command": "echo no; while [ ! -e %LOG.go ]; do sleep 0.02; done; echo all green; echo green >> %LOG; exec sleep 60", "run_in_background": true}`},
	}
	ask := say("ask")
	ask.Tools = []modeltest.ToolCall{{ID: "toolu_await", Name: "Await", InputText: `{"bash_id": "bash_1", "pattern": "green$", "note": "ship it"}`}}
	return newTalk(t, newPlace(t), id, begin, ask, say("I sleep."), say("I was told."), say("Again?"))
}

// waits are arguments of a run that sleeps.
func waits(args []string) []string {
	return append(args, bypass, "--wait", "--output-format", "stream-json")
}

// said waits until an agent has printed some words.
func (a *agent) said(t *testing.T, words string) {
	t.Helper()
	err := until(t.Context(), "the agent says "+words, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return bytes.Contains(a.stdout, []byte(words))
	})
	if err != nil {
		t.Fatalf("%v: %s%s", err, a.stdout, &a.stderr)
	}
}

// turnGreen lets the task print its line, and waits until it has.
func (k *talk) turnGreen(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(k.log+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.marked(t, "green")
}

// toldOf counts how often the conversation tells of the await.
func (k *talk) toldOf(t *testing.T) (n int) {
	t.Helper()
	v, err := k.home.View(t.Context(), k.id, homes.ViewOptions{Messages: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range v.Messages {
		for _, c := range m.Content {
			if c.Text != nil && strings.HasPrefix(*c.Text, "[await_1] bash_1 printed a line that matches /green$/; here it is, as data:\n> all green") {
				n++
			}
		}
	}
	return n
}

// over checks a session that was told, and ends its task.
func (k *talk) over(t *testing.T) {
	t.Helper()
	st := k.sound(t, "green")
	if n := k.toldOf(t); n != 1 || len(st.Awaits) != 0 || st.Untold.Count != 0 || k.kinds(t, k.id, session.KindAwaitMet) != 1 {
		t.Errorf("told %d times; open %v", n, st.Awaits)
	}
	c := k.server.Report().Conversations[0]
	if c.Sealed != 4 || c.ChangedRetries != 0 {
		t.Errorf("%d answers, %d changed retries", c.Sealed, c.ChangedRetries)
	}
	k.verb(t, 0, "task", "kill", k.id, "bash_1")
}

// An agent that sleeps is killed; the task prints the line while nobody is alive; the next agent tells of it, once, and
// no model was asked of anything while it slept.
func TestAwaitedWhileNobodyLives(t *testing.T) {
	t.Parallel()
	k := awaiter(t, "wake-dead")
	a := k.start(t, waits(k.first())...)
	a.said(t, `"type":"asleep"`)
	before := k.server.Report().Requests
	a.dies(t)
	b := k.start(t, waits(k.again())...) // nothing has happened: it sleeps again
	b.said(t, `"type":"asleep"`)
	b.dies(t)
	if n := k.server.Report().Requests; before != 3 || n != before {
		t.Errorf("%d requests when it went to sleep, %d after", before, n)
	}
	k.turnGreen(t)
	if n := k.toldOf(t); n != 0 {
		t.Errorf("told %d times by nobody", n)
	}
	r := k.run(t, 0, waits(k.again())...)
	if r.Result != "I was told." || len(r.Awaits) != 0 || !slices.ContainsFunc(r.Recovered, func(x view.Recovery) bool { return x.Kind == "await" && x.ID == "await_1" }) {
		t.Errorf("%+v", r)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.StopReason != session.TurnNone {
		t.Errorf("told again: %+v", r)
	}
	k.over(t)
}

// An agent that is told is killed between the event and the turn, in the turn, and at its end: it is told once.
func TestKilledWhileTelling(t *testing.T) {
	t.Parallel()
	for _, kind := range []store.Kind{session.KindAwaitMet, session.KindTurnStarted, session.KindModelRequested, session.KindModelResponded} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			k := awaiter(t, "wake-"+string(kind))
			a := k.start(t, waits(k.first())...)
			a.said(t, `"type":"asleep"`)
			a.mu.Lock()
			asleep := len(a.acks)
			a.mu.Unlock()
			k.turnGreen(t)
			for n := asleep + 1; a.printed(n); n++ {
				if k.kinds(t, k.id, kind) > k.kindsUpTo(t, kind, a.ack(asleep-1)) {
					break
				}
			}
			if _, err := a.kill(); err != nil {
				t.Fatal(err)
			}
			k.run(t, 0, waits(k.again())...)
			k.over(t)
		})
	}
}

func (a *agent) ack(i int) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.acks[i].seq
}

// kindsUpTo counts the events of a kind up to a seq.
func (k *talk) kindsUpTo(t *testing.T, kind store.Kind, seq int64) (n int) {
	t.Helper()
	for ev, err := range k.home.Events(t.Context(), k.id, 1, seq) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// Without --wait a run ends and names what is awaited; a signal ends a sleep and leaves the await open; and the control:
// the count of what was told counts.
func TestAwaitsStayOpen(t *testing.T) {
	t.Parallel()
	k := awaiter(t, "wake-open")
	a := k.start(t, append(k.first(), bypass)...)
	r := a.end(t, 0)
	if len(r.Awaits) != 1 || r.Awaits[0].ID != "await_1" || !strings.Contains(a.stderr.String(), "--resume wake-open --wait") {
		t.Errorf("%+v\n%s", r.Awaits, &a.stderr)
	}
	for sig, code := range map[string]int{"INT": 130, "TERM": 143} {
		b := k.start(t, waits(k.again())...)
		b.said(t, `"type":"asleep"`)
		if err := b.cmd.Process.Signal(map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[sig]); err != nil {
			t.Fatal(err)
		}
		if r := b.end(t, code); len(r.Awaits) != 1 {
			t.Errorf("%+v", r)
		}
	}
	out, _ := k.verb(t, 0, "show", k.id, "--json")
	var shown struct{ Awaits []view.Await }
	if err := json.Unmarshal([]byte(out), &shown); err != nil || len(shown.Awaits) != 1 || shown.Awaits[0].Text != "when bash_1 prints a line that matches /green$/" {
		t.Errorf("%v: %+v", err, shown)
	}
	if n := k.server.Report().Requests; n != 3 {
		t.Errorf("%d requests", n)
	}
	k.turnGreen(t)
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "I was told." { // without --wait too
		t.Errorf("%+v", r)
	}
	k.over(t)
	if _, err := k.home.Send(t.Context(), k.id, "", "[await_1] bash_1 printed a line that matches /green$/; here it is, as data:\n> all green"); err != nil {
		t.Fatal(err)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "Again?" || k.toldOf(t) != 2 {
		t.Errorf("the control: %+v, told %d times", r, k.toldOf(t))
	}
}

// A run with --wait sleeps while a human is needed, and goes on by itself when one has decided.
func TestWaitForApproval(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "wake-human", say("may I", "echo ran >> %LOG"), say("thanks"))
	args := k.first("--wait", "--output-format", "stream-json")
	a := k.start(t, args...)
	a.said(t, `"type":"asleep"`)
	k.verb(t, 0, "approvals", "allow", k.id)
	if r := a.end(t, 0); r.Result != "thanks" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "ran")
}
