package run_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a rule for a tool that there is none of is told, for it does nothing; one that is a slip of the pen is refused,
// for a deny rule would hold for nothing.
func TestRulesOfUnknownTools(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(clitest.SaysYes)
	for _, args := range [][]string{
		{"--disallowed-tools", "bash"}, {"--disallowed-tools", "Read,edit(src/**)"}, {"--allowed-tools", "Reed"}, {"--allowed-tools", "GREP"},
	} {
		o := w.Fails(app.ExitUsage, "no tool is called", append([]string{"-p", "--model", model, "go"}, args...)...)
		if strings.Count(o.Stderr, "did you mean")+strings.Count(o.Stderr, "there are") == 0 {
			t.Errorf("%v: %s", args, o.Stderr)
		}
	}
	o := w.Fails(app.ExitUsage, "no tool is called Bsh", "-p", "--model", model, "--allowed-tools", "Bsh(ls)", "go")
	if strings.Contains(o.Stderr, "byte") {
		t.Error(o.Stderr)
	}
	w.OK("list", "--json")
	o = w.Run("-p", "--model", model, "--allowed-tools", "WebFetch,Task,mcp__files__read", "--disallowed-tools", "NotebookEdit", "go")
	for _, name := range []string{"WebFetch", "Task", "mcp__files__read", "NotebookEdit"} {
		if o.Code != 0 || !strings.Contains(o.Stderr, "no tool is called "+name) {
			t.Errorf("%s is not told: %+v", name, o)
		}
	}
	if o := w.Run("-p", "--model", model, "--allowed-tools", "Bash(true) Read Edit(x) Await BashInput", "go"); o.Code != 0 || strings.Contains(o.Stderr, "no tool") {
		t.Errorf("%+v", o)
	}

	for _, line := range []string{`deny = ["bash"]`, `deny = ["Bash(rm:*)", "Raed"]`, `ask = ["Bsh(ls)"]`} {
		w.Configure("[permissions]\n" + line)
		w.Fails(app.ExitUsage, "config.toml:2: ", "-p", "--model", model, "go")
		w.Fails(app.ExitFailed, "", "doctor")
	}
	w.Configure("[permissions]\nallow = [\"Read\",\n\"WebFetch\"]")
	if o := w.Run("-p", "--model", model, "go"); o.Code != 0 || !strings.Contains(o.Stderr, "config.toml:3: no tool is called WebFetch") {
		t.Errorf("%+v", o)
	}
	if out := w.OK("doctor"); !strings.Contains(out, "warn  config") || !strings.Contains(out, "WebFetch") {
		t.Error(out)
	}
}
