package handoff

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v, got\n%s", file, err, got)
	}
}

// Goal: a document has what the log knows and what the model said, in the form that people know, each where it belongs.
func TestGoldenHandoff(t *testing.T) {
	golden(t, "with_words", string(Render(Of(input()))))
	in := input()
	in.Words, in.LastReply = Words{}, "I looked at payments/retry.py. ```py\nx = 1\n``` It is next."
	golden(t, "without_words", string(Render(Of(in))))
	golden(t, "empty", string(Render(Of(Input{State: session.New("s-0"), Written: written}))))
}

// A new session tries again what has failed: the failed approaches of the log are there whether a model names them or
// not, each with its reason.
func TestFailedApproachesAreThereWithoutAModel(t *testing.T) {
	in := input()
	for _, words := range []Words{{}, {Goal: "something else"}, in.Words} {
		in.Words = words
		has(t, string(Render(Of(in))), "monkey-patching the stripe library - fails silently on partial refunds",
			"stripe's v2 compatibility mode - deprecated, removed in April", "translate with a proxy - drops signatures")
	}
}

// A model's account of running tasks is wrong after a while, or says that there are none: they come from the log.
func TestTasksAreThoseOfTheLog(t *testing.T) {
	in := input()
	in.Words.Done = append(in.Words.Done, "no background process is running")
	text := string(Render(Of(in)))
	has(t, text, "- Running: bash_1: make serve\n", "- Ended: bash_2: make integration: exit code 1\n")
}

// Goal: without a model's words the goal is the user's first message, the next step the plan's first that is not done,
// else the message that nobody answered; without any of them it is said that nobody wrote it down.
func TestWithoutWords(t *testing.T) {
	in := input()
	in.Words = Words{}
	d := Of(in)
	if d.Goal != in.First || d.NextStep != "webhook handlers" {
		t.Errorf("%q, %q", d.Goal, d.NextStep)
	}
	in.State.Plan = nil
	if d = Of(in); d.NextStep != "" {
		t.Errorf("an answered message is the next step: %q", d.NextStep)
	}
	in.State.LastTurn = &session.TurnEnd{Stop: session.TurnError, Message: "overloaded_error: try later"}
	d = Of(in)
	if d.NextStep != "Answer the user's newest message: go on" {
		t.Errorf("%q", d.NextStep)
	}
	has(t, strings.Join(d.NotWorking, "\n"), "The last turn ended with error: overloaded_error: try later")
	in.State.LastTurn, in.State.Queue = nil, []session.Queued{{Seq: 9}}
	if d = Of(in); d.NextStep == "" {
		t.Error("a message that waits is no next step")
	}
	in.First = strings.Repeat("many words ", 1000)
	if d = Of(in); len(d.Goal) > maxMessage || !strings.HasSuffix(d.Goal, " …") {
		t.Errorf("%d bytes: %q", len(d.Goal), d.Goal)
	}
}

// Goal: errors are the real messages, each one line, and nothing of the output around them comes along.
func TestErrorsAreTheRealMessages(t *testing.T) {
	for in, want := range map[string]string{
		"exit status 2\nld: cannot find -lssl\nmake: *** [all] Error 1\n":                                "ld: cannot find -lssl",
		"Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: no such key: 'x'\nbye": "ValueError: no such key: 'x'",
		"permission denied":                    "permission denied",
		"all is well\nthe last line\n\n":       "the last line",
		"\x1b[31merror:\x1b[0m it broke\u202e": "error: it broke",
		"":                                     "",
	} {
		if got := errorLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	in := input()
	for range 10 {
		in.Errors = append(in.Errors, "fatal: "+strings.Repeat("long ", 100)+"\n"+strings.Repeat("raw output\n", 1000))
	}
	text := string(Render(Of(in)))
	has(t, text, "A tool call failed: fatal: long long", "ld: cannot find -lssl", "KeyError: 'subscription.id'")
	hasNot(t, text, "raw output", "collected 1 item", "$ pytest")
	if strings.Count(text, "fatal:") != 1 {
		t.Errorf("an error stands more than once:\n%s", text)
	}
}

// Goal: every name of a file that the session knows is its whole path, wherever it stands; one that could be two files,
// or an ordinary word, stays as it is.
func TestFilesAreAbsolute(t *testing.T) {
	in := input()
	in.State.Files["/work/shop/a/doc.go"] = session.File{Path: "/work/shop/a/doc.go", Use: session.FileRead}
	in.State.Files["/work/shop/b/doc.go"] = session.File{Path: "/work/shop/b/doc.go", Use: session.FileRead}
	in.State.Files["/work/shop/x/build"] = session.File{Path: "/work/shop/x/build", Use: session.FileRead}
	k := knownTo(in.State)
	for text, want := range map[string]string{
		"see payments/retry.py.":               "see /work/shop/payments/retry.py.",
		"(retry.py:12), `./payments/retry.py`": "(/work/shop/payments/retry.py:12), `/work/shop/payments/retry.py`",
		"**payments/retry.py** and README.md":  "**/work/shop/payments/retry.py** and /work/shop/README.md",
		"doc.go, a/doc.go":                     "doc.go, /work/shop/a/doc.go",
		"the build of nowhere.py":              "the build of nowhere.py",
		"/work/shop/payments/retry.py":         "/work/shop/payments/retry.py",
		"../shop/payments/retry.py":            "../shop/payments/retry.py",
		"日本語retry.py retry.py#L4":              "日本語retry.py /work/shop/payments/retry.py#L4",
	} {
		if got := k.absolute(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	in.First, in.Words = "fix retry.py", Words{NextStep: "run payments/migrate_v3.py"}
	d := Of(in)
	if d.Goal != "fix /work/shop/payments/retry.py" || d.NextStep != "run /work/shop/payments/migrate_v3.py" {
		t.Errorf("%q, %q", d.Goal, d.NextStep)
	}
}

// Goal: a summary is read in the forms in which models write them; what is no briefing is dropped.
func TestWordsInEveryForm(t *testing.T) {
	want := Words{
		Goal: "ship it", Done: []string{"a", "b and more of b"}, InProgress: []string{"c"}, NotWorking: []string{"d"},
		FailedApproaches: []string{"e - f"}, Decisions: []string{"g"}, Found: []string{"Done: is a word in h"}, NextStep: "i",
	}
	for name, text := range map[string]string{
		"plain":    "Goal: ship it\n\nDone:\n- a\n- b\n  and more of b\n\nIn progress: c\nNot working: d\nFailed approaches:\n- e - f\nDecisions: g\nFound:\n- Done: is a word in h\nNext step: i\n",
		"headings": "Preface that is dropped\n# Summary\nx\n## Goal\nship it\n## Done\n1. a\n2. b\nand more of b\n## In progress\n- c\n## Not working (and why)\nd\n## Failed approaches (DO NOT retry)\n* e - f\n### Key decisions\n- g\n## Found\n- Done: is a word in h\n## Next steps\ni\n## Thanks\nbye\n",
		"bold":     "**Goal:** ship it\n**Done**:\n- a\n- b\n  and more of b\n- **In progress**: c\n**Not working:** d\n**Failed approaches:**\n- e - f\n**Decisions:** g\n**Found:**\n- Done: is a word in h\n**Next step:** i",
		"numbers":  "1. Goal: ship it\n2. Done:\n   - a\n   - b\n     and more of b\n3. In progress: c\n4. Not working: d\n5. Failed approaches:\n   - e - f\n6. Decisions: g\n7. Found:\n   - Done: is a word in h\n8. Next step: i",
	} {
		got := ParseWords(text)
		if len(diff(got, want)) > 0 {
			t.Errorf("%s: %q", name, diff(got, want))
		}
	}
	if w := ParseWords("Goal: none\nDone: None.\nI did many things."); w.Goal != "" || len(w.Done) != 1 {
		t.Errorf("%+v", w)
	}
	if !ParseWords("").Empty() || !ParseWords("just a text without headings").Empty() {
		t.Error("nothing that can be used is not empty")
	}
	long := ParseWords("Not working:\n- the build\n" + strings.Repeat("  line of output\n", 50) + "  fatal: no disk\n" + strings.Repeat("  line of output\n", 50))
	if len(long.NotWorking) != 1 || len(long.NotWorking[0]) > 100 || !strings.Contains(long.NotWorking[0], "fatal: no disk") {
		t.Errorf("%q", long.NotWorking)
	}
}

func diff(a, b Words) (out []string) {
	for _, p := range [][2][]string{
		{{a.Goal}, {b.Goal}},
		{a.Done, b.Done},
		{a.InProgress, b.InProgress},
		{a.NotWorking, b.NotWorking},
		{a.FailedApproaches, b.FailedApproaches},
		{a.Decisions, b.Decisions},
		{a.Found, b.Found},
		{{a.NextStep}, {b.NextStep}},
	} {
		if x, y := strings.Join(p[0], "|"), strings.Join(p[1], "|"); x != y {
			out = append(out, x+" is not "+y)
		}
	}
	return out
}

// Goal: a session with as many facts, files and steps as it can have, and a summary of very many lines, has its document
// at once.
func TestManyFactsAreFast(t *testing.T) {
	in := input()
	var lines strings.Builder
	for i := range 4096 {
		name := fmt.Sprintf("/work/shop/dir/file%d.go", i)
		in.State.Facts = append(in.State.Facts, session.Fact{Kind: []string{"failed_approach", "finding"}[i%2], Text: fmt.Sprintf("fact %d of file%d.go", i, i)})
		in.State.Files[name] = session.File{Path: name, Use: session.FileModified, Seq: int64(i)}
		in.State.Plan = append(in.State.Plan, session.Step{Content: fmt.Sprintf("step %d", i), Status: session.StepDone})
		fmt.Fprintf(&lines, "- x%d\n", i)
	}
	start := time.Now()
	in.Words = ParseWords("Done:\n" + strings.Repeat(lines.String(), 2) + "Found:\n" + strings.Repeat("y\n", 20_000))
	d := Of(in)
	sound(t, d, string(Render(d)))
	if _, err := Parse([]byte("## Done\n" + strings.Repeat("x\n", 30_000))); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Over many handoffs in a row what was tried long ago is tried again: failed approaches and constraints go on from one to
// the next, whatever a model says of them, and leave room for what is new.
func TestFailedApproachesGoOn(t *testing.T) {
	in := input()
	in.Before = parsed(t, string(Render(Document{
		Session: "s-0", FailedApproaches: []string{"turning it off and on - nothing changed"}, Decisions: []string{"tabs", "Constraint: never on a Friday"},
		NextStep: "an old step", Done: []string{"an old deed"},
	})))
	for range 8 {
		text := string(Render(Of(in)))
		has(t, text, "- turning it off and on - nothing changed\n", "- Constraint: never on a Friday\n", "- monkey-patching the stripe library", "Fix subscription webhook handler")
		hasNot(t, text, "an old", "- tabs\n")
		in.Before = parsed(t, text)
	}
	for i := range 40 {
		in.Before.FailedApproaches = append(in.Before.FailedApproaches, fmt.Sprintf("attempt %d that did not work", i))
	}
	if d := Of(in); len(d.FailedApproaches) > 5+maxBefore {
		t.Errorf("%d failed approaches", len(d.FailedApproaches))
	}
}
