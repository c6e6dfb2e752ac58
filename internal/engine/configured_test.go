package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// What an opening brings is in the log where it differs from what the session has, and only there.
func TestOptionsThatChangeNothingLeaveNothing(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("one")))
	p, se := s.start("go")
	must(t, se.Close(t.Context(), ""))
	agent := func(provider, name string) *session.Agent {
		return &session.Agent{Provider: provider, Model: name, MaxTokens: 1000}
	}
	rules := []session.Rule{{Effect: "allow", Text: "Bash(ls)", Source: permission.SourceUser}}
	hour := time.Hour
	before := 0
	for _, c := range []struct {
		name    string
		opt     engine.Options
		changes bool
	}{
		{"nothing", engine.Options{}, false},
		{"a directory", engine.Options{AddDirs: []string{"/d"}}, true},
		{"the same directory", engine.Options{AddDirs: []string{"/d"}}, false},
		{"one more", engine.Options{AddDirs: []string{"/d", "/e"}}, true},
		{"a mode", engine.Options{Mode: permission.ModePlan}, true},
		{"the same mode", engine.Options{Mode: permission.ModePlan}, false},
		{"steps", engine.Options{MaxSteps: new(7)}, true},
		{"the same steps", engine.Options{MaxSteps: new(7)}, true}, // they are counted anew
		{"no steps", engine.Options{MaxSteps: new(0)}, true},
		{"no steps still", engine.Options{MaxSteps: new(0)}, false},
		{"a budget", engine.Options{BudgetNano: new(int64(7))}, true},
		{"the same budget", engine.Options{BudgetNano: new(int64(7))}, false},
		{"compaction", engine.Options{CompactAt: new(7)}, true},
		{"the same compaction", engine.Options{CompactAt: new(7)}, false},
		{"no compaction", engine.Options{NoCompact: new(true)}, true},
		{"no compaction still", engine.Options{NoCompact: new(true)}, false},
		{"what becomes of lost acts, as it is", engine.Options{OnLost: session.OnLostTell}, false},
		{"what becomes of lost acts", engine.Options{OnLost: session.OnLostAsk}, true},
		{"the same of lost acts", engine.Options{OnLost: session.OnLostAsk}, false},
		{"patience", engine.Options{RetryFor: &hour}, true},
		{"the same patience", engine.Options{RetryFor: &hour}, false},
		{"the same model", engine.Options{Agent: agent("stage", "m")}, false},
		{"another model", engine.Options{Agent: agent("stage", "n")}, true},
		{"another provider", engine.Options{Agent: agent("other", "n")}, true},
		{"a root", engine.Options{Root: "/r"}, true},
		{"the same root", engine.Options{Root: "/r"}, false},
		{"a directory to run in", engine.Options{Cwd: "/c"}, true},
		{"the same to run in", engine.Options{Cwd: "/c"}, false},
		{"rules", engine.Options{SetRules: true, Rules: rules}, true},
		{"the same rules", engine.Options{SetRules: true, Rules: rules}, false},
		{"no rules", engine.Options{SetRules: true}, true},
		{"rules that are not set", engine.Options{Rules: rules}, false},
	} {
		se := p.open(c.opt)
		n := happened(t, p, session.KindConfigured) + happened(t, p, session.KindPermissionRules)
		if (n > before) != c.changes {
			t.Errorf("%s: %d events", c.name, n-before)
		}
		before = n
		must(t, se.Close(t.Context(), ""))
	}
	if _, err := p.Open(t.Context(), "s", engine.Options{OnLost: "odd"}); err == nil {
		t.Error("opened with a word for lost acts that is none")
	}
	st, err := p.Load(t.Context(), "s")
	must(t, err)
	if got := fmt.Sprintln(st.Directories, st.Config.Mode, st.Agent.Provider, st.Agent.Model, st.Config.Root, st.Cwd, *st.Config.RetryForMS, st.Config.CompactAt); got !=
		"[/d /e] plan other n /r /c 3600000 7\n" {
		t.Errorf("the session has %s", got)
	}
}

// Whoever brings another model is told that what the old one thought is not shown to it, if it thought anything.
func TestThinkingIsNotShownToAnotherModel(t *testing.T) {
	for _, thought := range []bool{false, true} {
		blocks := []model.Block{text("one")}
		if thought {
			blocks = []model.Block{thinking("hm"), text("one")}
		}
		s := newStage(t, reply(modelapi.StopEndTurn, blocks...))
		p, se := s.start("go")
		run(t, se)
		must(t, se.Close(t.Context(), ""))
		se = p.open(engine.Options{Agent: &session.Agent{Provider: "stage", Model: "n", MaxTokens: 1000}})
		if said := strings.Contains(reported(se), "the thinking of stage/m is not shown to the new model"); said != thought {
			t.Errorf("thought %v: reported\n%s", thought, reported(se))
		}
		must(t, se.Close(t.Context(), ""))
	}
}

// A session whose root went is told from one that only works elsewhere now: what it knows of paths goes along.
func TestARootThatWentIsRenamed(t *testing.T) {
	for _, went := range []bool{false, true} {
		s := newStage(t)
		if !went {
			s.files.m["/w"] = nil
		}
		p, se := s.start("go")
		must(t, se.Close(t.Context(), ""))
		must(t, p.open(engine.Options{Root: "/x"}).Close(t.Context(), ""))
		b := p.log(session.KindConfigured)
		if c := b[len(b)-1].(*session.Configured); c.Renamed != went {
			t.Errorf("went %v: %+v", went, c)
		}
	}
}

// The bound of a reply is what the model may say, and no more than the window has room for.
func TestTheBoundOfAReplyShrinks(t *testing.T) {
	for _, c := range []struct{ window, most, want int64 }{{0, 1000, 1000}, {100_000, 1000, 1000}, {9000, 8000, 0}} {
		s := newStage(t, reply(modelapi.StopEndTurn, text("one")))
		s.spec = func(sp *engine.Spec) { sp.Agent.Window, sp.Agent.MaxTokens = c.window, c.most }
		_, se := s.start("go")
		run(t, se)
		got := s.last().MaxTokens
		if c.want == 0 && (got <= 0 || got >= c.most || got > c.window-int64(len(s.last().Tools))/8) || c.want > 0 && got != c.want {
			t.Errorf("window %d, at most %d: %d", c.window, c.most, got)
		}
	}
}

// The first events of a session are taken whole or not at all: one that does not fit is refused, and no session is there.
func TestASessionThatDoesNotFitIsNotMade(t *testing.T) {
	p := newStage(t).process()
	spec := engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage", Model: "m"}, Events: []session.Body{&session.TurnEnded{N: 7}}}
	if _, err := p.Create(t.Context(), spec); err == nil {
		t.Error("a session ends a turn that it has not begun")
	}
	if _, err := p.store.Get(t.Context(), "s"); err == nil {
		t.Error("half a session is there")
	}
}

// An item without a key has one of its own, so that it is taken, and two of them are two.
func TestItemsHaveKeys(t *testing.T) {
	p := newStage(t).process()
	fact := &session.FactAdded{Fact: session.Fact{Text: "f"}}
	a, err := p.NewItem("", person, fact)
	must(t, err)
	b, err := p.NewItem("", person, fact)
	must(t, err)
	if a.Key == "" || a.Key == b.Key || a.Digest != b.Digest {
		t.Errorf("%+v, %+v", a, b)
	}
	if one, two := p.NewKey(), p.NewKey(); one == "" || one == two {
		t.Errorf("keys %q and %q", one, two)
	}
	named, err := p.NewItem("k", person, fact)
	if must(t, err); named.Key != "k" || named.Kind != session.KindFactAdded {
		t.Errorf("%+v", named)
	}
}
