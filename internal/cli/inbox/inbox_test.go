package inbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// kinds are the entries of inbox --json, as "kind session".
func kinds(t *testing.T, w *clitest.World) (out []string, lines []map[string]any) {
	t.Helper()
	lines = clitest.Lines(t, w.OK("inbox", "--json"))
	for _, l := range lines {
		out = append(out, fmt.Sprint(l["kind"], " ", l["session_id"]))
	}
	return out, lines
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// Everything that needs a person is listed with the command that helps, and nothing else: not a session that is done, nor
// one that was closed. An empty inbox says so, and is no failure.
func TestEverythingThatWaits(t *testing.T) {
	w := clitest.New(t)
	if o := w.Run("inbox"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "nothing waits") {
		t.Errorf("empty: %+v", o)
	}
	if o := w.Run("inbox", "--json"); o.Code != 0 || o.Stdout != "" {
		t.Errorf("empty as JSON: %+v", o)
	}
	w.OK("-p", "--session-id", "done", "--model", w.Scripted(clitest.SaysYes), "go")
	w.Waits("approval", clitest.Asking("Bash", map[string]any{"command": "touch 日本語"}), "--name", "買い物 👩‍👩‍👧")
	w.Waits("question", clitest.Asking("AskUser", map[string]any{"question": "Which\nof them?", "options": []string{"red", "green"}}))
	w.Run("-p", "--session-id", "limit", "--max-turns", "1", "--permission-mode", "acceptEdits", "--model", w.Scripted(clitest.Asking("Glob", map[string]any{"pattern": "*"})), "go")
	w.Run("-p", "--session-id", "failed", "--model", w.Scripted(`{"turns":[]}`), "go")
	w.Create("broken")
	w.Append("broken", store.Actor{Type: store.ActorUser, ID: "tester"}, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}})
	w.Waits("closed", clitest.Asking("Bash", map[string]any{"command": "touch z"}))
	w.OK("close", "closed")
	w.Run("task", "run", "--session", "tasks", "--", "false")
	w.Run("task", "wait", "bash_1")

	got, lines := kinds(t, w)
	for _, want := range []string{"approval approval", "question question", "limit limit", "failed failed", "parked broken"} {
		if !has(got, want) {
			t.Errorf("%q is not in the inbox: %q", want, got)
		}
	}
	for _, s := range []string{"done", "closed"} {
		for _, g := range got {
			if strings.HasSuffix(g, " "+s) {
				t.Errorf("%q is in the inbox", g)
			}
		}
	}
	for _, l := range lines {
		if l["remedy"] == "" || l["since"] == nil || l["cwd"] == "" {
			t.Errorf("a line without what helps: %v", l)
		}
	}
	text := w.OK("inbox")
	for _, want := range []string{"wants", "asks", "limit", "failed", "parked", "touch 日本語", "Which …", "買い物"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not listed:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\a") || strings.Count(text, "\n") != len(got) {
		t.Errorf("not one plain line each:\n%q", text)
	}
}

// What no answer helps is listed with a command that helps as it stands: of a turn whose request does not fit the window it
// is another model, since with compaction on there is nothing to make smaller by hand.
func TestRemediesAreCommandsThatHelp(t *testing.T) {
	w := clitest.New(t)
	w.Run("-p", "--session-id", "limit", "--max-turns", "1", "--permission-mode", "acceptEdits", "--model", w.Scripted(clitest.Asking("Glob", map[string]any{"pattern": "*"})), "go")
	w.Run("-p", "--session-id", "full", "--model", w.Scripted(`{"turns":[{"match":"go","steps":[{"fail":[{"class":"context","status":400,"message":"too long"},{"class":"context","status":400,"message":"too long"}],"text":"done"}]}]}`), "go")
	want := map[string]string{"limit": "perdure -p --resume limit", "full": "perdure -p --resume full --model PROVIDER/MODEL"}
	_, lines := kinds(t, w)
	for _, l := range lines {
		id := l["session_id"].(string)
		if l["remedy"] != want[id] {
			t.Errorf("%s: %q, want %q", id, l["remedy"], want[id])
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	o := w.Run("inbox")
	if !strings.Contains(o.Stderr, "perdure -p --resume limit") || strings.Contains(o.Stderr, "approvals") {
		t.Errorf("the list says how to answer what cannot be, and not what helps:\n%s", o.Stderr)
	}
}

// A task that ended badly while nobody looked is listed until its session is told, or a week has passed.
func TestATaskThatEndedBadly(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.OK("task", "run", "--session", "s", "--", "sh", "-c", "exit 7")
	w.Run("task", "wait", "s", "bash_1")
	w.OK("task", "run", "--session", "s", "--", "true")
	w.Run("task", "wait", "s", "bash_2")
	got, lines := kinds(t, w)
	if len(got) != 1 || got[0] != "task s" || !strings.Contains(lines[0]["text"].(string), "exited with 7") {
		t.Errorf("%v", lines)
	}
}

// A session whose process was killed in mid-work is listed as one that broke off, without anybody opening it.
func TestASessionThatBrokeOff(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"match":"go","steps":[{"text":"a b c","delay_ms":60000},{"text":"done"}]}]}`)
	c := exec.Command(os.Args[0])
	c.Env, c.Dir = append(w.App.Environ, "CLI_TEST_ARGS=-p\n--session-id\na\n--model\n"+script+"\ngo"), w.Dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	clitest.Until(t, "it runs", func() bool { return strings.Contains(w.Run("list", "--activity", "running", "--json").Stdout, `"a"`) })
	if got, _ := kinds(t, w); len(got) != 0 {
		t.Errorf("while it runs: %q", got)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	clitest.Until(t, "it is noticed", func() bool {
		got, lines := kinds(t, w)
		return len(got) == 1 && got[0] == "broken_off a" && lines[0]["remedy"] == "perdure -p --resume a"
	})
	w.OK("label", "a", app.LabelSeat+"="+app.SeatScreen) // somebody has sat in it
	if _, lines := kinds(t, w); len(lines) != 1 || lines[0]["remedy"] != "perdure -r a" {
		t.Errorf("the remedy is for where its person sits: %v", lines)
	}
}

// The inbox may be listed by a session's own command, and not answered.
func TestTheInboxIsNotAnsweredFromInside(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	inside := *w.App
	inside.Environ = append(inside.Environ, "PERDURE_SESSION_ID=s", "PERDURE_ACT="+w.Home+"/acts/s/t1.s1.b1.a1")
	inside.Terminal, inside.Screen = true, true
	w.App = &inside
	if o := w.Run("inbox"); o.Code != 0 {
		t.Errorf("listed: %+v", o)
	}
	w.Fails(1, "for a human, outside of sessions", "inbox", "-i")
}

// What it is asked for wrongly is a fault of usage.
func TestUsage(t *testing.T) {
	w := clitest.New(t)
	w.Fails(2, "needs a terminal", "inbox", "-i")
	w.Fails(2, "give it alone", "inbox", "-i", "--json")
	w.Fails(2, "", "inbox", "extra")
}
