package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// hold runs a session in this process until ctx ends, everything allowed.
func (w *world) hold(ctx context.Context, id, script string) {
	h := w.open(script)
	defer w.close(h)
	opt := homes.RunOptions{Prompt: "go"}
	opt.Mode = permission.ModeBypass
	if _, err := h.Run(ctx, id, opt); err != nil {
		w.t.Error(err)
	}
}

var touch = map[string]any{"command": "touch made"}

// An approval is listed with what it is bound to, answered once, and runs exactly what was shown.
func TestApprovalAllow(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	r := w.prompt("s1", asking("Bash", touch), "go", "")
	if r.StopReason != session.TurnWaitingApproval {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	l := lines(t, w.ok("approvals", "list", "--json"))
	if len(l) != 1 || l[0]["id"] != "s1:t1.s1.b2.a1" || l[0]["session_id"] != "s1" || l[0]["tool"] != "Bash" || l[0]["cwd"] != w.dir {
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
	if out := w.ok("approvals", "list", "s1"); !strings.Contains(out, "touch made") || !strings.Contains(out, "s1:t1.s1.b2.a1") {
		t.Errorf("text:\n%s", out)
	}
	if a := lines(t, w.ok("show", "s1", "--json"))[0]; a["activity"] != "waiting" || a["acts"].([]any)[0].(map[string]any)["state"] != "awaiting_approval" {
		t.Errorf("show: %v", a["acts"])
	}
	digest := l[0]["digest"].(string)
	w.fails(1, "no longer the call", "approvals", "allow", "s1", "--digest", strings.Repeat("0", 64))
	w.fails(2, "scope", "approvals", "allow", "s1", "--scope", "forever")
	w.fails(4, "nearest: s1:t1.s1.b2.a1", "approvals", "allow", "s1:t1.s1.b9.a1")
	w.fails(4, "no session", "approvals", "deny", "nope")
	if o := w.run("approvals", "allow", "s1:t1.s1.b2.a1", "--digest", digest, "--message", "fine"); o.code != 0 || o.stdout != "" || !strings.Contains(o.stderr, "touch made") {
		t.Errorf("allow: %+v", o)
	}
	w.fails(4, `no approval waits as "s1"`, "approvals", "allow", "s1")
	if o := w.run("approvals", "allow", "s1:t1.s1.b2.a1"); o.code != 0 || !strings.Contains(o.stderr, "was allowed already") {
		t.Errorf("allow again: %+v", o)
	}
	w.fails(1, "was allowed already", "approvals", "deny", "s1:t1.s1.b2.a1")
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
		t.Error("answering ran the call")
	}
	if r := w.prompt("s1", asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s: %s", r.StopReason, r.Message)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err != nil {
		t.Error(err)
	}
	if out := w.ok("approvals", "list", "--json"); out != "" {
		t.Errorf("after the answer: %s", out)
	}
}

func TestApprovalDeny(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.prompt("s1", asking("Bash", touch), "go", "")
	w.ok("approvals", "deny", "s1", "--message", "use the other file")
	if r := w.prompt("s1", asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "made")); err == nil {
		t.Error("a denied call ran")
	}
	if out := w.ok("show", "s1", "--messages"); !strings.Contains(out, "use the other file") {
		t.Errorf("the model was not told:\n%s", out)
	}
}

// Two approvals in one session have to be told apart.
func TestApprovalOfSeveral(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.prompt("s1", `{"turns":[{"match":"go","steps":[{"tools":[
		{"name":"Write","input":{"file_path":"/etc/one","content":"1"}},{"name":"Write","input":{"file_path":"/etc/two","content":"2"}}]},{"text":"done"}]}]}`, "go", "")
	waits := lines(t, w.ok("approvals", "list", "--json"))
	if len(waits) != 2 {
		t.Fatalf("%d wait", len(waits))
	}
	o := w.fails(2, "more than one", "approvals", "deny", "s1")
	if !strings.Contains(o.stderr, waits[0]["id"].(string)) || !strings.Contains(o.stderr, waits[1]["id"].(string)) {
		t.Errorf("%s", o.stderr)
	}
	w.ok("approvals", "deny", waits[0]["id"].(string))
	w.ok("approvals", "deny", "s1")
}

// A grant for the session is listed, used by the next call, and taken back.
func TestGrantAndRevoke(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.prompt("s1", asking("Bash", touch), "go", "")
	w.ok("approvals", "allow", "s1", "--scope", "session")
	p := lines(t, w.ok("permissions", "list", "s1", "--json"))[0]
	grants := p["grants"].([]any)
	if len(grants) != 1 || p["mode"] != "default" {
		t.Fatalf("permissions: %v", p)
	}
	rule := grants[0].(map[string]any)["rule"].(string)
	if out := w.ok("permissions", "list", "s1"); !strings.Contains(out, rule) {
		t.Errorf("text:\n%s", out)
	}
	if r := w.prompt("s1", asking("Bash", touch), "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	w.fails(4, "nearest: "+rule, "permissions", "revoke", "s1", "Bash(rm)")
	w.ok("permissions", "revoke", "s1", rule)
	if g := lines(t, w.ok("permissions", "list", "s1", "--json"))[0]["grants"].([]any); len(g) != 0 {
		t.Errorf("after revoke: %v", g)
	}
	w.fails(4, "it has no grants", "permissions", "revoke", "s1", rule)
}

func TestAnswer(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	script := asking("AskUser", map[string]any{"question": "Which?", "options": []string{"red", "blue"}})
	if r := w.prompt("s1", script, "go", ""); r.StopReason != session.TurnWaitingAnswer {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	w.fails(4, "no approval waits", "approvals", "allow", "s1")
	w.fails(2, "and the answer", "answer", "s1")
	w.fails(2, "empty", "answer", "s1", " ")
	w.fails(4, "nearest: s1:t1.s1.b2.a1", "answer", "s1:t1.s1.b7.a1", "red")
	w.ok("answer", "s1:t1.s1.b2", "the", "red one")
	w.fails(4, "no question waits", "answer", "s1", "again")
	if r := w.prompt("s1", script, "", ""); r.StopReason != session.TurnEndTurn {
		t.Fatalf("stopped for %s", r.StopReason)
	}
	if out := w.ok("show", "s1", "--messages"); !strings.Contains(out, "the red one") {
		t.Errorf("the model was not told:\n%s", out)
	}
}

// What decides refuses inside a session's command: by the variable, and, where that was removed, by the shim among
// the ancestors.
func TestDecidingRefusesInside(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.prompt("s1", asking("Bash", touch), "go", "")
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
	outside := w.app.Environ
	for i, args := range deciding {
		w.app.Environ = append(outside[:len(outside):len(outside)], "PERDURE_SESSION_ID=s1")
		w.fails(1, "for a human", args...)
		w.app.Environ = outside
		// The command that the shim runs is this binary with the arguments of the verb.
		name := "bash_" + string(rune('1'+i))
		w.task("s1", name, "CLI_TEST_ARGS='"+strings.Join(args, "\n")+"' "+exe+" 2>&1", 0)
		if l := w.awaitTask("s1", name, "exited"); l["exit_code"] != 1.0 {
			t.Errorf("%v inside: %v", args, l)
		}
		if out := w.ok("task", "output", "s1", name); !strings.Contains(out, "command of a session") {
			t.Errorf("%v inside says %q", args, out)
		}
	}
	// The control: reading is free inside, and the same binary outside of shims may decide.
	w.task("s1", "bash_8", "CLI_TEST_ARGS='approvals\nlist' "+exe+" 2>&1", 0)
	if l := w.awaitTask("s1", "bash_8", "exited"); l["exit_code"] != 0.0 {
		t.Errorf("approvals list inside: %v", l)
	}
	w.ok("approvals", "deny", "s1")
}

// What counts as reading is a command of this version, so that no word of a prompt is taken for one.
func TestReadingCommandsExist(t *testing.T) {
	w := newWorld(t)
	root := w.app.root()
	root.InitDefaultHelpCmd()
	for _, path := range append(permission.ReadingCommands(), insideReads...) {
		if strings.HasPrefix(path, "__complete") {
			continue // cobra adds them when they are called
		}
		c, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || c.CommandPath() != "perdure "+path {
			t.Errorf("%s is no command: %v", path, err)
		}
	}
}

func TestShimAbove(t *testing.T) {
	tree := map[int]struct {
		parent int
		args   []string
	}{
		10: {5, []string{"perdure", "approvals"}}, 5: {3, []string{"sh"}}, 3: {1, []string{"/proc/self/exe", shimArgument, "/home/x/acts/s/t1"}},
		20: {1, []string{"perdure"}}, 1: {0, []string{"init"}},
		30: {31, []string{"perdure"}}, 31: {1, []string{"sh", shimArgument, "/home/other/acts/s/t1"}},
		50: {51, []string{"perdure"}}, 51: {1, []string{"grep", shimArgument, "word"}},
		40: {40, nil},
	}
	look := func(pid int) (int, []string, error) {
		p, ok := tree[pid]
		if !ok {
			return 0, nil, os.ErrNotExist
		}
		return p.parent, p.args, nil
	}
	for pid, want := range map[int]int{10: 3, 3: 3, 20: 0, 30: 31, 50: 0, 40: 0, 99: 0} {
		if got := shimAbove(pid, look); got != want {
			t.Errorf("above %d: %d, want %d", pid, got, want)
		}
	}
}
