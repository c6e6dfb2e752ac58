package session_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// elsewhere is a log as another machine may have left it, with all that would have rights or effects here.
func elsewhere(t *testing.T) *session.State {
	t.Helper()
	w := newWorld("s")
	home, bypass, rollback, v := "/home/them/w", "bypassPermissions", session.OnLostRollback, "/tmp/evil.so"
	cmd := session.CommandDigest(nil, "serve", "/home/them/w")
	for _, b := range []session.Body{
		&session.Opened{ID: "s", Owner: "them", Cwd: home, Dirs: []string{home + "/lib", "/etc"}, Config: session.Config{Mode: "acceptEdits", Root: home}},
		&session.PermissionRules{Rules: []session.Rule{{Effect: "allow", Text: "Bash"}, {Effect: "deny", Text: "Fetch"}}, Digest: store.Sum([]byte("x"))},
		&session.PermissionGranted{Rule: "Edit", Scope: "session", Cwd: "/here/w"},
		&session.Configured{Mode: &bypass, OnLost: &rollback},
		&session.FileSeen{File: session.File{Path: home + "/a.go", Use: session.FileRead}},
		&session.FileSeen{File: session.File{Path: "/etc/passwd", Use: session.FileRead}},
		&session.FileSeen{File: session.File{Path: home + "/../../../etc/shadow", Use: session.FileRead}},
		&session.FileSeen{File: session.File{Path: home + "2/b.go", Use: session.FileRead}},
		&session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "t1.s1.b1.a1", Command: "serve", Cwd: home, PID: 1, BootID: "this", Restart: session.RestartOnReboot, Bound: cmd}},
		&session.AwaitSet{Await: session.Await{ID: "await_1", Event: session.AwaitEvent("end"), Task: "bash_1"}},
		&session.ToolFinished{Act: "none", Env: command.EnvDelta{"LD_PRELOAD": &v}},
	} {
		w.append(human, b)
	}
	w.st.Env = command.EnvDelta{"LD_PRELOAD": &v}
	w.st.Faults = nil
	return w.st
}

// Goal: what a log says of rights, of this machine's processes and of paths outside of the session's directory holds for
// nothing once the session was imported.
func TestImportedHasNoRights(t *testing.T) {
	st := elsewhere(t)
	st.ApplyBody(store.Event{Seq: st.Head.Seq + 1, Time: 9000}, &session.Imported{From: "/home/them/w", Root: "/here/w", Cwd: "/here/w"})
	if st.Config.Root != "/here/w" || st.Cwd != "/here/w" || st.Config.Mode != "default" {
		t.Errorf("works in %s, %s in mode %s", st.Config.Root, st.Cwd, st.Config.Mode)
	}
	if st.Config.OnLost != "" {
		t.Errorf("files after a lost act: %s", st.Config.OnLost)
	}
	if p := st.Permissions; len(p.Grants) > 0 || len(p.Rules) != 1 || p.Rules[0].Effect != "deny" {
		t.Errorf("permissions: %+v", p)
	}
	if len(st.Env) > 0 || len(st.Awaits) > 0 || len(st.Timers) > 0 {
		t.Errorf("environment %v, awaits %v", st.Env, st.Awaits)
	}
	if got := slices.Sorted(maps.Keys(st.Files)); !slices.Equal(got, []string{"/here/w/a.go"}) {
		t.Errorf("files: %q", got)
	}
	if !slices.Equal(st.Directories, []string{"/here/w/lib"}) {
		t.Errorf("directories: %q", st.Directories)
	}
	task := st.Task("bash_1")
	if task.Live() || task.PID != 0 || task.BootID != "" || task.Restart != "" || task.Covered() || task.Reason != command.ReasonElsewhere {
		t.Errorf("task: %+v", task)
	}
	if next := session.Next(st); len(next) > 0 {
		t.Errorf("it would start %+v", next)
	}
	if len(st.Faults) > 0 {
		t.Errorf("faults: %q", st.Faults)
	}
}

// How long is tried again and when is compacted are settings that a bundle claims, within what somebody here could have
// set; what lies within it comes back as it was. The system prompt is what the conversation was held under: it stays.
func TestImportedSettingsAreWithinBounds(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		retry, wantRetry   *int64
		at, wantAt         int
		window, wantWindow int64
	}{
		"as a person sets it": {ms(7_200_000), ms(7_200_000), 700, 700, 200_000, 200_000},
		"unset":               {nil, nil, 0, 0, 0, 0},
		"tries once":          {ms(0), ms(0), session.CompactAtLeast, session.CompactAtLeast, 1, 1},
		"below nothing":       {ms(-5), ms(0), -1, 0, -1, 0},
		"almost nothing":      {ms(1), ms(1), 1, session.CompactAtLeast, 1, 1},
		"beyond everything":   {ms(math.MaxInt64), ms(session.LongestRetryMS), math.MaxInt, session.CompactAtMost, math.MaxInt64, 0},
	} {
		w := newWorld("s")
		w.append(human, &session.Opened{
			ID: "s", Cwd: "/w", Agent: session.Agent{System: "You are theirs.", Window: c.window},
			Config: session.Config{Root: "/w", RetryForMS: c.retry, CompactAt: c.at},
		})
		w.append(human, &session.Imported{From: "/w", Root: "/here", Cwd: "/here"})
		st := w.st
		if got := st.Config.RetryForMS; (got == nil) != (c.wantRetry == nil) || got != nil && *got != *c.wantRetry {
			t.Errorf("%s: it tries for %v ms, want %v", name, got, c.wantRetry)
		}
		if st.Config.CompactAt != c.wantAt || st.Agent.Window != c.wantWindow || st.Mark() < 0 {
			t.Errorf("%s: compacts at %d of %d, %d tokens", name, st.Config.CompactAt, st.Agent.Window, st.Mark())
		}
		if st.Agent.System != "You are theirs." || !st.Claimed.Retry || len(st.Faults) > 0 {
			t.Errorf("%s: system %q, claimed %+v, faults %q", name, st.Agent.System, st.Claimed, st.Faults)
		}
		if w.append(human, &session.Configured{RetryForMS: ms(9)}); w.st.Claimed.Retry || *w.st.Config.RetryForMS != 9 {
			t.Errorf("%s: set here, claimed %+v", name, w.st.Claimed)
		}
	}
}

// What waits for a decision is decided anew, and an approval that was given elsewhere is none here.
func TestImportedIsDecidedAnew(t *testing.T) {
	for _, began := range []bool{false, true} {
		importedIsDecidedAnew(t, began)
	}
}

func importedIsDecidedAnew(t *testing.T, began bool) {
	t.Helper()
	w := newWorld("s")
	s := &script{w: w}
	for _, line := range strings.Split(`open price=3
rules ask:Fetch
message "hello"
run
do t1.s1.b0.a1 text "Look." tool Fetch {"n":1}
run
approve t1.s1.b2.a1 allow`, "\n") {
		if _, err := s.command(tokens(line)); err != nil {
			t.Fatalf("%s: %s", line, err)
		}
	}
	if began {
		c := w.st.Call("t1.s1.b2.a1")
		d := session.Decision{Allow: true, Bound: c.Approval.Bound, Epoch: w.st.Epoch, Human: true}
		w.append(human, &session.ToolDecided{Act: c.ID, Effect: c.Effect, Decision: d})
		w.append(human, &session.ToolStarted{Act: c.ID, Start: session.Start{Epoch: w.st.Epoch}})
	}
	w.append(human, &session.Imported{From: "/w", Root: "/here", Cwd: "/here", Text: []byte("moved to /here")})
	if began { // an approval is given back with an act that provably did nothing
		w.append(human, &session.ToolVoid{Act: "t1.s1.b2.a1"})
	}
	c := w.st.Call("t1.s1.b2.a1")
	if c == nil || c.State != session.ActPlanned || c.Decision != nil || c.Approval != nil || len(w.st.Faults) > 0 {
		t.Errorf("began %t: call %+v, %q", began, c, w.st.Faults)
	}
	if h := w.st.Handoff; h == nil || h.Turns != w.st.Turns || h.Step != 1 || w.st.NewsSince(h) || w.st.WorkedBy(w.st.Turn.Started) != 0 {
		t.Errorf("began %t: it owes a handoff for what it did elsewhere: %+v", began, h)
	}
	said := messageLines(w.tr.Upcoming())
	if !strings.Contains(said, "moved to /here") {
		t.Errorf("the model is not told: %s", said)
	}
}

// What was asked of the files elsewhere is not done here, and no tree of elsewhere is taken for what is in the directory
// here: nothing may be overwritten because a bundle says that it was known.
func TestImportedTouchesNoFiles(t *testing.T) {
	undo := int64(1)
	for _, began := range []bool{false, true} {
		st := elsewhere(t)
		chain := session.Chain{Session: st.ID, Head: st.Head}
		add := func(b session.Body) {
			e, err := chain.Event(human, 9000, b)
			if err != nil {
				t.Fatal(err)
			}
			st.ApplyBody(e, b)
		}
		named := captured(session.CaptureNamed, "theirs")
		named.Name, named.Dir = "good", "/here/w"
		add(named)
		add(&session.CheckpointRequested{Name: "more"})
		add(&session.RestoreRequested{Target: tree("evil"), To: "x", Undo: &undo, Force: true})
		if began {
			add(&session.RestoreStarted{Request: st.Head.Seq, Target: tree("evil"), Before: tree("theirs"), Dir: "/here/w"})
		}
		child := session.Fork(st, "x") // what shares with the state must not change with it
		add(&session.Imported{From: "/home/them/w", Root: "/here/w", Cwd: "/here/w"})
		for _, a := range session.Next(st) {
			t.Errorf("began %t: next is %+v", began, a)
		}
		w := st.Workspace
		if w.Restore != nil || len(w.Asked) > 0 || w.Dir != "" || w.Unsure != 0 {
			t.Errorf("workspace %+v", w)
		}
		if c, ok := w.Checkpoint("good"); !ok || c.Tree != tree("theirs") {
			t.Errorf("a checkpoint is lost: %+v", w)
		}
		if child.Workspace.Restore == nil {
			t.Error("what shares with the state has changed")
		}
	}
}

// What a session from elsewhere asks about an act that was lost there is not asked here, and an answer that came with it
// does nothing: which files it would be about is known where it ran.
func TestALostActOfAnImportedSessionIsOver(t *testing.T) {
	for _, answer := range []string{"", session.LostTakeBack} {
		w := newWorld("s")
		act, before := "t1.s1.b1.a1", store.Sum([]byte("before"))
		w.append(human, &session.Opened{ID: "s", Cwd: "/w", Config: session.Config{Root: "/w", OnLost: session.OnLostAsk}},
			&session.Resumed{Epoch: 1}, &session.FilesCaptured{Dir: "/w", Tree: before}, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}},
			&session.TurnStarted{N: 1, Message: 4}, &session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: 1, Through: 5},
			&session.ModelResponded{Act: "t1.s1.b0.a1", Stop: modelapi.StopToolUse, Blocks: []session.SealedBlock{{Type: model.BlockToolUse, ID: "u1", Name: "Out", Input: []byte("{}")}}})
		w.append(engine, &session.ToolDecided{Act: act, Effect: session.EffectExternal, Decision: session.Decision{Allow: true, Bound: w.st.Binding(w.st.Call(act)), Epoch: 1}},
			&session.ToolStarted{Act: act, Start: session.Start{Epoch: 1}})
		w.append(engine, &session.ToolUnknown{Act: act, Asks: session.LostQuestion(w.st.Call(act)), Before: before})
		if len(session.Waits(w.st)) != 1 {
			t.Fatalf("it does not wait: %q", w.st.Faults)
		}
		if answer != "" {
			w.append(human, &session.QuestionAnswered{Act: act, Text: answer}, &session.RestoreRequested{Target: before, To: "before"})
		}
		w.append(engine, &session.Imported{From: "/w", Root: "/here", Cwd: "/here"})
		c := w.st.Call(act)
		if len(session.Waits(w.st)) != 0 || w.st.Workspace.Restore != nil || c.Outcome != session.OutcomeUnknown || answer == "" && c.Question != nil || !c.Before.IsZero() || len(w.st.Faults) > 0 {
			t.Errorf("answered %q: waits %v, restore %v, %+v, faults %q", answer, session.Waits(w.st), w.st.Workspace.Restore, c, w.st.Faults)
		}
		w.append(human, &session.QuestionAnswered{Act: act, Text: session.LostTakeBack})
		if w.st.Workspace.Restore != nil || len(w.st.Faults) != 1 {
			t.Errorf("an answer counts: %+v, %q", w.st.Workspace.Restore, w.st.Faults)
		}
	}
}

// A handoff that says all that a session did elsewhere is its newest here, too; where there was news since, it is owed by
// nobody. Neither is looked for as a file of this home.
func TestAnImportedHandoffIsSettled(t *testing.T) {
	for _, news := range []bool{false, true} {
		w := newWorld("s")
		w.append(human, &session.Opened{ID: "s", Cwd: "/w", Config: session.Config{Root: "/w"}}, &session.Resumed{Epoch: 1})
		w.append(engine, &session.HandoffWritten{Why: session.HandoffAsked, Text: []byte("all")})
		written := w.st.Head.Seq
		if news {
			w.append(human, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}})
			w.append(engine, &session.TurnStarted{N: 1, Message: written + 1})
		}
		w.append(engine, &session.ContextGiven{Why: session.GivenStart, Texts: []session.GivenText{
			{Name: session.GivenInstructions, Path: "/w/AGENTS.md", Digest: store.Digest{1}, Text: []byte("x")},
			{Name: session.GivenHandoff, Path: "/w/handoff.md", Digest: store.Digest{2}, Text: []byte("y")},
		}})
		shared, given := w.st.Handoff, w.st.Given
		w.append(engine, &session.Imported{From: "/w", Root: "/here", Cwd: "/here"})
		h, want := w.st.Handoff, session.Handoff{Seq: w.st.Head.Seq, Turns: 1, Settled: true}
		if !news {
			want = session.Handoff{Seq: written, Why: session.HandoffAsked, Settled: true}
		}
		if want.Time = h.Time; *h != want || w.st.NewsSince(h) || shared.Settled || len(w.st.Faults) > 0 {
			t.Errorf("news %t: %+v, want %+v; what was shared: %+v, %q", news, h, want, shared, w.st.Faults)
		}
		if g := w.st.Given; len(g) != 2 || g[0].Digest.IsZero() || !g[1].Digest.IsZero() || given[1].Digest.IsZero() {
			t.Errorf("news %t: given %+v; what was shared: %+v", news, g, given)
		}
	}
}
