package attack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Nothing that a session runs decides about a session, prompts, resumes or changes one: neither with the variables that
// name the session nor without them, and whatever home it says that it means.
func TestInsideChangesNoSession(t *testing.T) {
	w := newWorld(t)
	w.want(3, run1("victim", w.model(calls(bash("touch pwned"))))...)
	w.want(0, "task", "run", "--session", "victim", "--name", "srv", "--stdin", "--", "sleep", "300")
	w.want(0, run1("other", w.model())...)
	before := w.want(0, "log", "victim", "--json").out
	lines := []string{
		"-p -r victim " + bypass, "-p --resume=victim --allowed-tools Bash", "-p -r victim --permission-mode=acceptEdits", "-p -r victim 'a new prompt'",
		"-p -r victim", "-p -c " + bypass, "-p --continue x", "-p -r victim --add-dir /", "-pr victim x", "-pc x", "-p -r victim --fork-session x",
		"-p -r victim --max-turns 5", "differ -p -r victim " + bypass,
		"fork victim --id f1", "close victim", "rename victim x", "pause victim", "delete victim --yes", "delete victim -y", "send victim hello", "answer victim yes",
		"approvals allow victim", "approvals deny victim", "permissions revoke victim Bash", "permissions forget Bash", "approvals allow victim --scope user", "task kill victim srv", "task kill victim --all",
		"task run --session victim --name x -- touch ran", "task run --restart on-reboot -- touch ran", "task restart victim srv", "task restart-policy victim srv on-reboot",
		"task restore", "task write victim srv text", "task background victim", "task attach victim srv", "task watch victim",
		"memory add x", "memory edit x y", "memory forget x", "memory undo --user", "journal add x",
		"learn accept --all", "learn accept p1", "learn edit p1 x", "learn refuse p1", "learn from victim",
		"plan accept victim", "plan refuse victim", "plan set victim 1 done", "plan add victim x", "plan remove victim 1", "plan edit victim", "compact victim",
		"attach victim", "start x", "start -r victim x", "start --resume-all", "board", "inbox -i", "supervise victim", "demo",
		"export victim -o out.md", "export victim --move-to cat", "import in.perdure --dir x --yes", "checkpoint victim x", "undo victim --yes", "restore victim x --files --yes", "diff victim", "config set model x/y", "config unset model", "trust", "trust --revoke", "man out",
		"-p " + bypass + " 'a new session'", "-p --permission-mode acceptEdits x", "-p --allowed-tools Bash x", "-p --add-dir / x",
	}
	ways := []string{
		binary, "env -u PERDURE_SESSION_ID -u PERDURE_ACT " + binary, "env -i HOME=$HOME PERDURE_HOME=$PERDURE_HOME " + binary,
		"env -u PERDURE_SESSION_ID -u PERDURE_ACT PERDURE_HOME=$PWD/linked " + binary,
	}
	if err := os.Symlink(w.home, filepath.Join(w.work, "linked")); err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for i, line := range lines {
		way := ways[i%len(ways)]
		script.WriteString(way + " " + line + " </dev/null >out 2>&1; c=$?; grep -q 'outside of sessions' out && [ $c = 1 ] || { echo 'NOT REFUSED: '" + quoted(line) + " $c; cat out; }\n")
	}
	for _, line := range []string{"list --json", "show victim", "log victim", "task list victim", "task output victim srv", "usage", "doctor", "approvals list", "permissions list victim", "memory list", "memory log", "handoff list", "search x", "search -p -r victim --add-dir /", "plan victim", "plan diff victim", "journal --json", "learn", "learn list --all", "version", "--help", "-p --help", "help list"} {
		script.WriteString(binary + " " + line + " </dev/null >out 2>&1; c=$?; { grep -q 'outside of sessions' out || [ $c = 1 ]; } && { echo 'REFUSED: " + line + "' $c; cat out; }\n")
	}
	w.write(filepath.Join(w.work, "Makefile"), "test:\n\t@bash all.sh\n")
	w.write(filepath.Join(w.work, "all.sh"), script.String()+"echo checked\n")
	w.want(0, run1("attacker", w.model(calls(bash("make test"))), "--allowed-tools", "Bash(make test)")...)
	if got := w.results("attacker")[0]; strings.TrimSpace(got) != "checked" {
		t.Errorf("%s", got)
	}
	if after := w.want(0, "log", "victim", "--json").out; after != before {
		t.Errorf("the other session's log changed:\n%s", strings.TrimPrefix(after, before))
	}
	if exists(filepath.Join(w.work, "pwned")) || exists(filepath.Join(w.work, "ran")) {
		t.Error("a call ran that a human was asked about")
	}
	w.want(0, "task", "kill", "victim", "srv")
}

// Nothing that a session runs opens the screen, on whatever terminal: who sits there answers what other sessions ask, and
// goes on with them.
func TestInsideOpensNoScreen(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, "TERM=xterm-256color")
	w.want(3, run1("victim", w.model(calls(bash("touch pwned"))))...)
	before := w.want(0, "log", "victim", "--json").out
	m := strings.Join(w.model(), " ")
	ways := []string{
		binary, "env -u PERDURE_SESSION_ID -u PERDURE_ACT " + binary, "env -i HOME=$HOME PERDURE_HOME=$PERDURE_HOME TERM=$TERM " + binary,
	}
	var script strings.Builder
	for i, line := range []string{m, m + " words", "--name x " + m, "-r", "-r victim", "-c", "attach victim", "--inline " + m, "inbox -i", "board"} {
		script.WriteString(ways[i%len(ways)] + " " + line + "; echo way " + strconv.Itoa(i) + " code $?\n")
	}
	w.write(filepath.Join(w.work, "Makefile"), "test:\n\t@bash all.sh\n")
	w.write(filepath.Join(w.work, "all.sh"), script.String()+"echo checked\n")
	terminal := call{"Bash", map[string]any{"command": "make test", "run_in_background": true, "tty": true}}
	w.want(0, run1("attacker", w.model(calls(terminal)), "--allowed-tools", "Bash(make test)")...)
	said := ""
	w.until("all of it has been tried", func() bool {
		said = w.want(0, "task", "output", "attacker", "bash_1").out
		return strings.Contains(said, "checked") || strings.Contains(said, "what is to be done?")
	})
	if n := strings.Count(said, "outside of sessions"); n != 10 || strings.Count(said, "code 1") != 10 {
		w.perdure("task", "kill", "attacker", "bash_1")
		t.Errorf("%d of 10 were refused:\n%s", n, said)
	}
	if after := w.want(0, "log", "victim", "--json").out; after != before {
		t.Errorf("the other session's log changed:\n%s", strings.TrimPrefix(after, before))
	}
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// A session may start another one, in the mode that it has without flags: that one asks for itself.
func TestInsideStartsANewSession(t *testing.T) {
	w := newWorld(t)
	inner := w.model(calls(bash("touch pwned"), call{"Write", map[string]any{"file_path": "pwned", "content": "x"}}))
	w.write(filepath.Join(w.work, "conf", "perdure", "config.toml"), "permission_mode = \"acceptEdits\"\n[permissions]\nallow = [\"Bash\", \"Write\"]\n")
	w.write(filepath.Join(w.work, "Makefile"), "test:\n\tXDG_CONFIG_HOME=$$PWD/conf "+binary+" -p --session-id inner "+strings.Join(inner, " ")+" --output-format json go </dev/null; echo code $$?\n")
	w.want(0, run1("outer", w.model(calls(bash("make test"))), "--allowed-tools", "Bash(make test)")...)
	if got := w.results("outer")[0]; !strings.Contains(got, "code 3") {
		t.Errorf("the inner session does not wait for a human: %s", got)
	}
	var as []map[string]any
	for line := range strings.Lines(w.want(0, "approvals", "list", "inner", "--json").out) {
		var one map[string]any
		if json.Unmarshal([]byte(line), &one) == nil {
			as = append(as, one)
		}
	}
	if len(as) == 0 || exists(filepath.Join(w.work, "pwned")) {
		t.Errorf("approvals %v", as)
	}
}
