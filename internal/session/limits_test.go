package session

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// stepping is a session in a turn whose newest reply made a call that is settled: the next thing is a model call.
func stepping(change func(*State)) *State {
	s := New("s")
	s.Lifecycle = LifecycleOpen
	s.Turn = &Turn{N: 1, Step: 5, Model: &ModelCall{ID: "t1.s5.b0.a1", Status: CallResponded, Stop: modelapi.StopToolUse}, Calls: []Call{{Outcome: OutcomeOK, State: ActDone}}}
	s.Context.Replies = 5
	change(s)
	return s
}

// A limit keeps the next model call from being made when it would go over it, and not one step, token or cent before.
func TestWhereALimitHalts(t *testing.T) {
	price := &model.Price{Input: 2, Output: 3}
	for name, c := range map[string]struct {
		change func(*State)
		stop   string
	}{
		"no limit":               {func(*State) {}, ""},
		"steps left":             {func(s *State) { s.Config.MaxSteps = 6 }, ""},
		"no steps left":          {func(s *State) { s.Config.MaxSteps = 5 }, TurnMaxSteps},
		"steps since a resume":   {func(s *State) { s.Config.MaxSteps, s.Turn.StepBase = 5, 1 }, ""},
		"the same step again":    {func(s *State) { s.Config.MaxSteps, s.Turn.Model.Status = 5, CallLost }, ""},
		"the first step":         {func(s *State) { s.Config.MaxSteps, s.Turn.Step, s.Turn.Model = 1, 0, nil }, ""},
		"a budget of no price":   {func(s *State) { s.Config.BudgetNano = 1 << 40 }, TurnMaxBudget},
		"a price, no budget":     {func(s *State) { s.Agent.Price, s.Spent = price, 1<<40 }, ""},
		"just within the budget": {func(s *State) { s.Agent.Price, s.Spent, s.Config.BudgetNano = price, 100, 100+2*s.Estimate()+3*1024 }, ""},
		"just over the budget":   {func(s *State) { s.Agent.Price, s.Spent, s.Config.BudgetNano = price, 101, 100+2*s.Estimate()+3*1024 }, TurnMaxBudget},
		"a call is under way":    {func(s *State) { s.Config.MaxSteps, s.Turn.Model.Status = 5, CallRequested }, ""},
		"a call is open":         {func(s *State) { s.Config.MaxSteps, s.Turn.Calls[0].Outcome = 5, "" }, ""},
		"nothing is to be said":  {func(s *State) { s.Config.MaxSteps, s.Turn.Calls = 5, nil }, ""},
		"a paused reply":         {func(s *State) { s.Config.MaxSteps, s.Turn.Calls, s.Turn.Model.Stop = 5, nil, modelapi.StopPause }, TurnMaxSteps},
		"cancelled":              {func(s *State) { s.Config.MaxSteps, s.Turn.Cancel = 5, &store.Actor{} }, ""},
		"failed":                 {func(s *State) { s.Turn.Model.Status = CallFailed }, TurnError},
		"failed, tried again":    {func(s *State) { s.Turn.Model.Status, s.Turn.Model.RetryAt = CallFailed, 7 }, ""},
		"too long": {func(s *State) {
			s.Turn.Model.Status, s.Turn.Model.Class, s.Config.NoCompact = CallFailed, "context", true
		}, TurnContextLimit},
		"too long, made shorter": {func(s *State) { s.Turn.Model.Status, s.Turn.Model.Class = CallFailed, "context" }, ""},
		"a summary that failed": {func(s *State) {
			s.Compaction = &Compaction{Reason: CompactAsked, Model: &ModelCall{Status: CallFailed}}
		}, TurnError},
		"a handoff that failed":  {func(s *State) { s.Compaction = &Compaction{Reason: ForHandoff, Model: &ModelCall{Status: CallFailed}} }, ""},
		"no room, no compaction": {func(s *State) { s.Agent.Window, s.Config.NoCompact = s.Estimate()+1023, true }, TurnContextLimit},
		"room, no compaction":    {func(s *State) { s.Agent.Window, s.Config.NoCompact = s.Estimate()+1024, true }, ""},
	} {
		s := stepping(c.change)
		if stop, why := s.Halt(); stop != c.stop || (why == "") != (stop == "" || strings.HasPrefix(name, "failed") || strings.HasPrefix(name, "too long") || strings.HasPrefix(name, "a summary")) {
			t.Errorf("%s: %q (%s), want %q", name, stop, why, c.stop)
		}
		if calls := len(Next(s)) > 0; c.stop != "" && calls {
			t.Errorf("%s: %+v follows", name, Next(s))
		}
	}
}

// A conversation is compacted when the next request has as many tokens as its mark, at a level that has not been tried in
// vain, and as long as there is anything to leave out.
func TestWhenAConversationIsCompacted(t *testing.T) {
	crowdedBy := func(n int64) func(*State) {
		return func(s *State) { s.Agent.Window, s.Context.Tokens = 10_000, 7999+n }
	}
	over := func(o Overlay) func(*State) {
		return func(s *State) { crowdedBy(0)(s); s.Overlay = &o }
	}
	for name, c := range map[string]struct {
		change func(*State)
		reason string
		level  int
	}{
		"at the mark":               {crowdedBy(0), CompactThreshold, LevelWhole},
		"below it":                  {crowdedBy(-1), "", 0},
		"above another":             {func(s *State) { crowdedBy(-3000)(s); s.Config.CompactAt = 500 }, CompactThreshold, LevelWhole},
		"below another":             {func(s *State) { crowdedBy(-3001)(s); s.Config.CompactAt = 500 }, "", 0},
		"of no known window":        {func(s *State) { crowdedBy(0)(s); s.Agent.Window = 0 }, "", 0},
		"off":                       {func(s *State) { crowdedBy(0)(s); s.Config.NoCompact = true }, "", 0},
		"without a reply":           {func(s *State) { crowdedBy(0)(s); s.Context.Replies = 0 }, "", 0},
		"after one that helped":     {over(Overlay{Measured: 7999}), CompactThreshold, LevelWhole},
		"after one that did not":    {over(Overlay{Measured: 8000}), CompactThreshold, LevelCut},
		"after two that did not":    {over(Overlay{Measured: 8000, Level: LevelCut}), CompactThreshold, LevelLeast},
		"after all that did not":    {over(Overlay{Measured: 8000, Level: LevelLeast}), "", 0},
		"nothing measured, room":    {over(Overlay{}), "", 0},
		"nothing measured, no room": {func(s *State) { over(Overlay{})(s); s.Context.Tokens = 9000 }, CompactThreshold, LevelCut},
		"asked for":                 {func(s *State) { s.Compaction = &Compaction{Reason: CompactAsked} }, CompactAsked, LevelWhole},
		"asked for nothing":         {func(s *State) { s.Compaction, s.Context.Replies = &Compaction{Reason: CompactAsked}, 0 }, "", 0},
		"too long":                  {func(s *State) { s.Turn.Model.Status, s.Turn.Model.Class = CallFailed, "context" }, CompactOverflow, LevelWhole},
		"too long, compacted since": {func(s *State) {
			s.Turn.Model.Status, s.Turn.Model.Class, s.Turn.Model.Through, s.Overlay = CallFailed, "context", 4, &Overlay{Seq: 5}
		}, "", 0},
		"too long, compacted before": {func(s *State) {
			s.Turn.Model.Status, s.Turn.Model.Class, s.Turn.Model.Through, s.Overlay = CallFailed, "context", 4, &Overlay{Seq: 4, Measured: 5}
		}, CompactOverflow, LevelWhole},
	} {
		s := stepping(c.change)
		if reason, level := s.pressure(); reason != c.reason || level != c.level {
			t.Errorf("%s: %q at level %d, want %q at %d", name, reason, level, c.reason, c.level)
		}
	}
}

// What the API counted for the first request after a compaction is kept, and later ones change nothing about it.
func TestWhatACompactionBroughtIsMeasuredOnce(t *testing.T) {
	for _, c := range []struct {
		u        model.Usage
		estimate int64
		want     int64
	}{{model.Usage{Input: 3, CacheRead: 4, CacheWrite: 5, Output: 100}, 9, 12}, {model.Usage{Output: 100}, 9, 9}} {
		first := &Overlay{N: 1}
		s := &State{Overlay: first}
		s.measure(&ModelCall{Estimate: c.estimate}, c.u)
		s.measure(&ModelCall{Estimate: 77}, model.Usage{Input: 88})
		if s.Overlay.Measured != c.want || first.Measured != 0 {
			t.Errorf("%+v: %d, the copy before has %d", c, s.Overlay.Measured, first.Measured)
		}
	}
	(&State{}).measure(&ModelCall{}, model.Usage{Input: 5}) // without a compaction there is nothing to measure
}

// What becomes of an await is an action as soon as the log knows it, before all else; one that is limited in time has its
// wake-up.
func TestWhatBecomesOfAwaits(t *testing.T) {
	task := func(status command.Status, owner string) []Task {
		return []Task{{ID: "bash_1", Act: "a", Session: owner, Ending: command.Ending{Status: status}}}
	}
	end := Await{ID: "await_1", Event: AwaitEnd, Task: "bash_1", TaskAct: "a"}
	line, late, due, inherited := end, end, end, end
	line.Event, late.At, due.Due, inherited.Session = AwaitLine, 99, true, "p"
	again := end
	again.TaskAct = "b"
	for name, c := range map[string]struct {
		a     Await
		tasks []Task
		life  Lifecycle
		want  string // the action's kind and id
	}{
		"it runs":           {end, task(command.Running, ""), LifecycleOpen, ""},
		"it is to start":    {end, task(command.Starting, ""), LifecycleOpen, ""},
		"it ended":          {end, task(command.Exited, ""), LifecycleOpen, "meet await_1"},
		"the parent's":      {end, task(command.Exited, "p"), LifecycleOpen, ""},
		"a line of it":      {line, task(command.Exited, ""), LifecycleOpen, ""},
		"it is not known":   {end, nil, LifecycleOpen, "meet await_1"},
		"another attempt":   {again, task(command.Running, ""), LifecycleOpen, "meet await_1"},
		"its time":          {late, task(command.Running, ""), LifecycleOpen, "wake await_1.wake"},
		"its time has come": {due, task(command.Running, ""), LifecyclePaused, "meet await_1"},
		"inherited":         {inherited, task(command.Running, ""), LifecycleOpen, "drop await_1"},
		"closed":            {end, task(command.Exited, ""), LifecycleClosed, "drop await_1"},
		"archived":          {end, task(command.Running, ""), LifecycleArchived, "drop await_1"},
	} {
		s := New("s")
		s.Lifecycle, s.Tasks, s.Awaits = c.life, c.tasks, []Await{c.a}
		got := ""
		for _, a := range s.awaits(nil) {
			switch do := a.Do.(type) {
			case MeetAwait:
				got += "meet " + a.ID
			case DropAwait:
				got += "drop " + a.ID
				if want := map[bool]string{true: DropFork, false: DropClosed}[c.a.Session != ""]; do.Reason != want {
					t.Errorf("%s: dropped since %s", name, do.Reason)
				}
			case Wake:
				got += "wake " + a.ID
			default:
				t.Errorf("%s: %T", name, do)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A human is asked about what is not settled, not left to another session, and not answered; a cancelled turn asks nobody.
func TestWhatWaitsForAHuman(t *testing.T) {
	answer := "x"
	for name, c := range map[string]struct {
		call Call
		kind string
	}{
		"an approval":     {Call{State: ActAwaitingApproval}, "approval"},
		"a question":      {Call{State: ActWaitingExternal}, "question"},
		"an answered one": {Call{State: ActWaitingExternal, Answer: &answer}, ""},
		"a lost act":      {Call{State: ActBlocked, Question: &Question{}}, "question"},
		"a blocked one":   {Call{State: ActBlocked}, ""},
		"a settled one":   {Call{State: ActAwaitingApproval, Outcome: OutcomeOK}, ""},
		"a parent's":      {Call{State: ActAwaitingApproval, Left: true}, ""},
		"a running one":   {Call{State: ActExecuting, Start: &Start{}}, ""},
	} {
		s := New("s")
		s.Turn = &Turn{N: 1, Calls: []Call{c.call}}
		ws := Waits(s)
		if (len(ws) == 1) != (c.kind != "") || c.kind != "" && ws[0].Kind != c.kind {
			t.Errorf("%s: %+v, want %q", name, ws, c.kind)
		}
		s.Turn.Cancel = &store.Actor{}
		if len(Waits(s)) > 0 {
			t.Errorf("%s: a cancelled turn waits", name)
		}
	}
	if Waits(New("s")) != nil {
		t.Error("no turn waits")
	}
}

// The bounds of what is awaited are what the documents and other versions take them for.
func TestBoundsOfAwaits(t *testing.T) {
	if MaxAwaits != 64 || MaxAwaitPattern != 1000 || MaxAwaitNote != 1000 || MaxAwaitLine != 1024 || MaxAwaitMS != 2_592_000_000 || foldAwaits != 128 {
		t.Error(MaxAwaits, MaxAwaitPattern, MaxAwaitNote, MaxAwaitLine, MaxAwaitMS, foldAwaits)
	}
}

// A compaction that is asked for takes the place of one that is due, unless its summary is asked for already.
func TestAskingForACompaction(t *testing.T) {
	for name, c := range map[string]struct {
		before *Compaction
		want   Compaction
	}{
		"none before":           {nil, Compaction{N: 4, Reason: CompactAsked, Focus: "f"}},
		"one that is due":       {&Compaction{N: 3, Reason: ForHandoff, Focus: "end"}, Compaction{N: 3, Reason: CompactAsked, Focus: "f"}},
		"one that is under way": {&Compaction{N: 3, Reason: CompactThreshold, Model: &ModelCall{}}, Compaction{N: 3, Reason: CompactThreshold}},
	} {
		s := New("s")
		s.Compactions, s.Compaction = 3, c.before
		(&CompactRequested{Focus: "f"}).apply(s, store.Event{})
		if got := s.Compaction; got.N != c.want.N || got.Reason != c.want.Reason || got.Focus != c.want.Focus {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A lifetime is one of three words, or none is given.
func TestLifetimesAreKnown(t *testing.T) {
	for l, known := range map[Lifetime]bool{"": true, LifetimeDetached: true, LifetimeSession: true, LifetimeTurn: true, "ever": false} {
		if l.Known() != known {
			t.Errorf("%q: %t", l, l.Known())
		}
	}
}

// Two states are equal if all that they hold is.
func TestEqualStates(t *testing.T) {
	a, b := New("s"), New("s")
	if !Equal(a, b) {
		t.Error("two new ones differ")
	}
	if b.Facts = []Fact{{Text: "f"}}; Equal(a, b) || Equal(b, a) {
		t.Error("one that knows more is equal")
	}
}

// What a decision is bound to is the same in every version: an approval that was given before an update still holds. No
// two different calls share it.
func TestABindingIsFrozen(t *testing.T) {
	one, none := "1", (*string)(nil)
	seen := map[store.Digest]string{}
	for _, c := range []struct {
		tool, input, cwd string
		env              command.EnvDelta
		want             string
	}{
		{"Bash", `{"command":"ls"}`, "/w", nil, ""},
		{"Bash", `{"command":"ls"}`, "/w", command.EnvDelta{"A": &one, "B": none}, "029a5ba7b2ac7b6a63dd41354943e344baadfddd4de417512f8de34f2e8e08aa"},
		{"Bash", `{"command":"ls"}`, "/w", command.EnvDelta{"A": none, "B": &one}, ""},
		{"Bash", `{"command":"ls"}`, "/", command.EnvDelta{"A": &one}, ""},
		{"Bas", `h{"command":"ls"}`, "/w", nil, ""},
		{"Bash", `{"command":"ls"}/`, "w", nil, ""},
	} {
		d := bindingDigest(c.tool, []byte(c.input), c.cwd, c.env)
		if other, taken := seen[d]; taken {
			t.Errorf("%v shares the binding of %s", c, other)
		}
		seen[d] = c.tool + c.input + c.cwd
		if got := d.String(); c.want != "" && got != c.want {
			t.Errorf("%v: %s, want %s", c, got, c.want)
		}
	}
}

// A fork begins at the newest settled event up to its seq, that one included, and where there is none it cannot begin.
func TestWhereAForkBegins(t *testing.T) {
	log := func() (events []store.Event) {
		chain := Chain{Session: "s"}
		for i, b := range []Body{
			&Opened{ID: "s", Agent: Agent{Provider: "p", Model: "m"}}, &MessageReceived{Content: []model.Part{model.TextPart("go")}}, &TurnStarted{N: 1, Message: 2},
			&ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Through: 3}, &ModelResponded{Act: "t1.s1.b0.a1", Stop: modelapi.StopEndTurn},
		} {
			e, err := chain.Event(store.Actor{Type: store.ActorEngine}, int64(i+1), b)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		return events
	}()
	for at, want := range []int64{0, 1, 2, 3, 3, 5, 5} {
		seq, err := SettledSeq(New("s"), log, int64(at))
		if seq != want || (err == nil) != (want > 0) {
			t.Errorf("at %d: %d, %v; want %d", at, seq, err, want)
		}
	}
	further := New("s")
	for _, e := range log {
		if err := further.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if seq, err := SettledSeq(further, nil, 4); err == nil {
		t.Errorf("a state that has come further gives %d", seq)
	}
}
