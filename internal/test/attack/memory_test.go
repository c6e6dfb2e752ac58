package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the next sessions are told of a project is changed by the memory's own tool, which says who noted what and why. A
// model that goes past it, with the tools for files or by a command, asks first; so text that it met somewhere, in a
// page or a tool's result, does not become lasting knowledge unseen.
func TestMemoryIsNotWrittenPastItsTool(t *testing.T) {
	for _, row := range []struct {
		name, index string
		on, asks    bool
	}{
		{".agent/MEMORY.md", "", true, true},
		{".agent/memory/x.md", "", true, true},
		{".agent/journal.md", "", true, true},
		{".agent/HANDOFF.md", "", true, true},
		{".agent/state.json", "", true, true},
		{".agent/MEMORY.md", "", false, true},
		{"MEMORY.md", "MEMORY.md", true, true},
		{"MEMORY.md", "MEMORY.md", false, false},
		{"sub/MEMORY.md", "MEMORY.md", true, false},
		{"MEMORY.md", "", true, true}, // it would become the index
	} {
		name := strings.ReplaceAll(row.name, "/", "_")
		if row.index != "" {
			name += " with an index beside the sources"
		}
		if !row.on {
			name += " without consent"
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			project := filepath.Join(w.user, "project")
			for _, dir := range []string{".config/perdure", "project/.git", "project/.agent/memory", "project/sub"} {
				if err := os.MkdirAll(filepath.Join(w.user, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if row.on {
				w.write(filepath.Join(w.user, ".config/perdure/config.toml"), "[knowledge]\nproject = \"on\"\n")
			}
			if row.index != "" {
				w.write(filepath.Join(project, row.index), "# Memory Index\n")
			}
			file := filepath.Join(project, row.name)
			before, _ := os.ReadFile(file)
			edit := w.command(run1("s", w.model(calls(call{"Write", map[string]any{"file_path": file, "content": "x\n"}})), "--permission-mode", "acceptEdits")...)
			edit.Dir = project
			if _, had := os.Stat(file); had == nil { // a file has to be read before
				edit = w.command(run1("s", w.model(calls(call{"Read", map[string]any{"file_path": file}}), calls(call{"Write", map[string]any{"file_path": file, "content": "x\n"}})), "--permission-mode", "acceptEdits")...)
				edit.Dir = project
			}
			if o := w.finish(edit); (o.code == 3) != row.asks {
				t.Errorf("edited: %s", o)
			}
			shell := w.command(run1("b", w.model(calls(bash("echo y >> "+file))), bypass)...)
			shell.Dir = project
			if o := w.finish(shell); (o.code == 3) != row.asks {
				t.Errorf("by a command: %s", o)
			}
			if after, _ := os.ReadFile(file); (string(after) == string(before)) != row.asks {
				t.Errorf("it holds %q, before %q", after, before)
			}
		})
	}
}
