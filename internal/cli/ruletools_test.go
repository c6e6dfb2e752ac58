package cli

import (
	"strings"
	"testing"
)

// Goal: a rule for a tool that there is none of is told, for it does nothing; one that is a slip of the pen is refused,
// for a deny rule would hold for nothing.
func TestRulesOfUnknownTools(t *testing.T) {
	w := newWorld(t)
	model := w.scripted(saysYes)
	for _, args := range [][]string{
		{"--disallowed-tools", "bash"}, {"--disallowed-tools", "Read,edit(src/**)"}, {"--allowed-tools", "Reed"}, {"--allowed-tools", "GREP"},
	} {
		o := w.fails(exitUsage, "no tool is called", append([]string{"-p", "--model", model, "go"}, args...)...)
		if strings.Count(o.stderr, "did you mean")+strings.Count(o.stderr, "there are") == 0 {
			t.Errorf("%v: %s", args, o.stderr)
		}
	}
	o := w.fails(exitUsage, "no tool is called Bsh", "-p", "--model", model, "--allowed-tools", "Bsh(ls)", "go")
	if strings.Contains(o.stderr, "byte") {
		t.Error(o.stderr)
	}
	w.ok("list", "--json")
	o = w.run("-p", "--model", model, "--allowed-tools", "WebFetch,Task,mcp__files__read", "--disallowed-tools", "NotebookEdit", "go")
	for _, name := range []string{"WebFetch", "Task", "mcp__files__read", "NotebookEdit"} {
		if o.code != 0 || !strings.Contains(o.stderr, "no tool is called "+name) {
			t.Errorf("%s is not told: %+v", name, o)
		}
	}
	if o := w.run("-p", "--model", model, "--allowed-tools", "Bash(true) Read Edit(x) Await BashInput", "go"); o.code != 0 || strings.Contains(o.stderr, "no tool") {
		t.Errorf("%+v", o)
	}

	for _, line := range []string{`deny = ["bash"]`, `deny = ["Bash(rm:*)", "Raed"]`, `ask = ["Bsh(ls)"]`} {
		w.configure("[permissions]\n" + line)
		w.fails(exitUsage, "config.toml:2: ", "-p", "--model", model, "go")
		w.fails(exitFailed, "", "doctor")
	}
	w.configure("[permissions]\nallow = [\"Read\",\n\"WebFetch\"]")
	if o := w.run("-p", "--model", model, "go"); o.code != 0 || !strings.Contains(o.stderr, "config.toml:3: no tool is called WebFetch") {
		t.Errorf("%+v", o)
	}
	if out := w.ok("doctor"); !strings.Contains(out, "warn  config") || !strings.Contains(out, "WebFetch") {
		t.Error(out)
	}
}
