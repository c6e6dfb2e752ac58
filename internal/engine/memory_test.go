package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
)

// remembering is a stage whose sessions have a memory on disk.
func remembering(t *testing.T, replies ...*modelapi.Response) (*stage, func() *knowledge.Memory, *func(string) error) {
	s := newStage(t, replies...)
	home, dir := t.TempDir(), t.TempDir()
	fault := new(func(string) error)
	*fault = func(string) error { return nil }
	open := func() *knowledge.Memory {
		m, err := knowledge.Open(knowledge.Config{Home: home, Dir: dir, Fault: func(step string) error { return (*fault)(step) }})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	s.tools = append(tools.Builtin(), tools.MemoryTool())
	s.config = func(c *engine.Config) {
		c.Memory = func(root string) (tools.Memory, error) {
			if root != "/w" {
				t.Errorf("the memory of %q was asked for", root)
			}
			return open(), nil
		}
	}
	return s, open, fault
}

// Goal: a change of the memory that an agent dies in is made once: it is finished, and its words come from what it did.
func TestMemoryAcrossDeath(t *testing.T) {
	for _, step := range []string{"intent", "renamed pending.json", "renamed a.md", "close", "closed", "after"} {
		s, open, fault := remembering(t,
			reply(modelapi.StopToolUse, use("a", "memory", `{"command":"create","path":"/memories/a.md","file_text":"x"}`)),
			reply(modelapi.StopEndTurn, text("done")))
		p, se := s.start("go")
		ctx, die := context.WithCancel(t.Context())
		died := false
		*fault = func(at string) error {
			if died || at != step && (step != "after" || at != "closed") {
				return nil
			}
			died = true
			p.store.Kill() // nothing of this life is acknowledged any more
			die()
			if step == "after" {
				return nil
			}
			return errors.New("dead")
		}
		_ = se.Run(ctx)
		if !died {
			t.Fatalf("%s: the agent lives", step)
		}
		p = s.process()
		st := run(t, p.open(engine.Options{}))
		got := st.Settled[len(st.Settled)-1]
		if got.Outcome != session.OutcomeOK || got.Tool != "memory" {
			t.Errorf("%s: %+v", step, got)
		}
		if asked := render(s.last().Messages); !strings.Contains(asked, "File created successfully at: /memories/a.md") {
			t.Errorf("%s: the model is told\n%s", step, asked)
		}
		log, err := open().Project.Log()
		if err != nil || len(log) != 1 || log[0].By.Session != "s" || log[0].By.Seq == 0 {
			t.Errorf("%s: %d changes, %v: %+v", step, len(log), err, log)
		}
	}
}

// Goal: looking is a read and changing is not; rules hold for both, plan mode for changes.
func TestMemoryIsDecided(t *testing.T) {
	view, make := use("a", "memory", `{"command":"view","path":"/memories"}`), use("b", "memory", `{"command":"create","path":"/memories/a.md","file_text":"x"}`)
	for _, c := range []struct {
		mode string
		rule string
		want [2]session.Outcome
	}{
		{"default", "", [2]session.Outcome{session.OutcomeOK, session.OutcomeOK}},
		{"plan", "", [2]session.Outcome{session.OutcomeOK, session.OutcomeDenied}},
		{"acceptEdits", "memory", [2]session.Outcome{session.OutcomeDenied, session.OutcomeDenied}},
	} {
		s, _, _ := remembering(t, reply(modelapi.StopToolUse, view, make), reply(modelapi.StopEndTurn, text("done")))
		s.spec = func(sp *engine.Spec) { sp.Mode = session.Mode(c.mode) }
		p, se := s.start("go")
		if c.rule != "" {
			p.store.Kill()
			p = s.process()
			se = p.open(engine.Options{SetRules: true, Rules: []session.Rule{{Effect: "deny", Text: c.rule, Source: "user"}}})
		}
		st := run(t, se)
		if len(st.Settled) != 2 || st.Settled[0].Outcome != c.want[0] || st.Settled[1].Outcome != c.want[1] ||
			st.Settled[0].Effect != session.EffectRead || st.Settled[1].Effect != session.EffectExternal {
			t.Errorf("%+v: %+v", c, st.Settled)
		}
		if !strings.Contains(string(st.Agent.Tools), `"name":"memory"`) {
			t.Error("the session is not offered the tool")
		}
	}
}

// Goal: a session without a memory is not told of the tool; one that was, and has none any more, is told so.
func TestMemoryThatIsNotThere(t *testing.T) {
	s, _, _ := remembering(t, reply(modelapi.StopToolUse, use("a", "memory", `{"command":"view","path":"/memories"}`)), reply(modelapi.StopEndTurn, text("done")))
	s.config = nil
	_, se := s.start("go")
	st := run(t, se)
	if strings.Contains(string(st.Agent.Tools), `"name":"memory"`) || !strings.Contains(render(s.last().Messages), "There is no memory here") {
		t.Errorf("tools %s\n%s", st.Agent.Tools, render(s.last().Messages))
	}
}

// Goal: a rewrite that would drop most of a file of the memory waits for a person, in every mode; what they deny is not
// made, what they allow is. (A peer's "rest unchanged" rewrote a file of 750 lines to a tenth.)
func TestAShrinkingRewriteIsAsked(t *testing.T) {
	var long []string
	for i := range 20 {
		long = append(long, fmt.Sprintf("line %d", i))
	}
	text20 := strings.Join(long, "\\n")
	for _, allow := range []bool{true, false} {
		s, open, _ := remembering(t,
			reply(modelapi.StopToolUse, use("a", "memory", `{"command":"create","path":"/memories/a.md","file_text":"`+text20+`"}`)),
			reply(modelapi.StopToolUse, use("b", "memory", `{"command":"str_replace","path":"/memories/a.md","old_str":"`+strings.Join(long[1:19], "\\n")+`","new_str":"[the rest as before]"}`)),
			reply(modelapi.StopEndTurn, text("done")))
		p, se := s.start("go")
		st := run(t, se)
		waits := session.Waits(st)
		if len(waits) != 1 || st.Turn == nil {
			t.Fatalf("%d wait, %+v", len(waits), st.Settled)
		}
		p.send("answer", &session.ApprovalAnswered{Act: "t1.s2.b1.a1", Allow: allow, Bound: waits[0].Call.Approval.Bound, Pre: waits[0].Call.Approval.Pre})
		st = run(t, se)
		got, _, err := open().Do(t.Context(), knowledge.Command{Name: "view", Path: "/memories/a.md"}, knowledge.By{})
		if err != nil || strings.Contains(got, "rest as before") != allow || strings.Contains(got, "line 7") == allow {
			t.Errorf("allowed %v: %v\n%s\n%+v", allow, err, got, st.Settled)
		}
	}
}
