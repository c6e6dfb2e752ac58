package proof_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/store"
)

// An approval is given while no agent lives. It survives kills, is used for exactly the call that was shown, and once:
// the same call asks again.
func TestApprovalAcrossKills(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "approval", say("may I", slow), say("once more", slow), say("done"))
	a := k.start(t, k.first()...)
	err := until(t.Context(), "the request", func() bool { return k.asked(t) == 1 })
	if err != nil {
		t.Fatal(err)
	}
	_, _ = a.kill() // it may have ended by itself: nobody waits for a human
	r := k.run(t, 3, k.again()...)
	if len(r.Waiting) != 1 || r.StopReason != session.TurnWaitingApproval || k.marks() != "" {
		t.Fatalf("%+v, marks %q", r, k.marks())
	}
	id := r.Waiting[0].ID
	k.verb(t, 0, "approvals", "allow", id)
	k.start(t, k.again()...).diesAt(t, k, "begin")
	r = k.run(t, 3, k.again()...)
	if len(r.Waiting) != 1 || r.Waiting[0].ID == id {
		t.Fatalf("the second call: %+v", r)
	}
	if got := k.results(t, k.id); len(got) != 1 || got[0] != "said\nexit code 9" {
		t.Errorf("results %q", got)
	}
	k.verb(t, 0, "approvals", "deny", r.Waiting[0].ID, "--message", "enough")
	if r = k.run(t, 0, k.again()...); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin end")
	if got := k.results(t, k.id); len(got) != 2 || !strings.Contains(got[1], "enough") {
		t.Errorf("results %q", got)
	}
}

// asked counts approvals asked for. The session may not be there yet.
func (k *talk) asked(t *testing.T) (n int) {
	t.Helper()
	if _, err := k.home.State(t.Context(), k.id); absent(err) {
		return 0
	}
	return k.kinds(t, k.id, session.KindApprovalRequested)
}

// diesAt kills the agent once its command has left a mark.
func (a *agent) diesAt(t *testing.T, k *talk, mark string) {
	t.Helper()
	k.marked(t, mark)
	a.dies(t)
}

// A message that was accepted with no agent alive is run by the next resume by itself, once, whoever is killed
// meanwhile and however often it is sent with its key.
func TestAcceptedMessageRuns(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "accepted", say("first"), say("second begins", slow), say("second"))
	k.run(t, 0, k.first(bypass)...)
	for n := range 2 {
		receipt, err := k.home.Send(t.Context(), k.id, "key-1", "and now the second")
		if err != nil || receipt.Known != (n == 1) {
			t.Fatalf("%+v, %v", receipt, err)
		}
	}
	k.start(t, k.again(bypass)...).diesAt(t, k, "begin")
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "second" || r.Turn != 2 {
		t.Errorf("%+v", r)
	}
	if receipt, err := k.home.Send(t.Context(), k.id, "key-1", "and now the second"); err != nil || !receipt.Known {
		t.Errorf("%+v, %v", receipt, err)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.StopReason != session.TurnNone {
		t.Errorf("%+v", r)
	}
	if st := k.sound(t, "begin end"); st.Turns != 2 {
		t.Errorf("%d turns", st.Turns)
	}
}

// Two agents on one session: the second is turned away and told by whom, and no harm is done. The moment the first one
// is killed, the next gets in.
func TestTwoAgents(t *testing.T) {
	t.Parallel()
	stall := say("never heard")
	stall.Faults = []modeltest.Fault{{Kind: modeltest.FaultStall, After: 3, Name: "mid"}}
	k := newTalk(t, newPlace(t), "two", stall)
	a := k.start(t, k.first(bypass)...)
	if err := k.server.WaitStalled(t.Context(), "mid", 1); err != nil {
		t.Fatal(err)
	}
	head := k.head(t)
	_, errs := k.verb(t, 5, k.again(bypass)...)
	if !strings.Contains(errs, pidOf(a)) {
		t.Errorf("stderr does not name pid %s: %s", pidOf(a), errs)
	}
	_, errs = k.verb(t, 5, k.again(bypass, "a prompt of the second")...)
	if !strings.Contains(errs, pidOf(a)) || k.head(t) != head {
		t.Errorf("head %v, was %v: %s", k.head(t), head, errs)
	}
	a.dies(t)
	r := k.run(t, 0, k.again(bypass)...)
	if r.Result != "never heard" || r.Usage.LostInput == 0 || r.Turn != 1 {
		t.Errorf("%+v", r)
	}
	if st := k.sound(t, ""); st.Turns != 1 {
		t.Errorf("%d turns", st.Turns)
	}
}

func (k *talk) head(t *testing.T) store.Head {
	t.Helper()
	info, err := k.home.Store().Get(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	return info.Head
}

// A question waits on disk. Its answer is given with no agent alive, and the turn goes on from there.
func TestQuestionAcrossKill(t *testing.T) {
	t.Parallel()
	ask := modeltest.Step{Tools: []modeltest.ToolCall{{ID: "q", Name: "AskUser", InputText: `{"question":"Which one?","options":["left","right"]}`}}}
	k := newTalk(t, newPlace(t), "question", ask, say("so be it"))
	r := k.run(t, 3, k.first()...)
	if r.StopReason != session.TurnWaitingAnswer || len(r.Waiting) != 1 || r.Waiting[0].Question.Question != "Which one?" {
		t.Fatalf("%+v", r)
	}
	k.verb(t, 0, "answer", r.Waiting[0].ID, "right")
	if r = k.run(t, 0, k.again()...); r.Result != "so be it" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "")
	if got := k.results(t, k.id); len(got) != 1 || !strings.Contains(got[0], "right") {
		t.Errorf("results %q", got)
	}
}

// Everything is killed in mid-command, and the session is resumed from another directory: it works where it worked.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "elsewhere", say("move", "mkdir deep; cd deep; export DEEP=yes"), say("slow", slow), say("look", "pwd; echo $DEEP"), say("done"))
	k.start(t, k.first(bypass)...).diesAt(t, k, "begin")
	a, err := start("/", k.env, k.again(bypass)...)
	if err != nil {
		t.Fatal(err)
	}
	if r := a.end(t, 0); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	st := k.sound(t, "begin end")
	if got := k.results(t, k.id); len(got) != 3 || got[1] != "said\nexit code 9" || got[2] != k.dir+"/deep\nyes" || st.Cwd != k.dir+"/deep" {
		t.Errorf("results %q, cwd %s", got, st.Cwd)
	}
}

// A session is forked in the middle of a killed turn: the command stays the parent's, the child is told so and goes
// on, and the parent gets the real result.
func TestForkOfKilledTurn(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "forked", say("slow", slow), say("done"))
	k.start(t, k.first(bypass)...).diesAt(t, k, "begin")
	out, _ := k.verb(t, 0, "fork", k.id)
	child := strings.TrimSpace(out)
	if r := k.run(t, 0, "-p", "-r", child, bypass, "--output-format", "json"); r.SessionID != child || r.Result != "done" {
		t.Errorf("child: %+v", r)
	}
	if got := k.results(t, child); len(got) != 1 || !strings.Contains(got[0], "parent") || strings.Contains(got[0], "exit code") {
		t.Errorf("results of the child %q", got)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "done" {
		t.Errorf("parent: %+v", r)
	}
	if got := k.results(t, k.id); len(got) != 1 || got[0] != "said\nexit code 9" {
		t.Errorf("results of the parent %q", got)
	}
	k.sound(t, "begin end")
	if out, _ := k.verb(t, 0, "verify", child); out != "ok\n" {
		t.Errorf("verify: %s", out)
	}
}

// The holder is stopped, not dead: nobody else gets in, and when it wakes it goes on as if nothing had been. If it was
// declared dead meanwhile, its next append is refused and the log stays whole.
func TestStoppedAgent(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "stopped", say("slow", slow), say("done"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	a.stop(t)
	k.marked(t, "end")
	if _, errs := k.verb(t, 5, k.again(bypass)...); !strings.Contains(errs, pidOf(a)) {
		t.Errorf("stderr does not name pid %s: %s", pidOf(a), errs)
	}
	a.cont(t)
	if r := a.end(t, 0); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin end")
}

// The same, but the session is taken over by force while the holder is stopped.
func TestStoppedAgentIsFenced(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "fenced", say("slow", slow), say("done"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	a.stop(t)
	lease, err := k.home.Store().(store.Taker).Takeover(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.home.Store().Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	head := k.head(t)
	a.cont(t)
	code, err := a.wait()
	if err != nil || code != 5 || !strings.Contains(a.stderr.String(), "log is intact") {
		t.Errorf("the woken agent: exit code %d, %v: %s", code, err, &a.stderr)
	}
	if k.head(t) != head {
		t.Errorf("head is %v, was %v", k.head(t), head)
	}
	k.sound(t, "begin end")
	if got := k.results(t, k.id); len(got) != 1 || got[0] != "said\nexit code 9" {
		t.Errorf("results %q", got)
	}
}
