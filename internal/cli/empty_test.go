package cli_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: an empty argument, such as a variable that is not set, names no task: not even the one that has no name.
func TestEmptyTaskName(t *testing.T) {
	w := clitest.New(t)
	id := strings.Fields(w.OK("task", "run", "--", "sleep", "300"))[0]
	t.Cleanup(func() { w.Run("task", "kill", id, "--all") })
	for _, args := range [][]string{
		{"kill", ""},
		{"kill", id, ""},
		{"kill", "", "bash_1"},
		{"kill", id, "--all", "--except", ""},
		{"restart", ""},
		{"restart", id, ""},
		{"output", ""},
		{"output", id, ""},
		{"wait", ""},
		{"attach", ""},
		{"write", "", "x"},
		{"restart-policy", "", "never"},
		{"restart-policy", "bash_1", ""},
	} {
		w.Fails(app.ExitUsage, "", append([]string{"task"}, args...)...)
	}
	if l := w.TaskLine(id, "bash_1"); l["status"] != "running" || l["attempt"] != 1.0 || l["restart"] != nil {
		t.Errorf("something was done to it: %v", l)
	}
}

// Goal: a flag whose value is empty, such as a variable that is not set, is not taken for one that was not given.
func TestEmptyFlags(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.Prompt("s", clitest.Asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	for _, args := range [][]string{
		{"approvals", "allow", "s", "--digest", ""},
		{"task", "run", "--session", "", "--", "true"},
		{"task", "run", "--lifetime=", "--", "true"},
		{"-p", "--permission-mode", "", "go"},
		{"-p", "--model=", "go"},
		{"-p", "--add-dir", "", "go"},
		{"-p", "--name", "", "go"},
		{"-p", "-c", "--cwd", "", "go"},
		{"fork", "s", "--name", ""},
		{"list", "--activity", ""},
		{"list", "--cwd="},
		{"delete", "--older-than", ""},
	} {
		o := w.Fails(app.ExitUsage, "is empty", args...)
		if !strings.Contains(o.Stderr, "--") {
			t.Errorf("%v does not name the flag: %s", args, o.Stderr)
		}
	}
	if n := len(clitest.Lines(t, w.OK("list", "--json"))); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
	if out := w.OK("approvals", "list"); !strings.Contains(out, "touch made") {
		t.Errorf("it waits no more: %s", out)
	}
	w.OK("-p", "--model", w.Scripted(clitest.SaysYes), "--allowed-tools", "", "--disallowed-tools=", "--append-system-prompt", "", "go")
	w.Fails(app.ExitUsage, "a directory is needed", "backup", "")
}

// Goal: a command that lacks an argument says how it is called.
func TestMissingArguments(t *testing.T) {
	w := clitest.New(t)
	for _, c := range [][]string{
		{"permissions revoke ID RULE", "permissions", "revoke"},
		{"send ID [TEXT...]", "send"},
		{"backup DIR", "backup"},
		{"rename ID NAME", "rename", "s"},
		{"show ID", "show"},
		{"takeover ID", "takeover"},
	} {
		o := w.Fails(app.ExitUsage, "perdure "+c[0], c[1:]...)
		if strings.Contains(o.Stderr, "got 0") || strings.Contains(o.Stderr, "1 arguments") {
			t.Errorf("%v: %s", c, o.Stderr)
		}
	}
	w.Fails(app.ExitUsage, "got 3 arguments", "show", "a", "b", "c")
}
