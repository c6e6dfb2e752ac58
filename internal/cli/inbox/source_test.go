package inbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
)

// sourceOf is the source of a world's home, or of a session in it.
func sourceOf(t *testing.T, w *clitest.World, session string) (*inbox.Source, *homes.Home) {
	t.Helper()
	h := w.Open("{}")
	t.Cleanup(func() { w.Close(h) })
	return inbox.NewSource(w.App, h, session), h
}

// only is the single ask of a source, with what is shown of it.
func only(t *testing.T, s *inbox.Source) (asks.Ask, asks.Detail) {
	t.Helper()
	list, err := s.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	d, err := s.Show(t.Context(), list[0])
	if err != nil {
		t.Fatal(err)
	}
	return list[0], d
}

// Every answer does what it says, and the session goes on with it at its next run.
func TestAnswersInPlace(t *testing.T) {
	for verdict, want := range map[asks.Verdict]struct {
		runs  bool
		rules string // that permissions list, with and without the session, shows
	}{
		asks.No: {}, asks.Once: {runs: true}, asks.ForSession: {true, "Bash(touch 日本語) session"},
		asks.ForProject: {true, "Bash(touch 日本語) session project"}, asks.ForUser: {true, "Bash(touch 日本語) session user"},
	} {
		w := clitest.New(t)
		w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch 日本語"}))
		s, _ := sourceOf(t, w, "")
		ask, d := only(t, s)
		if ask.Kind != asks.Approval || ask.Title != "a" || d.Exact.Text != "Bash(touch 日本語)" || d.Wider.Text != "Bash(touch:*)" || d.Project != w.Dir {
			t.Fatalf("%+v %+v", ask, d)
		}
		if err := s.Answer(t.Context(), ask, asks.Answer{Verdict: verdict, Text: map[bool]string{false: "not now"}[want.runs]}); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(t.Context()); err != nil || len(list) != 1 || list[0].Kind != asks.Notice {
			t.Errorf("verdict %d: afterwards %v, %v", verdict, list, err) // it is left with something to do
		}
		w.OK("-p", "-r", "a")
		if _, err := os.Stat(filepath.Join(w.Dir, "日本語")); (err == nil) != want.runs {
			t.Errorf("verdict %d: it ran: %v", verdict, err == nil)
		}
		rules := ""
		if strings.Contains(w.OK("permissions", "list", "a"), " grant ") {
			rules = "Bash(touch 日本語) session"
		}
		for _, l := range clitest.Lines(t, w.OK("permissions", "list", "--json")) {
			rules += map[bool]string{true: " project", false: " user"}[l["project"] == w.Dir]
		}
		if rules != want.rules {
			t.Errorf("verdict %d: %q", verdict, rules)
		}
		if !want.runs && !strings.Contains(w.OK("log", "a", "--json"), "not now") {
			t.Error("the words of the denial are lost")
		}
	}
}

// A question is answered with an option or in words; what was asked is shown whole.
func TestAQuestionInPlace(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("AskUser", map[string]any{"question": "Which 日本語\nof \x1b[2J👩‍👩‍👧?", "options": []string{"赤", "緑"}}))
	s, _ := sourceOf(t, w, "a")
	ask, d := only(t, s)
	if ask.Kind != asks.Question || len(d.Rows) != 2 || len(d.Options) != 2 || ask.Title != "" {
		t.Fatalf("%+v %+v", ask, d)
	}
	if err := s.Answer(t.Context(), ask, asks.Answer{Text: "緑"}); err != nil {
		t.Fatal(err)
	}
	var gone *asks.Gone
	if err := s.Answer(t.Context(), ask, asks.Answer{Text: "赤"}); !errors.As(err, &gone) || !strings.Contains(gone.How, "緑 said tester") {
		t.Errorf("answered twice: %v", err)
	}
}

// A call that is too long to be shown whole cannot be allowed here, and what is shown of it names the command that can, for
// this very call.
func TestATooLongCallNamesWhatAllowsIt(t *testing.T) {
	w := clitest.New(t)
	w.Waits("long", clitest.Asking("Write", map[string]any{"file_path": "a", "content": strings.Repeat("x", 1<<17)}))
	s, _ := sourceOf(t, w, "long")
	ask, d := only(t, s)
	last := d.Rows[len(d.Rows)-1]
	want := "perdure approvals allow " + strings.TrimPrefix(ask.ID, "approval ")
	if !d.Part || last.Look != asks.Warning || !strings.Contains(last.Text, want) || d.Hint != want {
		t.Errorf("%t %q %q, want %q", d.Part, last.Text, d.Hint, want)
	}
}

// Two terminals race for one approval: one wins, and the other is told who did and how. Nothing is answered twice.
func TestTwoTerminalsRaceForOneApproval(t *testing.T) {
	w := clitest.New(t)
	for i := range 5 {
		id := fmt.Sprint("s", i)
		w.Waits(id, clitest.Asking("Bash", map[string]any{"command": "touch " + id}))
		var wg sync.WaitGroup
		errs := make([]error, 2)
		one, _ := sourceOf(t, w, id)
		other, _ := sourceOf(t, w, id)
		ask, _ := only(t, one)
		only(t, other)
		wg.Go(func() { errs[0] = one.Answer(t.Context(), ask, asks.Answer{Verdict: asks.Once}) })
		wg.Go(func() { errs[1] = other.Answer(t.Context(), ask, asks.Answer{Verdict: asks.No}) })
		wg.Wait()
		won, lost := "allowed", 1
		if errs[1] == nil {
			won, lost = "denied", 0
		}
		var gone *asks.Gone
		if errs[1-lost] != nil || !errors.As(errs[lost], &gone) || gone.How != "another terminal answered first: "+won+" by tester" {
			t.Errorf("%s: %v and %v", id, errs[0], errs[1])
		}
		if n := strings.Count(w.OK("log", id, "--json"), `"kind":"approval.answered"`); n != 1 {
			t.Errorf("%s: %d answers", id, n)
		}
	}
}

// The other terminal is a process of its own, which answers while this one shows the call.
func TestAnotherProcessAnswersFirst(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch x"}))
	s, _ := sourceOf(t, w, "a")
	ask, _ := only(t, s)
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env, c.Dir = append(w.App.Environ, "CLI_TEST_ARGS=approvals\ndeny\na\n--message\nno files"), w.Dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var gone *asks.Gone
	if err := s.Answer(t.Context(), ask, asks.Answer{Verdict: asks.ForUser}); !errors.As(err, &gone) || gone.How != "another terminal answered first: denied by tester" {
		t.Errorf("%v", err)
	}
	if _, err := s.Show(t.Context(), ask); !errors.As(err, &gone) {
		t.Errorf("shown: %v", err)
	}
	if how := s.Became(t.Context(), ask); how != "denied by tester" {
		t.Errorf("%q", how)
	}
	if list := w.OK("permissions", "list", "--json"); list != "" {
		t.Errorf("a rule was remembered by who lost: %s", list)
	}
	w.OK("-p", "-r", "a") // the turn goes on, and its calls are forgotten
	if how := s.Became(t.Context(), ask); how != "denied by tester" {
		t.Errorf("after the turn: %q", how)
	}
}

// What is allowed is the change that was shown: where the file has another content by now, the answer is refused.
func TestAnAnswerIsBoundToTheFileThatWasShown(t *testing.T) {
	w := clitest.New(t)
	file := filepath.Join(w.Dir, "a.txt")
	clitest.WriteFile(t, file, "one\ntwo\n")
	w.Waits("a", clitest.Asking("Write", map[string]any{"file_path": file, "content": "three\n"}))
	s, _ := sourceOf(t, w, "a")
	ask, d := only(t, s)
	text := ""
	for _, r := range d.Rows {
		text += r.Text + "\n"
	}
	if !strings.Contains(text, "-one") || !strings.Contains(text, "+three") || !strings.Contains(text, "works on "+file) {
		t.Errorf("the change:\n%s", text)
	}
	clitest.WriteFile(t, file, "other\n")
	if err := s.Answer(t.Context(), ask, asks.Answer{Verdict: asks.Once}); err != nil {
		t.Fatal(err)
	}
	w.Fails(3, "waits", "-p", "-r", "a") // it finds that out when it would write, and asks anew
	if got, _ := os.ReadFile(file); string(got) != "other\n" {
		t.Errorf("the file is %q", got)
	}
	var gone *asks.Gone
	if err := s.Answer(t.Context(), ask, asks.Answer{Verdict: asks.Once}); !errors.As(err, &gone) || gone.How != "it is another call by now" {
		t.Errorf("the answer to what was shown before: %v", err)
	}
	again, d := only(t, s)
	if again.Bound == ask.Bound || !strings.Contains(fmt.Sprint(d.Rows), "-other") {
		t.Errorf("asked anew: %+v %v", again, d.Rows)
	}
}

// A person knows a session by its title, or by the first words of its prompt, as the board shows it: not by its id.
func TestTheInboxNamesSessionsAsTheBoardDoes(t *testing.T) {
	w := clitest.New(t)
	ask := w.Scripted(`{"turns":[{"match":"","steps":[{"tools":[{"name":"AskUser","input":{"question":"Which?"}}]}]}]}`)
	first := strings.TrimSpace(w.Run("-p", "--output-format", "json", "--model", ask, "paint the fence green").Stdout)
	var said struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(first), &said); err != nil {
		t.Fatal(err, first)
	}
	w.Run("-p", "--name", "The Roof", "--model", ask, "mend it")
	s, _ := sourceOf(t, w, "")
	list, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range list {
		names = append(names, a.Title)
	}
	if want := []string{"paint the fence green", "The Roof"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	text := w.OK("inbox")
	for _, name := range []string{"paint the fence", "The Roof"} {
		if !strings.Contains(text, name) {
			t.Errorf("%q is not in the list:\n%s", name, text)
		}
	}
}
