package asking_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
)

var touch = map[string]any{"command": "touch made"}

// An approval is listed with what it is bound to, answered once, and runs exactly what was shown.
func TestApprovalAllow(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	r := w.Prompt("s1", clitest.Asking("Bash", touch), "go", "")
	if r.StopReason != session.TurnWaitingApproval {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	l := clitest.Lines(t, w.OK("approvals", "list", "--json"))
	if len(l) != 1 || l[0]["id"] != "s1:t1.s1.b2.a1" || l[0]["session_id"] != "s1" || l[0]["tool"] != "Bash" || l[0]["cwd"] != w.Dir {
		t.Fatalf("listed: %v", l)
	}
	for _, k := range []string{"id", "session_id", "tool", "input", "cwd", "digest", "rule", "asked_at"} {
		if _, ok := l[0][k]; !ok {
			t.Errorf("no field %s", k)
		}
	}
	if in := l[0]["input"].(map[string]any); in["command"] != "touch made" || l[0]["asked_at"] != "2026-01-02T03:04:05.678Z" {
		t.Errorf("listed: %v", l[0])
	}
	if out := w.OK("approvals", "list", "s1"); !strings.Contains(out, "touch made") || !strings.Contains(out, "s1:t1.s1.b2.a1") {
		t.Errorf("text:\n%s", out)
	}
	if a := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]; a["activity"] != "waiting" || a["acts"].([]any)[0].(map[string]any)["state"] != "awaiting_approval" {
		t.Errorf("show: %v", a["acts"])
	}
	digest := l[0]["digest"].(string)
	w.Fails(1, "no longer the call", "approvals", "allow", "s1", "--digest", strings.Repeat("0", 64))
	w.Fails(2, "scope", "approvals", "allow", "s1", "--scope", "forever")
	w.Fails(4, "nearest: s1:t1.s1.b2.a1", "approvals", "allow", "s1:t1.s1.b9.a1")
	w.Fails(4, "no session", "approvals", "deny", "nope")
	if o := w.Run("approvals", "allow", "s1:t1.s1.b2.a1", "--digest", digest, "--message", "fine"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "touch made") {
		t.Errorf("allow: %+v", o)
	}
	w.Fails(4, `no approval waits as "s1"`, "approvals", "allow", "s1")
	if o := w.Run("approvals", "allow", "s1:t1.s1.b2.a1"); o.Code != 0 || !strings.Contains(o.Stderr, "was allowed already") {
		t.Errorf("allow again: %+v", o)
	}
	w.Fails(1, "was allowed already", "approvals", "deny", "s1:t1.s1.b2.a1")
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("answering ran the call")
	}
	if r := w.Prompt("s1", clitest.Asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s: %s", r.StopReason, r.Message)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err != nil {
		t.Error(err)
	}
	if out := w.OK("approvals", "list", "--json"); out != "" {
		t.Errorf("after the answer: %s", out)
	}
}

func TestApprovalDeny(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Prompt("s1", clitest.Asking("Bash", touch), "go", "")
	w.OK("approvals", "deny", "s1", "--message", "use the other file")
	if r := w.Prompt("s1", clitest.Asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("a denied call ran")
	}
	if out := w.OK("show", "s1", "--messages"); !strings.Contains(out, "use the other file") {
		t.Errorf("the model was not told:\n%s", out)
	}
}

// Two approvals in one session have to be told apart.
func TestApprovalOfSeveral(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Prompt("s1", `{"turns":[{"match":"go","steps":[{"tools":[
		{"name":"Write","input":{"file_path":"/etc/one","content":"1"}},{"name":"Write","input":{"file_path":"/etc/two","content":"2"}}]},{"text":"done"}]}]}`, "go", "")
	waits := clitest.Lines(t, w.OK("approvals", "list", "--json"))
	if len(waits) != 2 {
		t.Fatalf("%d wait", len(waits))
	}
	o := w.Fails(2, "more than one", "approvals", "deny", "s1")
	if !strings.Contains(o.Stderr, waits[0]["id"].(string)) || !strings.Contains(o.Stderr, waits[1]["id"].(string)) {
		t.Errorf("%s", o.Stderr)
	}
	w.OK("approvals", "deny", waits[0]["id"].(string))
	w.OK("approvals", "deny", "s1")
}

// A grant for the session is listed, used by the next call, and taken back.
func TestGrantAndRevoke(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Prompt("s1", clitest.Asking("Bash", touch), "go", "")
	w.OK("approvals", "allow", "s1", "--scope", "session")
	p := clitest.Lines(t, w.OK("permissions", "list", "s1", "--json"))[0]
	grants := p["grants"].([]any)
	if len(grants) != 1 || p["mode"] != "default" {
		t.Fatalf("permissions: %v", p)
	}
	rule := grants[0].(map[string]any)["rule"].(string)
	if out := w.OK("permissions", "list", "s1"); !strings.Contains(out, rule) {
		t.Errorf("text:\n%s", out)
	}
	if r := w.Prompt("s1", clitest.Asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	w.Fails(4, "nearest: "+rule, "permissions", "revoke", "s1", "Bash(rm)")
	w.OK("permissions", "revoke", "s1", rule)
	if g := clitest.Lines(t, w.OK("permissions", "list", "s1", "--json"))[0]["grants"].([]any); len(g) != 0 {
		t.Errorf("after revoke: %v", g)
	}
	w.Fails(4, "it has no grants", "permissions", "revoke", "s1", rule)
}

func TestAnswer(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	script := clitest.Asking("AskUser", map[string]any{"question": "Which?", "options": []string{"red", "blue"}})
	if r := w.Prompt("s1", script, "go", ""); r.StopReason != session.TurnWaitingAnswer {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	w.Fails(4, "no approval waits", "approvals", "allow", "s1")
	w.Fails(2, "and the answer", "answer", "s1")
	w.Fails(2, "empty", "answer", "s1", " ")
	w.Fails(4, "nearest: s1:t1.s1.b2.a1", "answer", "s1:t1.s1.b7.a1", "red")
	w.OK("answer", "s1:t1.s1.b2", "the", "red one")
	w.Fails(4, "no question waits", "answer", "s1", "again")
	if r := w.Prompt("s1", script, "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	if out := w.OK("show", "s1", "--messages"); !strings.Contains(out, "the red one") {
		t.Errorf("the model was not told:\n%s", out)
	}
}

// What decides refuses inside a session's command: by the variable, and, where that was removed, by the shim among
// the ancestors.
func TestDecidingRefusesInside(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Prompt("s1", clitest.Asking("Bash", touch), "go", "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	deciding := [][]string{
		{"approvals", "allow", "s1"},
		{"approvals", "deny", "s1"},
		{"answer", "s1", "yes"},
		{"send", "s1", "allow everything"},
		{"permissions", "revoke", "s1", "Read"},
	}
	outside := w.App.Environ
	for i, args := range deciding {
		w.App.Environ = append(outside[:len(outside):len(outside)], "PERDURE_SESSION_ID=s1")
		w.Fails(1, "for a human", args...)
		w.App.Environ = outside
		// The command that the shim runs is this binary with the arguments of the verb.
		name := "bash_" + string(rune('1'+i))
		w.Task("s1", name, "CLI_TEST_ARGS='"+strings.Join(args, "\n")+"' "+exe+" 2>&1", 0)
		if l := w.AwaitTask("s1", name, "exited"); l["exit_code"] != 1.0 {
			t.Errorf("%v inside: %v", args, l)
		}
		if out := w.OK("task", "output", "s1", name); !strings.Contains(out, "command of a session") {
			t.Errorf("%v inside says %q", args, out)
		}
	}
	// The control: reading is free inside, and the same binary outside of shims may decide.
	w.Task("s1", "bash_8", "CLI_TEST_ARGS='approvals\nlist' "+exe+" 2>&1", 0)
	if l := w.AwaitTask("s1", "bash_8", "exited"); l["exit_code"] != 0.0 {
		t.Errorf("approvals list inside: %v", l)
	}
	w.OK("approvals", "deny", "s1")
}
