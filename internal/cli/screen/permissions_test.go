package screen_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/store"
)

// The page of permissions has each rule in the scope in which it holds, in words and with who gave it; what people gave is
// taken back by the commands for it, the rest says where it is changed.
func TestPermissionsByScope(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[permissions]\nask = [\"Bash(rm:*)\"]\ndeny = [\"Read(/etc/**)\"]\n")
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	w.OK("approvals", "allow", "a", "--scope", "project")
	w.Waits("b", clitest.Asking("Bash", map[string]any{"command": "touch y"}))
	w.OK("approvals", "allow", "b", "--scope", "user", "--pattern")
	w.Waits("c", clitest.Asking("Bash", map[string]any{"command": "mkdir z"}), "--allowed-tools", "Bash(make:*)")
	w.OK("approvals", "allow", "c", "--scope", "session", "--resume")

	h := w.Open("{}")
	src := screen.PermissionsSource(w.App, h, "c", nil)
	got, err := src.Permissions(t.Context())
	w.Close(h)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	rules := map[string]panels.Permission{}
	for _, scope := range got.Scopes {
		for _, r := range scope.Rules {
			lines = append(lines, fmt.Sprintf("%s | %s %s | %s", scope.Title, r.Effect, r.Words, strings.Split(r.From, ",")[0]))
			rules[r.Rule] = r
		}
	}
	want := []string{
		"This session alone | allow the command mkdir z | granted by tester",
		"This session alone | allow commands that begin with make | given with the session",
		"Sessions of ~ | allow the command touch x | remembered by tester",
		"Every session | deny reading every file below /etc | your configuration",
		"Every session | ask commands that begin with rm | your configuration",
		"Every session | allow commands that begin with touch | remembered by tester",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for rule, fixed := range map[string]bool{"Bash(mkdir z)": false, "Bash(touch x)": false, "Bash(touch:*)": false, "Bash(rm:*)": true, "Bash(make:*)": true} {
		if (rules[rule].Fixed != "") != fixed {
			t.Errorf("%s: fixed %q", rule, rules[rule].Fixed)
		}
	}

	for _, rule := range []string{"Bash(mkdir z)", "Bash(touch x)", "Bash(touch:*)"} {
		h := w.Open("{}")
		said, err := screen.PermissionsSource(w.App, h, "c", func(args ...string) error {
			if o := w.Run(args...); o.Code != 0 {
				return errors.New(o.Stderr)
			}
			return nil
		}).Revoke(t.Context(), rules[rule])
		w.Close(h)
		if err != nil || !strings.Contains(said, "taken back") {
			t.Errorf("%s: %q %v", rule, said, err)
		}
	}
	if left := w.OK("permissions", "list", "--json"); left != "" {
		t.Errorf("remembered still: %s", left)
	}
	h = w.Open("{}")
	got, err = screen.PermissionsSource(w.App, h, "c", nil).Permissions(t.Context())
	w.Close(h)
	if err != nil || got.Scopes[1].Rules[0].Fixed == "" || !strings.Contains(got.Scopes[1].Rules[0].From, "forgotten") {
		t.Errorf("what is forgotten and holds still is offered again: %+v %v", got, err)
	}
	if left := w.OK("permissions", "list", "c"); strings.Contains(left, "grant") {
		t.Errorf("granted still: %s", left)
	}
}

// A rule that is given in a session for longer than it is shown at once where it holds, not for the session alone:
// whoever takes back the grant of the session is told that the rule holds on, and takes that back there.
func TestARuleThatIsRememberedIsShownInTheSessionThatGaveIt(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	w.Waits("b", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	w.Append("a", store.Actor{Type: store.ActorUser, ID: "tester"}, &session.PermissionGranted{Rule: "Bash(touch x)"})
	w.OK("approvals", "allow", "b", "--scope", "project") // what the same answer does besides
	run := func(args ...string) error {
		if o := w.Run(args...); o.Code != 0 {
			return errors.New(o.Stderr)
		}
		return nil
	}
	look := func() (session, project []panels.Permission) {
		h := w.Open("{}")
		defer w.Close(h)
		got, err := screen.PermissionsSource(w.App, h, "a", nil).Permissions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got.Scopes[0].Rules, got.Scopes[1].Rules
	}
	back := func(p panels.Permission) string {
		h := w.Open("{}")
		defer w.Close(h)
		said, err := screen.PermissionsSource(w.App, h, "a", run).Revoke(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	mine, project := look()
	if len(mine) != 1 || len(project) != 1 || project[0].Rule != "Bash(touch x)" || project[0].Fixed != "" || !strings.Contains(project[0].From, "remembered by tester") {
		t.Fatalf("%+v\n%+v", mine, project)
	}
	if said := back(mine[0]); !strings.Contains(said, "still remembered") {
		t.Errorf("%q", said)
	}
	back(project[0])
	if mine, project = look(); len(mine)+len(project) != 0 {
		t.Errorf("%+v\n%+v", mine, project)
	}
}
