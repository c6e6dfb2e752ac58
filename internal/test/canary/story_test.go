package canary_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// story is one session in which every canary stands everywhere.
type story struct {
	*clitest.World
	texts  []text
	script [][]model.Block // what the model says, reply by reply

	mu       sync.Mutex
	requests []modelapi.Request
	said     int
}

// The user's own words.
const (
	firstPrompt  = "Please look at the project."
	secondPrompt = "Go on with it."
	systemPrompt = "You are a test of cages."
)

func (*story) Name() string { return "story" }

func (*story) Prefix(r modelapi.Request) ([32]byte, error) {
	b, err := json.Marshal(r.Messages)
	return store.Sum(b), err
}

// Call plays the script, and answers the request for a summary with every canary there is.
func (s *story) Call(_ context.Context, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	out := &modelapi.Response{Model: "m", Stop: modelapi.StopEndTurn, Usage: model.Usage{Input: 10, Output: 5}}
	if r.NoTools {
		out.Blocks = []model.Block{say("Goal: look.\n" + s.all("\n"))}
		return out, nil
	}
	if s.said >= len(s.script) {
		return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "the story is over"}
	}
	out.Blocks = s.script[s.said]
	s.said++
	for _, b := range out.Blocks {
		if b.Type == model.BlockToolUse {
			out.Stop = modelapi.StopToolUse
		}
	}
	return out, nil
}

// all joins the canaries.
func (s *story) all(by string) string {
	list := make([]string, len(s.texts))
	for i, c := range s.texts {
		list[i] = c.text
	}
	return strings.Join(list, by)
}

func say(words string) model.Block {
	raw, err := json.Marshal(map[string]string{"type": "text", "text": words})
	if err != nil {
		panic(err)
	}
	return model.Block{Type: model.BlockText, Text: words, Raw: raw}
}

func call(id, name string, input any) model.Block {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return model.Block{Type: model.BlockToolUse, Raw: []byte(`{}`), Tool: &model.ToolUse{ID: id, Name: name, Input: b}}
}

type input = map[string]any

// rules are all that this session may do without asking.
var rules = []session.Rule{
	{Effect: "allow", Text: "Bash", Source: "user"}, {Effect: "allow", Text: "Read", Source: "user"}, {Effect: "allow", Text: "memory", Source: "user"},
}

// tell lets the whole story happen.
func tell(t *testing.T) *story {
	s := &story{World: clitest.New(t), texts: corpus()}
	s.Configure("[knowledge]\nproject = \"off\"\n")
	s.plant()
	elsewhere := filepath.Join(t.TempDir(), "page.txt") // not of the project
	clitest.WriteFile(t, elsewhere, s.all("\n")+"\n")
	var notes, facts, steps []model.Block
	var plan []input
	learned := ""
	for i, c := range s.texts {
		notes = append(notes, call(fmt.Sprint("n", i), "memory", input{"command": "create", "path": fmt.Sprintf("/memories/note%d.md", i), "file_text": "Note: " + c.text}))
		learned += "- [REUSE] " + strings.Join(strings.Fields(c.text), " ") + "\n"
		facts = append(facts, call(fmt.Sprint("f", i), "Note", input{"kind": "finding", "text": c.text}))
		plan = append(plan, input{"content": c.text, "status": "pending"})
	}
	steps = append(steps, call("p", "TodoWrite", input{"todos": plan}),
		call("b", "Bash", input{"command": ": " + quoted(s.all(" ")), "run_in_background": true, "description": s.texts[0].text}))
	s.script = [][]model.Block{
		{
			call("a", "Bash", input{"command": "cat poison.txt"}), call("g", "Glob", input{"pattern": "**/*"}),
			call("h", "Read", input{"file_path": filepath.Join(s.Dir, "HANDOFF.md")}), call("o", "Read", input{"file_path": elsewhere}),
			call("m", "memory", input{"command": "view", "path": "/memories/MEMORY.md"}), call("m2", "memory", input{"command": "view", "path": "/memories/planted.md"}),
		},
		steps, notes, facts,
		{say("I have looked.\n" + learned + "\n" + s.all("\n"))},
		{say("I go on.")},
	}
	s.live()
	return s
}

// plant puts the canaries where a session reads: files, their names, the memory and the journal.
func (s *story) plant() {
	t := s.T
	t.Helper()
	for _, name := range []string{"poison.txt", "HANDOFF.md", "AGENTS.md.txt"} {
		clitest.WriteFile(t, filepath.Join(s.Dir, name), s.all("\n")+"\n")
	}
	for _, c := range s.texts {
		name := strings.Map(func(r rune) rune {
			if r == '/' || r == 0 {
				return '_'
			}
			return r
		}, c.text)
		if len(name) > 200 {
			name = strings.ToValidUTF8(name[:200], "")
		}
		clitest.WriteFile(t, filepath.Join(s.Dir, "names", name), "x\n")
	}
	m, err := s.App.Knowledge("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.texts {
		if _, err := m.Journal().Add(t.Context(), c.text, s.App.Now()); err != nil {
			t.Fatal(err)
		}
	}
	index := "# Memory Index\n\n## Projects\n- [planted](planted.md) - found somewhere\n"
	for i, c := range s.texts {
		index += fmt.Sprintf("- [planted-%d](planted.md) - somebody says: %s\n", i, strings.Join(strings.Fields(c.text), " "))
	}
	clitest.WriteFile(t, m.Project.IndexFile(), index)
	clitest.WriteFile(t, filepath.Join(m.Project.Dir(), "memory", "planted.md"), s.all("\n")+"\n")
}

// quoted is a text as a word of a command: with characters that do not show none is run, and one that names our own asks.
func quoted(text string) string {
	return "'" + strings.Map(func(r rune) rune {
		if r == '\'' || r == '/' || r != '\n' && plain.Hidden(r) {
			return '_'
		}
		return r
	}, strings.ReplaceAll(text, "perdure", "p_rdure")) + "'"
}

// live runs the session: a turn, a compaction, another turn.
func (s *story) live() {
	t := s.T
	t.Helper()
	h, err := homes.Open(t.Context(), s.Home, homes.Config{
		Environ: s.App.Environ, Now: s.App.Now, Memory: homes.MemoryInHome, Provider: func(string) (modelapi.Provider, error) { return s, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	spec := engine.Spec{ID: "s", Owner: "tester", Cwd: s.Dir, Agent: session.Agent{Provider: "story", Model: "m", System: systemPrompt, MaxTokens: 8000}}
	if _, err := h.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	for i, prompt := range []string{firstPrompt, secondPrompt} {
		r, err := h.Run(t.Context(), "s", homes.RunOptions{Options: engine.Options{SetRules: true, Rules: rules}, Prompt: prompt})
		if err != nil || r.StopReason != session.TurnEndTurn {
			t.Fatalf("%+v, %v", r, err)
		}
		if i > 0 {
			break
		}
		if c, err := h.Compact(t.Context(), "s", ""); err != nil || !c.Done || c.By != "model" {
			t.Fatalf("%+v, %v", c, err)
		}
	}
}

// state is the session as it is now.
func (s *story) state() *session.State {
	h := s.Open("{}")
	defer s.Close(h)
	st, err := h.State(s.T.Context(), "s")
	if err != nil {
		s.T.Fatal(err)
	}
	return st
}

// remembered is all that the memory holds, and what waits.
func (s *story) remembered() (memory string, waits []knowledge.Proposal) {
	t := s.T
	t.Helper()
	m, err := s.App.Knowledge("")
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []*knowledge.Scope{m.Project, m.User} {
		list, err := scope.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			if !strings.HasPrefix(l.Key, "planted") {
				memory += l.Summary + "\n" + l.Body
			}
		}
		files, err := filepath.Glob(filepath.Join(scope.Dir(), "memory", "*"))
		for _, f := range files {
			b, readErr := os.ReadFile(f)
			err = errors.Join(err, readErr)
			if filepath.Base(f) != "planted.md" {
				memory += f + "\n" + string(b)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all, err := m.Inbox().List()
	if err != nil {
		t.Fatal(err)
	}
	return memory, all.List
}
