package asking_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Several approvals are answered at once, by their ids or as all of a session; a wrong one among them answers none; and
// --resume goes on at once.
func TestAllowSeveral(t *testing.T) {
	w := clitest.New(t)
	text := w.Waits("a", clitest.Several)
	if !strings.Contains(text, "perdure approvals allow --all a") || !strings.Contains(text, "then: perdure -p --resume a") {
		t.Errorf("what waits:\n%s", text)
	}
	w.Fails(2, "not both", "approvals", "allow", "a", "--all", "a")
	w.Fails(2, "--all SESSION", "approvals", "allow")
	w.Fails(2, "one approval", "approvals", "allow", "a:t1.s1.b1.a1", "a:t1.s1.b2.a1", "--digest", "x")
	w.Fails(4, "no approval waits", "approvals", "allow", "a:t1.s1.b1.a1", "a:t1.s1.b9.a1")
	w.Fails(4, "no approval waits", "approvals", "allow", "a:t1.s1.b1.a2") // another attempt than the one that was shown
	w.Fails(4, "no approval waits", "approvals", "allow", "t1.s1.b1.a2")
	if got := clitest.Lines(t, w.OK("approvals", "list", "--json")); len(got) != 2 {
		t.Fatalf("a wrong id among the right ones answered something: %v", got)
	}
	o := w.Run("approvals", "allow", "a:t1.s1.b1.a1", "a:t1.s1.b2", "--resume")
	if o.Code != 0 || !strings.Contains(o.Stderr, "allowed: a:t1.s1.b1.a1 Bash touch one") || o.Stdout != "Both are made.\n" || strings.Contains(o.Stderr, "was left open") {
		t.Errorf("allow two and go on: %+v", o)
	}
	for _, name := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	w.Waits("b", clitest.Several)
	if o := w.Run("approvals", "deny", "--all", "b", "--message", "no files"); o.Code != 0 || strings.Count(o.Stderr, "denied: b:") != 2 || !strings.Contains(o.Stderr, "perdure -p --resume b goes on") {
		t.Errorf("deny all: %+v", o)
	}
	w.Fails(4, "no approval waits", "approvals", "deny", "--all", "b")
	if o := w.Run("-p", "-r", "b"); o.Code != 0 || o.Stdout != "Both are made.\n" {
		t.Errorf("after the denial: %+v", o)
	}
	// One answer of two leaves the other, and says so; with --resume the session waits for it again.
	w.Waits("c", clitest.Several)
	if o := w.Run("approvals", "allow", "c:t1.s1.b1.a1"); !strings.Contains(o.Stderr, "1 call still waits") {
		t.Errorf("allow one of two: %+v", o)
	}
	if o := w.Run("approvals", "deny", "c", "--resume"); o.Code != 0 || o.Stdout != "Both are made.\n" {
		t.Errorf("deny the other: %+v", o)
	}
}

// The wider rule is offered beside the exact one, with what it allows; a scope grants it, and the next call of its kind
// is not asked.
func TestScopePattern(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Several)
	text := w.OK("approvals", "list", "a")
	for _, want := range []string{"digest ", "--scope session would also allow, for the session's life: this command again", "--scope pattern would also allow, for the session's life: Bash(touch:*): every touch"} {
		if strings.Count(text, want) != 2 {
			t.Errorf("%q is not there twice:\n%s", want, text)
		}
	}
	if o := w.Run("approvals", "allow", "a:t1.s1.b1.a1", "--scope", "pattern", "--resume"); o.Code != 0 || o.Stdout != "Both are made.\n" || !strings.Contains(o.Stderr, "Bash(touch:*)") {
		t.Errorf("%+v", o)
	}
	w.Waits("b", clitest.Asking("Bash", map[string]any{"command": "for i in 1; do\n  touch x\ndone"}))
	w.Fails(2, "no pattern covers", "approvals", "allow", "b", "--scope", "pattern")
}

// An edit is shown as a diff of the file, a command as its lines, and never as JSON: by the run that waits, by approvals
// list, and with the end of what is long.
func TestCallsAreShownToBeJudged(t *testing.T) {
	w := clitest.New(t)
	if err := os.WriteFile(filepath.Join(w.Dir, "a.go"), []byte("package a\n\nfunc one() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := "echo start\n" + strings.Repeat("echo more\n", 1000) + "rm -rf /the/end"
	for name, c := range map[string]struct {
		tool  string
		input string
		want  []string
	}{
		"edit":    {"Edit", `{"file_path":"a.go","old_string":"one","new_string":"two"}`, []string{"--- a/a.go", "+++ b/a.go", " package a", "-func one() {}", "+func two() {}"}},
		"new":     {"Write", `{"file_path":"sub/new.txt","content":"x\ny\n"}`, []string{"--- /dev/null", "+++ b/sub/new.txt", "+x", "+y"}},
		"write":   {"Write", `{"file_path":"a.go","content":"package b\n\nfunc one() {}\n"}`, []string{"-package a", "+package b", " func one() {}"}},
		"command": {"Bash", `{"description":"d","command":"cat <<E >f\nline\nE\nrm f"}`, []string{"cat <<E >f", "line", "rm f", "description: d"}},
		"long":    {"Bash", asJSON(map[string]string{"command": long}), []string{"echo start", "lines left out", "rm -rf /the/end"}},
		"wide":    {"Bash", asJSON(map[string]string{"a" + strings.Repeat("x", 300): strings.Repeat("y", 5000), "command": strings.Repeat("touch a; ", 600) + "touch END"}), []string{"touch a; touch a", "characters left out", "touch END"}},
		"twice":   {"Bash", `{"command":"touch harmless","comm\u0061nd":"touch evil"}`, []string{"touch evil"}},
		"unseen":  {"Write", `{"file_path":"b","content":"a\u202eb\u001b[2Kc\n"}`, []string{`a\u202eb\u001b[2Kc`}},
	} {
		script := `{"turns":[{"match":"go","steps":[{"tools":[{"name":"` + c.tool + `","input":` + c.input + `}]},{"text":"done"}]}]}`
		told := w.Waits(name, script)
		listed := w.OK("approvals", "list", name)
		for where, text := range map[string]string{"the run": told, "approvals list": listed} {
			for _, want := range c.want {
				if !hasLine(text, want) {
					t.Errorf("%s: %s does not show %q:\n%s", name, where, want, text)
				}
			}
			for _, not := range []string{`{"`, `\n`, "harmless", "\u202e", "\x1b"} {
				if strings.Contains(text, not) {
					t.Errorf("%s: %s shows %q:\n%s", name, where, not, text)
				}
			}
			if where == "the run" && len(strings.Split(text, "\n")) > 70 {
				t.Errorf("%s: %d lines", name, len(strings.Split(text, "\n")))
			}
		}
		if name == "twice" && strings.Contains(w.OK("approvals", "list", name, "--json"), "harmless") {
			t.Error("JSON shows an input that is not in force")
		}
	}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func hasLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, want) {
			return true
		}
	}
	return false
}

// With --wait a person at the terminal is asked there, and the run goes on; an empty line is no, and words after n reach
// the model.
func TestAskedAtTheTerminal(t *testing.T) {
	for typed, want := range map[string]struct {
		made bool
		log  string
	}{
		"y\n":                      {true, "allow by approval"},
		"\n":                       {false, "deny"},
		"maybe\nyes\n":             {true, "allow by approval"},
		"n use the other file\n":   {false, "use the other file"},
		"N: rather not, please\n ": {false, "rather not, please"},
	} {
		w := clitest.New(t)
		r, stdin := io.Pipe()
		w.App.Stdin, w.App.Terminal, w.App.Asks = r, true, true
		run, wait := w.Start("-p", "--wait", "--session-id", "s", "--model", w.Scripted(clitest.Asking("Bash", touch)), "go")
		clitest.Until(t, "it asks", func() bool { return strings.Contains(run.Read().Stderr, "allow? y, or n and why [n] ") })
		if text := run.Read().Stderr; strings.Contains(text, "--resume") || !hasLine(text, "touch made") || strings.Index(text, "touch made") > strings.Index(text, "allow? ") {
			t.Errorf("%q: asked with\n%s", typed, text)
		}
		if _, err := io.WriteString(stdin, typed); err != nil {
			t.Fatal(err)
		}
		wait()
		_ = stdin.Close()
		if o := run.Read(); o.Code != 0 {
			t.Errorf("%q: %+v", typed, o)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, "made")); (err == nil) != want.made {
			t.Errorf("%q: made: %v", typed, err)
		}
		if log := w.OK("log", "s") + w.OK("show", "s", "--messages"); !strings.Contains(log, want.log) {
			t.Errorf("%q: no %q in\n%s", typed, want.log, log)
		}
	}
}

// While it asks, the answer may come from elsewhere; the run goes on, and with a closed stdin it sleeps on.
func TestAskedAndAnsweredElsewhere(t *testing.T) {
	w := clitest.New(t)
	r, stdin := io.Pipe()
	w.App.Stdin, w.App.Terminal, w.App.Asks = r, true, true
	run, wait := w.Start("-p", "--wait", "--session-id", "s", "--model", w.Scripted(clitest.Several), "go")
	clitest.Until(t, "it asks", func() bool { return strings.Contains(run.Read().Stderr, "1 of 2") })
	if o := w.Run("approvals", "allow", "s:t1.s1.b1.a1"); o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	clitest.Until(t, "it asks for the second alone", func() bool {
		return strings.HasSuffix(run.Read().Stderr, "answered elsewhere\nallow Bash touch two (2 of 2)? y, or n and why [n] ")
	})
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	clitest.Until(t, "it says where to answer", func() bool {
		return strings.Contains(run.Read().Stderr, "not answered: perdure approvals allow s:t1.s1.b2.a1")
	})
	if o := w.Run("approvals", "allow", "--all", "s"); o.Code != 0 || !strings.Contains(o.Stderr, "the process that runs session s goes on") || strings.Contains(o.Stderr, "--resume") {
		t.Errorf("%+v", o)
	}
	wait()
	if o := run.Read(); o.Code != 0 || o.Stdout != "Both are made.\n" {
		t.Errorf("%+v", o)
	}
}

// What a wide rule allows is said once in a session's life, not at each run.
func TestWarnedOnce(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(clitest.Asking("Bash", touch))
	args := []string{"-p", "--allowed-tools", "Bash", "--model", m}
	if o := w.Run(append(args, "--session-id", "s", "go")...); o.Code != 0 || strings.Count(o.Stderr, "every command that parses") != 1 {
		t.Errorf("first: %+v", o)
	}
	if o := w.Run(append(args, "-r", "s", "go")...); o.Code != 0 || strings.Contains(o.Stderr, "every command that parses") {
		t.Errorf("again: %+v", o)
	}
	if o := w.Run("-p", "--allowed-tools", "Edit", "-r", "s", "go"); !strings.Contains(o.Stderr, "changing every file") || strings.Contains(o.Stderr, "every command that parses") {
		t.Errorf("another rule: %+v", o)
	}
}

// A message to a session in which calls wait tells how many do, not that they are more than others.
func TestSendWhileCallsWait(t *testing.T) {
	w := clitest.New(t)
	w.Waits("s", clitest.Several)
	if o := w.Run("send", "s", "and then?"); o.Code != 0 || !strings.Contains(o.Stderr, "2 calls still wait in it: perdure approvals list s") {
		t.Errorf("%+v", o)
	}
	if o := w.Run("approvals", "deny", "s:t1.s1.b1.a1"); o.Code != 0 || !strings.Contains(o.Stderr, "1 call still waits in it") {
		t.Errorf("%+v", o)
	}
}

// What is typed about several calls takes effect when all have been asked about: a command that starts between two
// questions would write into the second. So it is with a call and a question, and a question takes the number of an
// option.
func TestAskedAboutAllFirst(t *testing.T) {
	w := clitest.New(t)
	r, stdin := io.Pipe()
	w.App.Stdin, w.App.Terminal, w.App.Asks = r, true, true
	run, wait := w.Start("-p", "--wait", "--session-id", "s", "--model", w.Scripted(`{"turns":[{"match":"","steps":[
		{"tools":[{"name":"Bash","input":{"command":"touch one"}},{"name":"AskUser","input":{"question":"Which colour?","options":["red","green"]}}]},
		{"text":"Green it is."}]}]}`), "go")
	say := func(asked, typed string) {
		t.Helper()
		clitest.Until(t, "it asks "+asked, func() bool { return strings.HasSuffix(run.Read().Stderr, asked) })
		if _, err := os.Stat(filepath.Join(w.Dir, "one")); err == nil {
			t.Error("the command ran while questions were open")
		}
		if _, err := io.WriteString(stdin, typed); err != nil {
			t.Fatal(err)
		}
	}
	say("allow Bash touch one (1 of 2)? y, or n and why [n] ", "y\n")
	say("answer \"Which colour?\" (2 of 2)? a number, or a text of yours ", "7\n")
	say("the question has 2\nanswer \"Which colour?\" (2 of 2)? a number, or a text of yours ", "\n")
	say("yours answer \"Which colour?\" (2 of 2)? a number, or a text of yours ", "2\n")
	wait()
	if o := run.Read(); o.Code != 0 || o.Stdout != "Green it is.\n" || strings.Contains(o.Stderr, "this process sleeps") {
		t.Errorf("%+v", o)
	}
	if log := w.OK("show", "s", "--messages"); !strings.Contains(log, "green") {
		t.Errorf("%s", log)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "one")); err != nil {
		t.Error(err)
	}
}
