package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// load is how busy the machine is: a figure without it says little.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(b)); err == nil && len(f) > 0 {
		return "load " + f[0]
	}
	return "load unknown"
}

// project is a directory with 40 files of 100 lines each.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 40 {
		var text strings.Builder
		for line := range 100 {
			fmt.Fprintf(&text, "func number%dOf%d() { return callOf(%d, value%d) }\n", line, i, line*i, line)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// looks are n steps of which each reads 50 lines of one of the project's files.
func looks(n int) (out []scripted.Step) {
	for i := range n {
		input := fmt.Sprintf(`{"file_path": "file%d.go", "offset": %d, "limit": 50}`, i%40, i%50+1)
		out = append(out, calls("Read", input, fmt.Sprintf("I look at the file for the %dth time.", i)))
	}
	return out
}

func calls(tool, input, text string) scripted.Step {
	return scripted.Step{Text: text, Tools: []scripted.ToolCall{{Name: tool, Input: json.RawMessage(input)}}}
}

// says is one turn that ends with a word.
func says(prompt string, steps ...scripted.Step) scripted.Turn {
	return scripted.Turn{Match: prompt, Steps: append(steps, scripted.Step{Text: "done"})}
}

// working opens a home whose model plays these turns. cfg may be the zero value.
func working(t *testing.T, cfg homes.Config, turns ...scripted.Turn) (*homes.Home, *clocked) {
	t.Helper()
	summary := &scripted.Step{Text: "Goal: to measure.\n\nDone: the files were read.\n\nNext step: to go on."}
	c := &clocked{Provider: scripted.New(scripted.Script{Turns: turns, Summary: summary})}
	cfg.ShimPath = []string{"/bin/false"}
	cfg.Provider = func(string) (modelapi.Provider, error) { return c, nil }
	if cfg.MinSession == nil {
		cfg.MinSession = new(time.Duration)
	}
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, c
}

// worker makes a session that the model of a working home runs, with a context window of so many tokens.
func worker(t *testing.T, h *homes.Home, dir string, window int64) string {
	t.Helper()
	agent := session.Agent{Provider: "scripted", Model: "bench", MaxTokens: 4096, Window: window}
	id, err := h.Create(t.Context(), engine.Spec{Agent: agent, Cwd: dir, Mode: permission.ModeDefault})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// goOn runs a prompt, and gives how long it took from the model's last reply to the end of the run.
func goOn(t *testing.T, h *homes.Home, c *clocked, id, prompt string) time.Duration {
	t.Helper()
	c.steps, c.summaries, c.replied = nil, nil, time.Time{}
	if r, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: prompt}); err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
	return time.Since(c.replied)
}

// eventsOf is how many events a session's log has.
func eventsOf(t *testing.T, h *homes.Home, id string) int64 {
	t.Helper()
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return st.Head.Seq
}
