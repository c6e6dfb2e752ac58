package session_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// TestApprovalCovers: exactly what was shown, once.
func TestApprovalCovers(t *testing.T) {
	bound, pre, other := store.Sum([]byte("call")), store.Sum([]byte("file")), store.Sum([]byte("other"))
	a := session.Approval{Answered: true, Allow: true, Bound: bound, Pre: pre, Target: "/w/f"}
	d := session.Decision{Bound: bound, Pre: pre, Target: "/w/f"}
	if !a.Covers(d) {
		t.Error("an approval does not cover what was approved")
	}
	for name, change := range map[string]func(*session.Approval){
		"unanswered": func(a *session.Approval) { a.Answered = false },
		"denied":     func(a *session.Approval) { a.Allow = false },
		"spent":      func(a *session.Approval) { a.Spent = true },
		"arguments":  func(a *session.Approval) { a.Bound = other },
		"file":       func(a *session.Approval) { a.Pre = other },
		"target":     func(a *session.Approval) { a.Target = "/w/.git/f" },
	} {
		b := a
		if change(&b); b.Covers(d) {
			t.Errorf("%s: covered", name)
		}
	}
	d.Always = true
	if a.Covers(d) {
		t.Error("a call that asks in every mode by now is covered by an approval that did not show it")
	}
	if a.Always = true; !a.Covers(d) {
		t.Error("a call that asks in every mode is not covered by its approval")
	}
	if (*session.Approval)(nil).Covers(d) {
		t.Error("no approval covers")
	}
}

// TestBindingIsUnambiguous: no two calls that differ in anything are bound alike.
func TestBindingIsUnambiguous(t *testing.T) {
	v, e, vv := "v", "", "vv"
	seen := map[store.Digest]int{}
	for i, c := range []struct {
		tool, input, cwd string
		env              command.EnvDelta
	}{
		{tool: "Bash", input: "x"},
		{tool: "Bashx"},
		{tool: "Bash", cwd: "x"},
		{tool: "Bash", env: command.EnvDelta{"x": nil}},
		{tool: "Bash", env: command.EnvDelta{"x": &e}},
		{tool: "Bash", env: command.EnvDelta{"x": &v}},
		{tool: "Bash", env: command.EnvDelta{"x": &vv}},
		{tool: "Bash", env: command.EnvDelta{"x": nil, "v": nil}},
		{tool: "Bash", env: command.EnvDelta{"x": nil, "v": &e}},
	} {
		s := session.State{Cwd: c.cwd, Env: c.env}
		d := s.Binding(&session.Call{Tool: c.tool, Input: []byte(c.input)})
		if j, there := seen[d]; there {
			t.Errorf("%d is bound as %d", i, j)
		}
		seen[d] = i
	}
}

// TestStaleAnswer: an answer to something else than what is asked now is not taken.
func TestStaleAnswer(t *testing.T) {
	w := called("Edit")
	a := w.st.Call("t1.s1.b2.a1").Approval
	for _, b := range []*session.ApprovalAnswered{
		{Act: "t1.s1.b2.a1", Allow: true, Bound: store.Sum([]byte("other")), Pre: a.Pre},
		{Act: "t1.s1.b2.a1", Allow: true, Bound: a.Bound, Pre: store.Sum([]byte("older"))},
		{Act: "t1.s1.b3.a1", Allow: true, Bound: a.Bound, Pre: a.Pre},
	} {
		faults := len(w.st.Faults)
		if w.append(human, b); len(w.st.Faults) != faults+1 || w.st.Call("t1.s1.b2.a1").State != session.ActAwaitingApproval {
			t.Errorf("%+v was taken", b)
		}
	}
	w.append(human, &session.ApprovalAnswered{Act: "t1.s1.b2.a1", Allow: true, Bound: a.Bound})
	w.append(human, &session.ApprovalAnswered{Act: "t1.s1.b2.a1", Allow: false, Bound: a.Bound})
	if a := w.st.Call("t1.s1.b2.a1").Approval; !a.Allow {
		t.Error("a second answer was taken")
	}
}

// TestForkRightAfter its first event: no bypass, epoch and usage zero, tasks readable but the parent's.
func TestForkRightAfter(t *testing.T) {
	w := called("Bash")
	mode := "bypassPermissions"
	w.append(human, &session.Configured{Mode: &mode})
	w.append(engine,
		&session.TaskStarted{Task: session.Task{ID: "bash_1"}}, &session.TaskRead{Task: "bash_1", Position: 7},
		&session.PermissionGranted{Rule: "Bash(git:*)", Scope: "session"}, &session.TimerSet{ID: session.TimerID("x"), At: 1})
	before := asJSON(w.st)
	c := w.fork("child", int64(len(w.events))).st
	if c.Config.Mode != "default" || c.Epoch != 0 || len(c.Usage) != 0 || c.Spent != 0 || len(c.Timers) != 0 {
		t.Errorf("mode %s, epoch %d, usage %v, spent %d, timers %v", c.Config.Mode, c.Epoch, c.Usage, c.Spent, c.Timers)
	}
	task := c.Task("bash_1")
	if task.Session != "s" || task.Position != 7 || len(c.Permissions.Grants) != 1 {
		t.Errorf("task %+v, grants %v", task, c.Permissions.Grants)
	}
	child := w.fork("child", int64(len(w.events)))
	child.append(human, &session.TaskSignalled{Task: "bash_1", Signal: "SIGKILL", By: "user"})
	if len(child.st.Faults) != 1 || strings.Contains(actionLines(session.Next(child.st)), "kill") {
		t.Errorf("the parent's task is signalled: %v\n%s", child.st.Faults, actionLines(session.Next(child.st)))
	}
	if after := asJSON(w.st); after != before {
		t.Error("forking changed the parent's state")
	}
}

// TestKillTask: a signalled task of one's own is to be ended until it has ended, whoever holds the session.
func TestKillTask(t *testing.T) {
	w := called()
	w.append(engine, &session.TaskStarted{Task: session.Task{ID: "bash_1"}})
	w.append(human, &session.TaskSignalled{Task: "bash_1", Signal: "SIGKILL", By: "user"})
	w.resume()
	if got := actionLines(session.Next(w.st)); !strings.Contains(got, "kill.bash_1") {
		t.Errorf("Next is\n%s", got)
	}
	w.append(engine, &session.TaskExited{Task: "bash_1", State: command.State{Status: command.Killed, Signal: "SIGKILL"}})
	w.append(engine, &session.TaskExited{Task: "bash_1", State: command.State{Status: command.Lost}})
	if got := actionLines(session.Next(w.st)); strings.Contains(got, "kill.bash_1") || w.st.Task("bash_1").Status != command.Killed {
		t.Errorf("Next is\n%stask %+v", got, w.st.Task("bash_1"))
	}
}

// TestLeftActsAreSettled: a child's first seq can be forked from, although its parent's acts are open there.
func TestLeftActsAreSettled(t *testing.T) {
	w := called("Bash")
	a, err := w.action("t1.s1.b2.a1")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.start(a); err != nil {
		t.Fatal(err)
	}
	if w.st.SettledNow() {
		t.Error("a running command is settled")
	}
	if c := w.fork("child", int64(len(w.events))); !c.st.SettledNow() {
		t.Error("what was left to the parent keeps the child from being forked")
	}
	if _, err := session.SettledSeq(session.New("s"), w.events, 0); err == nil {
		t.Error("there is a settled seq before the first event")
	}
	if seq, err := session.SettledSeq(session.New("s"), w.events, 99); err != nil || seq != int64(len(w.events))-1 {
		t.Errorf("settled at %d, %v", seq, err)
	}
}

// TestEstimate counts what the provider did not: bytes since its count, and those that came while it answered.
func TestEstimate(t *testing.T) {
	w := called()
	base := w.st.Estimate()
	note := func() {
		w.append(human, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(strings.Repeat("x", 300))}})
	}
	note()
	if got := w.st.Estimate(); got != base+100 {
		t.Errorf("300 bytes more make %d of %d", got, base)
	}
	w.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart("go on")}})
	s := &script{w: w}
	s.run()
	if err := s.start("start", "t2.s1.b0.a1", nil); err != nil {
		t.Fatal(err)
	}
	note() // not in the request
	w.resume()
	if err := w.settle("t2.s1.b0.a1", "lost"); err != nil {
		t.Fatal(err)
	}
	note()
	if err := s.start("do", "t2.s1.b0.a2", []string{"text", "x", "usage=1000,10"}); err != nil {
		t.Fatal(err)
	}
	if got := w.st.Estimate(); got != 1010+200+1 {
		t.Errorf("after the provider's count, with two notes waiting: %d", got)
	}
	// A server that counts nothing makes nothing of what is there disappear.
	w.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart(strings.Repeat("y", 3000))}})
	s.run()
	before := w.st.Estimate()
	if err := s.start("do", "t3.s1.b0.a1", []string{"text", "x", "usage=0,0"}); err != nil {
		t.Fatal(err)
	}
	if got := w.st.Estimate(); got < before {
		t.Errorf("%d tokens before a call, %d after it", before, got)
	}
}

// TestFirstOutcomeCounts, in the state and in the conversation.
func TestFirstOutcomeCounts(t *testing.T) {
	w := called("Gone") // answered at once: there is no such tool
	w.append(engine, &session.ToolFinished{Act: "t1.s1.b2.a1", Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart("late")}})
	if got := messageLines(w.tr.Upcoming()); !strings.Contains(got, "no such tool") || strings.Contains(got, "late") {
		t.Errorf("the model is told\n%s", got)
	}
	if len(w.st.Faults) != 1 {
		t.Errorf("faults %v", w.st.Faults)
	}
}

// TestOrderOfActs: what an engine must not append is a fault, and changes nothing that was decided.
func TestOrderOfActs(t *testing.T) {
	const act = "t1.s1.b2.a1"
	for name, bodies := range map[string][]session.Body{
		"started twice":        {&session.ToolStarted{Act: act, Start: session.Start{Epoch: 1}}, &session.ToolStarted{Act: act, Start: session.Start{Epoch: 1}}},
		"started unallowed":    {&session.ToolStarted{Act: "t1.s1.b3.a1", Start: session.Start{Epoch: 1}}},
		"started elsewhere":    {&session.ToolDecided{Act: act, Decision: session.Decision{Allow: true, Epoch: 1}}, &session.ToolStarted{Act: act, Start: session.Start{Epoch: 1}}},
		"of an old epoch":      {&session.ToolStarted{Act: act}},
		"void unstarted":       {&session.ToolVoid{Act: act, Reason: "x"}},
		"another attempt":      {&session.ToolFinished{Act: "t1.s1.b2.a2", Outcome: session.OutcomeOK}},
		"of another step":      {&session.ToolFinished{Act: "t1.s9.b1.a1", Outcome: session.OutcomeOK}},
		"left unanswered":      {&session.TurnEnded{N: 1, Stop: "end_turn"}},
		"next step too early":  {&session.ModelRequested{Act: "t1.s2.b0.a1", Turn: 1, Step: 2, Attempt: 1, Epoch: 1, Through: 9}},
		"ended in mid-call":    {&session.ModelRequested{Act: "t2.s1.b0.a1", Turn: 2, Step: 1, Attempt: 1, Epoch: 1}, &session.TurnEnded{N: 2}},
		"of another turn":      {&session.TurnEnded{N: 2, Stop: "end_turn"}},
		"a turn in a turn":     {&session.TurnStarted{N: 2, Message: 3}},
		"an unsent call":       {&session.ModelResponded{Act: "t1.s1.b0.a1", Model: "fake/m"}},
		"epoch goes back":      {&session.Resumed{Epoch: 1}},
		"opened twice":         {&session.Opened{ID: "other"}},
		"forked in the middle": {&session.Forked{ID: "other"}},
		"a timer's id":         {&session.TimerSet{ID: "t1.s1.b0.a1", At: 1}},
		"an unknown task":      {&session.TaskSignalled{Task: "bash_9"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := called("Bash", "Fetch")
			turn := w.st.Turn.N
			if name == "ended in mid-call" {
				w = called()
				w.append(human, &session.MessageReceived{}, &session.TurnStarted{N: 2})
			}
			w.append(engine, bodies...)
			if len(w.st.Faults) == 0 || w.st.ID != "s" {
				t.Errorf("faults %q", w.st.Faults)
			}
			if w.st.Turn != nil && w.st.Turn.N != turn {
				t.Errorf("turn %d became %d", turn, w.st.Turn.N)
			}
		})
	}
}

// TestWhoseApprovalIsSpent: a start that rules allow leaves a human's answer as it is, and one that claims an answer which
// there is none of is a fault.
func TestWhoseApprovalIsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		asked, human bool
		spent        bool
		faults       int
	}{"a rule, beside an answer": {true, false, false, 0}, "the human": {true, true, true, 0}, "nobody": {false, true, false, 1}} {
		t.Run(name, func(t *testing.T) {
			w := called("Fetch")
			call := &w.st.Turn.Calls[0]
			call.Approval = nil
			if c.asked {
				call.Approval = &session.Approval{Answered: true, Allow: true, Bound: w.st.Binding(call)}
			}
			call.Decision = &session.Decision{Allow: true, Human: c.human, Bound: w.st.Binding(call), Epoch: w.st.Epoch}
			w.append(engine, &session.ToolStarted{Act: call.ID, Start: session.Start{Epoch: w.st.Epoch}})
			call = &w.st.Turn.Calls[0]
			if spent := call.Approval != nil && call.Approval.Spent; spent != c.spent || len(w.st.Faults) != c.faults {
				t.Errorf("spent %t, faults %q", spent, w.st.Faults)
			}
		})
	}
}

// TestWindowIsFilled: a request that leaves exactly the room of a reply is sent, one token less is not enough.
func TestWindowIsFilled(t *testing.T) {
	w := newWorld("s")
	s := &script{w: w}
	for _, line := range []string{"open", `message "go"`} {
		if _, err := s.command(tokens(line)); err != nil {
			t.Fatal(err)
		}
	}
	w.append(engine, &session.TurnStarted{N: 1, Message: 3})
	const room = 1024
	w.st.Agent.Window = w.st.Estimate() + room
	if stop, why := w.st.Halt(); stop != "" {
		t.Errorf("it fits, but: %s: %s", stop, why)
	}
	w.st.Agent.Window--
	if stop, _ := w.st.Halt(); stop != session.TurnContextLimit {
		t.Errorf("it does not fit, but: %q", stop)
	}
}
