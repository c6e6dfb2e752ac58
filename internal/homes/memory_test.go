package homes

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/view"
)

// Goal: sessions are offered the memory where a home has one, beside a program's own tools too, and nowhere else.
func TestMemoryIsOffered(t *testing.T) {
	own := tools.Builtin()[:1]
	for _, c := range []struct {
		memory string
		tools  []tools.Tool
		want   bool
	}{{"", nil, false}, {"", own, false}, {MemoryInHome, nil, true}, {MemoryInProject, own, true}} {
		h, err := Open(t.Context(), t.TempDir(), Config{Memory: c.memory, Tools: c.tools, Environ: []string{}, Provider: func(string) (modelapi.Provider, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		id, err := h.Create(t.Context(), engine.Spec{Cwd: t.TempDir(), Agent: session.Agent{Provider: "p", Model: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		st, err := h.State(t.Context(), id)
		if err != nil || strings.Contains(string(st.Agent.Tools), `"name":"memory"`) != c.want {
			t.Errorf("%+v: %v, %s", c, err, st.Agent.Tools)
		}
		if c.memory != "" {
			dir := t.TempDir()
			m, err := h.memory()(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok, err := m.Do(t.Context(), knowledge.Command{Name: "create", Path: "/memories/a.md"}, knowledge.By{}); !ok || err != nil {
				t.Errorf("%+v: %v, %v", c, ok, err)
			}
			if _, err := os.Stat(filepath.Join(dir, ".agent", "memory", "a.md")); (err == nil) != (c.memory == MemoryInProject) {
				t.Errorf("%+v: the file in the project: %v", c, err)
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(own) != 1 {
		t.Error("the program's own list was changed")
	}
	if _, err := Open(t.Context(), t.TempDir(), Config{Memory: "attic"}); err == nil || !strings.Contains(err.Error(), `memory "attic"`) {
		t.Errorf("got %v", err)
	}
}

// Goal: what lies in the place of a handoff and is none is told of once, not at the beginning of every session; when
// something else is wrong, or the same again later, that is told too.
func TestGarbageInPlaceOfAHandoffIsToldOnce(t *testing.T) {
	home, dir, seq := t.TempDir(), t.TempDir(), int64(0)
	file := filepath.Join(dir, "HANDOFF.md")
	write := func(of string, n int) {
		t.Helper()
		if err := os.WriteFile(file, bytes.Repeat([]byte(of), n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tells := func() int {
		t.Helper()
		var said bytes.Buffer
		h, err := Open(t.Context(), home, Config{
			Memory: MemoryInHome, Environ: []string{}, Log: slog.New(slog.NewTextHandler(&said, nil)),
			Provider: func(string) (modelapi.Provider, error) { return nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}()
		seq++
		left := handoff.Render(handoff.Document{Session: "s-1", Seq: seq, Written: time.Now(), Directory: dir, Goal: "ship it"})
		m, err := knowledge.Open(h.knows(dir))
		if err == nil {
			_, err = m.Handoffs().Write(t.Context(), left, "", knowledge.By{Session: "s-1", Seq: seq})
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := h.Create(t.Context(), engine.Spec{Cwd: dir, Agent: session.Agent{Provider: "p", Model: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		st, err := h.State(t.Context(), id)
		if err != nil || !slices.ContainsFunc(st.Given, func(g session.Given) bool { return g.Name == session.GivenHandoff }) {
			t.Errorf("the handoff that can be read is not given: %v", err)
		}
		if strings.Contains(said.String(), "could not be read") && !strings.Contains(said.String(), "or remove it") {
			t.Errorf("no remedy: %s", said.String())
		}
		return strings.Count(said.String(), "could not be read")
	}
	write("x", 100<<10)
	for i, want := range []int{1, 0, 0} {
		if n := tells(); n != want {
			t.Errorf("session %d: told %d times, want %d", i+1, n, want)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if n := tells(); n != 0 {
		t.Errorf("nothing is wrong, and is told %d times", n)
	}
	for i, want := range []int{1, 0} {
		write("\xff\x00", 100)
		if n := tells(); n != want {
			t.Errorf("it is no text now, session %d: told %d times, want %d", i+1, n, want)
		}
	}
}

// Goal: what the words of a handoff take is counted in what the run that left it returns, so that the sum of all runs is
// what the session took.
func TestTheWordsOfAHandoffAreCounted(t *testing.T) {
	at, none := filepath.Join(t.TempDir(), "model.json"), time.Duration(0)
	if err := os.WriteFile(at, []byte(`{"turns":[{"steps":[{"text":"done"}]}],"summary":{"text":"Goal: ship it"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := Open(t.Context(), t.TempDir(), Config{Memory: MemoryInHome, MinSession: &none, Environ: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	agent, err := h.Agent(t.Context(), "scripted/"+at)
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(t.Context(), engine.Spec{Cwd: t.TempDir(), Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	var early model.Usage
	r, err := h.Run(t.Context(), id, RunOptions{Prompt: "go", Ended: func(r *view.Result) { early = r.Usage }})
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if st.Handoff == nil || st.Handoff.Words == 0 || r.Usage != st.Total() || early.Input >= r.Usage.Input || r.CostUSD == nil {
		t.Errorf("at first %+v, in the end %+v, of %+v in all; handoff %+v", early, r.Usage, st.Total(), st.Handoff)
	}
}
