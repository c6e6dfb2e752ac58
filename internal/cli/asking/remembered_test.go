package asking_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/settings"
)

// runs gives a session a command to run, and reports whether it ran without anybody being asked.
func runs(t *testing.T, w *clitest.World, id, command string) bool {
	t.Helper()
	o := w.Run("-p", "--session-id", id, "--model", w.Scripted(clitest.Asking("Bash", map[string]any{"command": command})), "go")
	if o.Code != 0 && o.Code != 3 {
		t.Fatalf("%s: %+v", command, o)
	}
	return o.Code == 0
}

// A call that is allowed for the project is not asked again in a later session of it, and is asked in another project;
// one that is allowed for the user is asked nowhere. Deny rules, ask rules and what is protected win. Taken back, it asks.
func TestScopesBeyondTheSession(t *testing.T) {
	w := clitest.New(t)
	other := *w.App
	elsewhere := *w
	elsewhere.App = &other
	elsewhere.Dir, other.Dir = filepath.Join(t.TempDir(), "プロジェクト 2"), ""
	if err := os.Mkdir(elsewhere.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	other.Dir = elsewhere.Dir
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch 日本語"}))
	o := w.Run("approvals", "allow", "a", "--scope", "project", "--resume")
	if o.Code != 0 || !strings.Contains(o.Stderr, "for every session in "+w.Dir) {
		t.Fatalf("%+v", o)
	}
	if !runs(t, w, "b", "touch 日本語") || runs(t, w, "c", "touch other") || runs(t, &elsewhere, "d", "touch 日本語") {
		t.Error("a rule of the project: asked in it, or not asked elsewhere")
	}
	w.OK("approvals", "allow", "d", "--scope", "user", "--pattern")
	if !runs(t, w, "e", "touch one") || !runs(t, &elsewhere, "f", "touch two") || runs(t, w, "g", "touch .git/config") {
		t.Error("a rule of the user: asked, or not asked about what is protected")
	}
	listed := w.OK("permissions", "list")
	for _, want := range []string{"Bash(touch 日本語)", "Bash(touch:*)", "every session", "by tester"} {
		if !strings.Contains(listed, want) {
			t.Errorf("%q is not listed:\n%s", want, listed)
		}
	}
	if text := w.OK("permissions", "list", "e"); !strings.Contains(text, "Bash(touch:*)") || !strings.Contains(text, "remembered here") {
		t.Errorf("the session's rules do not say where they come from:\n%s", text)
	}
	if got := clitest.Lines(t, w.OK("permissions", "list", "--json")); len(got) != 2 || got[0]["project"] != w.Dir || got[0]["source"] != "remembered here" || got[1]["project"] != nil {
		t.Errorf("as JSON: %v", got)
	}
	inside, app := *w, *w.App // a session's command chooses its environment, and with it the file
	app.Environ = append([]string{"PERDURE_SESSION_ID=e", "PERDURE_ACT=" + w.Home + "/acts/e/t1.s1.b1.a1"}, app.Environ...)
	inside.App = &app
	if runs(t, &inside, "nested", "touch one") {
		t.Error("a remembered rule holds for a session that a session's command starts")
	}
	inside.Fails(1, "for a human", "permissions", "forget", "Bash(touch:*)")
	inside.Fails(1, "for a human", "approvals", "allow", "g", "--scope", "user")
	w.Configure("[permissions]\nask = [\"Bash(touch asked)\"]\ndeny = [\"Bash(touch denied)\"]\n")
	if runs(t, w, "h", "touch asked") {
		t.Error("an ask rule does not win over a remembered one")
	}
	if runs(t, w, "i", "touch denied"); fileIsThere(w, "denied") {
		t.Error("a deny rule does not win over a remembered one")
	}
	w.Fails(4, "no rule", "permissions", "forget", "Bash(touch:*)", "--project", elsewhere.Dir)
	w.OK("permissions", "forget", "Bash(touch:*)", "--user")
	w.OK("permissions", "forget", "Bash(touch 日本語)", "--project", ".")
	if runs(t, w, "j", "touch 日本語") || runs(t, &elsewhere, "k", "touch two") {
		t.Error("what was forgotten is allowed")
	}
	w.Fails(4, "no rule", "permissions", "forget", "Bash(touch:*)")
}

func fileIsThere(w *clitest.World, name string) bool {
	_, err := os.Stat(filepath.Join(w.Dir, name))
	return err == nil
}

// A session that goes on in another directory has the rules of the project there, not those of the one that it left.
func TestAMovedSessionLeavesTheRulesOfItsProject(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	w.OK("approvals", "allow", "a", "--scope", "project", "--resume")
	dir := t.TempDir()
	o := w.Run("-p", "-r", "a", "--cwd", dir, "--model", w.Scripted(clitest.Asking("Bash", map[string]any{"command": "touch x"})), "go")
	if o.Code != 3 {
		t.Errorf("the command ran in another directory: %+v", o)
	}
}

// A call for which no rule can be written is allowed once only, and a command of the agent cannot change what is
// remembered: the file is protected whatever is granted.
func TestRememberedRulesAreNotTheAgents(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch .git/config"}))
	w.Fails(2, "no rule covers", "approvals", "allow", "a", "--scope", "user")
	file := filepath.Join(w.Dir, ".config", "perdure", "allowed.toml")
	for id, call := range map[string]string{
		"b": clitest.Asking("Write", map[string]any{"file_path": file, "content": "[[allow]]\nrule = 'Bash'\n"}),
		"c": clitest.Asking("Bash", map[string]any{"command": "cp x " + file}),
		"d": clitest.Asking("Bash", map[string]any{"command": "echo x >> ~/.config/perdure/allowed.toml"}),
	} {
		o := w.Run("-p", "--session-id", id, "--permission-mode", "acceptEdits", "--allowed-tools", "Bash Write Edit", "--model", w.Scripted(call), "go")
		if o.Code != 3 {
			t.Errorf("%s ran: %+v", call, o)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file was written")
	}
}

// A link out of the project is not the project: where a session has gone through one, a rule of the project asks.
func TestARuleOfAProjectDoesNotFollowLinksOut(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	w.OK("approvals", "allow", "a", "--scope", "project", "--resume")
	outside := t.TempDir()
	for link, target := range map[string]string{"out": outside, "in": filepath.Join(w.Dir, "sub")} {
		if err := os.MkdirAll(target, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(w.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, code := range map[string]int{"out": 3, "in": 0} {
		script := `{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"cd ` + link + `"}}]},
			{"tools":[{"name":"Bash","input":{"command":"touch x"}}]},{"text":"done"}]}]}`
		if o := w.Run("-p", "--session-id", link, "--allowed-tools", "Bash(cd "+link+")", "--model", w.Scripted(script), "go"); o.Code != code {
			t.Errorf("behind the link %s: %+v", link, o)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err == nil {
		t.Error("the command ran outside of the project")
	}
}

// An answer for longer than a session is kept before it lets anything happen: where the rule cannot be kept, nothing is
// answered; where somebody else answered first, the rule is taken back; and after a crash between the two the call still
// waits, and the same answer brings it to its end with the rule there once.
func TestRuleIsKeptBeforeItsAnswer(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	dir := filepath.Join(w.Dir, ".config", "perdure")
	if err := os.MkdirAll(filepath.Join(dir, "allowed.toml"), 0o700); err != nil { // no file can be there
		t.Fatal(err)
	}
	w.Fails(2, "is not answered", "approvals", "allow", "a", "--scope", "project")
	if text := w.OK("approvals", "list"); !strings.Contains(text, "touch x") {
		t.Errorf("it was answered, and its rule is not kept:\n%s", text)
	}
	if err := os.Remove(filepath.Join(dir, "allowed.toml")); err != nil {
		t.Fatal(err)
	}

	h := w.Open("{}")
	st, err := h.State(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	shown := pending.Of(st, pending.Approval)[0]
	w.Close(h)
	w.OK("approvals", "deny", "a") // another terminal is first
	h = w.Open("{}")
	_, err = pending.Decide(t.Context(), w.App, h, shown, pending.Answer{Allow: true, Scope: pending.User})
	w.Close(h)
	var decided *pending.Decided
	if !errors.As(err, &decided) {
		t.Errorf("the second answer: %v", err)
	}
	if text := w.OK("permissions", "list"); strings.Contains(text, "touch x") {
		t.Errorf("the rule of an answer that did not count is kept:\n%s", text)
	}

	w.Waits("b", clitest.Asking("Bash", map[string]any{"command": "touch y"}))
	// What a crash leaves behind: the rule is kept, and nothing was answered.
	crashed := settings.Remembered{Rule: "Bash(touch y)", Project: w.Dir, At: w.App.Now()}
	if _, err := settings.Remember(t.Context(), filepath.Join(dir, "allowed.toml"), crashed); err != nil {
		t.Fatal(err)
	}
	w.OK("approvals", "allow", "b", "--scope", "project", "--resume")
	if text := w.OK("permissions", "list"); !fileIsThere(w, "y") || strings.Count(text, "touch y") != 1 {
		t.Errorf("after the crash: %s", text)
	}
}
