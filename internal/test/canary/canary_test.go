package canary_test

import (
	"context"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/model"
)

// Goal: sixty texts that pretend to be more than data stand in a command's output, in names of files, in a handoff, in the
// memory, in the journal, in a summary, in the plan and in a task's command line: none of them gets into the system prompt,
// becomes a right, speaks for the user, is remembered without a person, or controls a terminal.
func TestNoCanaryGetsOut(t *testing.T) {
	s := tell(t)
	if len(s.texts) < 60 {
		t.Fatalf("%d texts", len(s.texts))
	}
	if len(s.requests) != 7 {
		t.Fatalf("%d requests", len(s.requests))
	}
	for i, r := range s.requests {
		if r.System != systemPrompt || len(inPrompt(s.texts, r)) > 0 {
			t.Errorf("request %d: in the system prompt: %q", i, inPrompt(s.texts, r))
		}
		if out := spokenFor(s.texts, r); len(out) > 0 {
			t.Errorf("request %d: got out: %q", i, out)
		}
	}
	st := s.state()
	if out := inRights(s.texts, st); len(out) > 0 {
		t.Errorf("rights: %q", out)
	}
	s.everywhere(st)
	s.briefed()
	s.nothingIsRemembered()
	s.shownHarmless()
	if out := inRights(s.texts, s.state()); len(out) > 0 {
		t.Errorf("rights after a person looked: %q", out)
	}
}

// everywhere says that the story did put the canaries where they are looked for.
func (s *story) everywhere(st *session.State) {
	s.T.Helper()
	last := s.requests[len(s.requests)-1]
	compacted := ""
	for _, b := range last.Messages[0].Blocks {
		compacted += b.Text
	}
	results := ""
	for _, m := range s.requests[4].Messages {
		for _, b := range m.Blocks {
			if b.Result != nil {
				results += model.Text(b.Result.Content)
			}
		}
	}
	var plan, facts string
	for _, p := range st.Plan {
		plan += p.Content
	}
	for _, f := range st.Facts {
		if facts += f.Text; f.Provenance == "model" && strings.Count(f.Text, " ") > 4 {
			s.T.Errorf("the fact %q is said to be the model's", f.Text)
		}
	}
	if len(st.Tasks) == 0 {
		s.T.Fatalf("no task: %s", results)
	}
	for where, held := range map[string]string{"results": results, "plan": plan, "facts": facts, "task": st.Tasks[0].Command} {
		if n := len(in(s.texts, held)); n != len(s.texts) {
			s.T.Errorf("%s: %d of %d canaries are there", where, n, len(s.texts))
		}
	}
	for _, name := range []string{window.PartPlan, window.PartFacts, window.PartLive, window.PartSummary} {
		_, after, ok := strings.Cut(compacted, "<"+name+">\n")
		held, _, _ := strings.Cut(after, "\n</"+name+">")
		if !ok || len(in(s.texts, held)) == 0 {
			s.T.Errorf("no canary stands in the part %s", name)
		}
	}
}

// briefed says that what a new session is given to read holds the canaries as lines of lists: none of them begins a
// heading.
func (s *story) briefed() {
	s.T.Helper()
	cfg, err := s.App.KnowledgeConfig(s.Dir)
	if err != nil {
		s.T.Fatal(err)
	}
	b, err := knowledge.Brief(cfg)
	if err != nil || len(in(s.texts, b.Text)) != len(s.texts) {
		s.T.Errorf("%d canaries are in the brief, %v", len(in(s.texts, b.Text)), err)
	}
	if out := headed(s.texts, b.Text); len(out) > 0 {
		s.T.Errorf("headings of the brief: %q", out)
	}
}

// nothingIsRemembered says that no canary is in the memory: not by the agent's notes, not from its words, not when a person
// accepts all that is offered.
func (s *story) nothingIsRemembered() {
	s.T.Helper()
	s.OK("learn", "from", "s")
	memory, waits := s.remembered()
	if out := in(s.texts, memory); len(out) > 0 {
		s.T.Errorf("in the memory: %q", out)
	}
	proposed := ""
	for _, p := range waits {
		if proposed += p.Text; len(in(s.texts, p.Text)) > 0 && p.Trusted() && p.State == knowledge.ProposalWaits {
			s.T.Errorf("%q is trusted", p.Text)
		}
	}
	if n := len(in(s.texts, proposed)); n != len(s.texts) {
		s.T.Errorf("%d of %d canaries wait", n, len(s.texts))
	}
	s.OK("learn", "accept", "--all")
	if memory, _ = s.remembered(); len(in(s.texts, memory)) > 0 {
		s.T.Errorf("accepted with all: %q", in(s.texts, memory))
	}
}

// shownHarmless says that no command shows anything that a terminal obeys.
func (s *story) shownHarmless() {
	s.T.Helper()
	for _, args := range [][]string{
		{"show", "s"},
		{"show", "s", "--messages"},
		{"show", "s", "--json"},
		{"show", "s", "--context"},
		{"log", "s"},
		{"log", "s", "--json"},
		{"list"},
		{"task", "list", "s"},
		{"task", "list", "--json"},
		{"permissions", "list", "s"},
		{"learn"},
		{"learn", "list", "--all"},
		{"learn", "--json"},
		{"learn", "show", "p1"},
		{"memory", "list"},
		{"memory", "show", "planted"},
		{"memory", "log"},
		{"journal"},
		{"journal", "--json"},
		{"__complete", "learn", "show", ""},
		{"__complete", "show", ""},
	} {
		o := s.Run(args...)
		if out := append(obeyed(o.Stdout), obeyed(o.Stderr)...); o.Code != 0 || len(out) > 0 {
			s.T.Errorf("perdure %s: exit %d, %d characters: %q %.300s", strings.Join(args, " "), o.Code, len(out), out, o.Stderr)
		}
	}
}

// Goal: each check finds what it looks for where the protection is taken away: else it could not fail.
func TestTheChecksFindWhatIsNotCaged(t *testing.T) {
	s := tell(t)
	last := s.requests[len(s.requests)-1]
	all := s.all("\n")

	open := last
	open.System += all
	if n := len(inPrompt(s.texts, open)); n != len(s.texts) {
		t.Errorf("%d in the system prompt", n)
	}

	st := s.state()
	granted := *st
	granted.Permissions.Grants = []session.Grant{{Rule: "Bash(*)"}}
	if len(inRights(s.texts, &granted)) == 0 {
		t.Error("a grant that nobody gave is not found")
	}

	// The parts as they would be, if what is quoted in them were not kept within them.
	free := last
	free.Messages = append([]model.Message(nil), last.Messages...)
	free.Messages[0].Blocks = append([]model.Block(nil), last.Messages[0].Blocks...)
	for i, b := range free.Messages[0].Blocks {
		free.Messages[0].Blocks[i].Text = strings.ReplaceAll(b.Text, `<\`, "<")
	}
	if out := strings.Join(spokenFor(s.texts, free), "|"); !strings.Contains(out, "user message") || !strings.Contains(out, "summary end") || !strings.Contains(out, "ends or begins") {
		t.Errorf("what leaves its element is not found: %s", out)
	}
	free.Messages[0].Blocks[0].Text = all
	if n := len(spokenFor(s.texts, free)); n < len(s.texts) {
		t.Errorf("%d speak for the user", n)
	}

	// The memory as it would be, if everybody were trusted.
	m, err := s.App.Knowledge("")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range s.texts {
		cmd := knowledge.Command{Name: "create", Path: "/memories/free" + strings.Repeat("x", i) + ".md", FileText: c.text}
		if _, ok, err := m.Do(context.Background(), cmd, knowledge.By{Source: knowledge.SourceModel}); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if memory, _ := s.remembered(); len(in(s.texts, memory)) != len(s.texts) {
		t.Errorf("%d in the memory", len(in(s.texts, memory)))
	}

	if out := strings.Join(headed(s.texts, all), "|"); !strings.Contains(out, "heading") || !strings.Contains(out, "journal heading") {
		t.Errorf("headings: %s", out)
	}
	if n := len(obeyed(all)); n < 20 {
		t.Errorf("%d characters that a terminal obeys", n)
	}
}
