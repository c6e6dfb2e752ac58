package taskpanel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func some(n int) *fake {
	f := &fake{tails: map[string]string{}}
	for i := range n {
		f.tasks = append(f.tasks, Task{
			Key: Key{"s", fmt.Sprint("bash_", i+1)}, Command: fmt.Sprint("command ", i+1), State: Running, Status: "running",
			Attempt: 1, PID: i + 1, Started: testNow.Add(time.Duration(-i) * time.Minute),
		})
	}
	return f
}

func selected(t *testing.T, m *Model) string {
	t.Helper()
	s, ok := m.Selected()
	if !ok {
		return ""
	}
	return s.ID
}

// Goal: nothing is ended or restarted before a person has said yes to exactly that.
func TestConfirm(t *testing.T) {
	f := some(3)
	m := panel(f, 80, 24)
	for _, other := range []string{"n", "x", "enter", "q", "esc", "down"} {
		press(m, "x")
		if !m.Typing() || !strings.Contains(ansi.Strip(m.View()), "End bash_1 (command 1: pid 1)? y/N") {
			t.Fatalf("%s", m.View())
		}
		press(m, other)
		if len(f.did) > 0 || m.Typing() || selected(t, m) != "bash_1" {
			t.Fatalf("after %s: %v, %s", other, f.did, selected(t, m))
		}
	}
	// The list changes while the question stands: it is still about the same task.
	press(m, "x")
	f.tasks[0].Started = testNow.Add(-time.Hour)
	look(m)
	press(m, "y")
	press(m, "down", "r", "Y")
	if !slices.Equal(f.did, []string{"kill bash_1", "restart bash_3"}) && !slices.Equal(f.did, []string{"kill bash_1", "restart bash_2"}) {
		t.Errorf("%v", f.did)
	}
	// Of one that has ended nothing is left to end.
	f.did, f.tasks = nil, f.tasks[:1]
	f.tasks[0].State, f.tasks[0].Status = Failed, "exited 1"
	look(m)
	press(m, "x")
	if len(f.did) > 0 || m.Typing() || !strings.Contains(ansi.Strip(m.View()), "bash_1 has ended already: exited 1") {
		t.Errorf("%v\n%s", f.did, m.View())
	}
}

// Goal: while something is done to a task it says so, is not done twice, and how it went is told.
func TestBusy(t *testing.T) {
	f := some(1)
	m := panel(f, 80, 24)
	press(m, "x")
	work := m.Update(keyPress("y")) // under way
	if !strings.Contains(ansi.Strip(m.View()), "◌ ending") {
		t.Errorf("%s", m.View())
	}
	press(m, "x", "y", "r", "y")
	f.err = errors.New("no \x1b[2J luck")
	drain(m, work)
	if text := ansi.Strip(m.View()); len(f.did) != 1 || strings.Contains(text, "ending") || !strings.Contains(text, "bash_1: no luck") {
		t.Errorf("%v\n%s", f.did, text)
	}
	f.err = nil
	look(m)
	press(m, "r", "y")
	if text := ansi.Strip(m.View()); !strings.Contains(text, "bash_1 runs again") {
		t.Errorf("%s", text)
	}
	f.clock = f.clock.Add(noteFor)
	if text := ansi.Strip(m.View()); !strings.Contains(text, "select") {
		t.Errorf("the note stays: %s", text)
	}
}

// Goal: what a person selected stays selected, whatever comes and goes, and on the screen.
func TestSelection(t *testing.T) {
	f := some(40)
	m := panel(f, 80, 24)
	press(m, "down", "down")
	if got := selected(t, m); got != "bash_3" {
		t.Fatal(got)
	}
	f.tasks = append(f.tasks, Task{Key: Key{"other", "bash_3"}, State: Running, Status: "running", Started: testNow.Add(time.Minute)})
	look(m)
	if k, _ := m.Selected(); k.Key != (Key{"s", "bash_3"}) {
		t.Errorf("%v", k.Key)
	}
	f.tasks = slices.Delete(f.tasks, 2, 3)
	look(m)
	if got := selected(t, m); got != "bash_4" {
		t.Errorf("after it left: %s", got)
	}
	for _, k := range []string{"end", "home", "end", "up"} {
		press(m, k)
		if text := ansi.Strip(m.View()); !strings.Contains(text, "▌ "+selected(t, m)+" ") {
			t.Errorf("%s: %s is not on the screen:\n%s", k, selected(t, m), text)
		}
		m.SetSize(60, 10)
		if text := ansi.Strip(m.View()); !strings.Contains(text, "▌ "+selected(t, m)+" ") {
			t.Errorf("%s, smaller: %s", k, text)
		}
		m.SetSize(80, 24)
	}
	f.tasks = nil
	look(m)
	press(m, "down", "up", "end", "x", "y", "r", "y", "a", "enter", "pgup")
	if got := selected(t, m); got != "" || len(f.did) > 0 {
		t.Errorf("%q, %v", got, f.did)
	}
}

// Goal: a filter takes words and leaves what has all of them; letters are text while it is typed.
func TestFilter(t *testing.T) {
	f := some(12)
	f.tasks[4].Name, f.tasks[4].Ports = "Web", []int{8080}
	m := panel(f, 80, 24)
	press(m, "/", "W", "e", "b", "q")
	if len(m.rows) != 0 || !m.Typing() {
		t.Errorf("%d rows", len(m.rows))
	}
	press(m, "backspace", " ", "enter")
	if selected(t, m) != "bash_5" || len(m.rows) != 1 || m.Typing() {
		t.Errorf("%s of %d", selected(t, m), len(m.rows))
	}
	press(m, "esc")
	press(m, "/")
	m.Update(tea.PasteMsg{Content: "80\x1b[2J80\nbash"})
	if len(m.rows) != 1 || m.filter.Text != "8080 bash" {
		t.Errorf("%d rows, %q", len(m.rows), m.filter.Text)
	}
	press(m, "esc")
	if len(m.rows) != 12 {
		t.Errorf("%d rows", len(m.rows))
	}
	f.tasks[0].State = Killed
	look(m)
	press(m, "e")
	if len(m.rows) != 11 {
		t.Errorf("%d rows without what ended", len(m.rows))
	}
}

// Goal: the output follows, stands still while somebody reads further up, and is not asked for when it cannot change.
func TestTail(t *testing.T) {
	f := some(2)
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintln(&text, "line", i)
	}
	f.tails["bash_1"] = text.String()
	m := panel(f, 80, 24)
	if got := ansi.Strip(m.View()); !strings.Contains(got, "line 99") || !strings.Contains(got, "following") {
		t.Errorf("%s", got)
	}
	press(m, "pgup", "pgup")
	f.tails["bash_1"] += "more\n"
	look(m)
	if got := ansi.Strip(m.View()); strings.Contains(got, "more") || !strings.Contains(got, "paused") {
		t.Errorf("%s", got)
	}
	press(m, "esc")
	look(m)
	if got := ansi.Strip(m.View()); !strings.Contains(got, "more") {
		t.Errorf("%s", got)
	}
	press(m, "down")
	look(m)
	if got := ansi.Strip(m.View()); strings.Contains(got, "more") || !strings.Contains(got, "nothing printed") {
		t.Errorf("another task's output: %s", got)
	}
	f.tasks[1].State, f.tasks[1].Ended = Succeeded, testNow
	look(m)
	before := len(f.asked)
	look(m)
	if len(f.asked) != before {
		t.Error("the output of what ended is read again and again")
	}
	// Another attempt begins anew.
	f.tasks[1].State, f.tasks[1].Attempt, f.tails["bash_2"] = Running, 2, "second\n"
	look(m)
	if got := ansi.Strip(m.View()); !strings.Contains(got, "second") {
		t.Errorf("%s", got)
	}
}

// Goal: the longer a look takes, the rarer it is, so that looking stays cheap however many tasks there are.
func TestLooksBecomeRare(t *testing.T) {
	f := some(1)
	m := panel(f, 80, 24)
	m.Update(listMsg{tasks: f.tasks, at: testNow, took: time.Millisecond})
	m.Update(listMsg{tasks: f.tasks, at: testNow, took: 200 * time.Millisecond})
	n := len(f.waits)
	if f.waits[n-2] != time.Second || f.waits[n-1] != 10*time.Second {
		t.Errorf("%v", f.waits)
	}
	// A beat that another look has overtaken asks nothing.
	if cmd := m.Update(listBeat{m.beat - 1}); cmd != nil {
		t.Error("two chains of looks")
	}
}

// Goal: what a task runs cannot hide in characters that do not show, neither in the list nor in the question whether to
// end it.
func TestNothingHidesInATask(t *testing.T) {
	for r, want := range map[rune]string{
		'\u202e': `\u202e`, '\u200b': `\u200b`, '\u00ad': `\u00ad`, '\ufe0f': `\ufe0f`, '\U000e0041': `\U000e0041`, '\ue001': `\ue001`, '\u3164': `\u3164`, '\a': `\u0007`,
		'\x1b': `\u001b`, '\u009d': `\u009d`,
	} {
		f := some(1)
		f.tasks[0].Command, f.tasks[0].Dir = "a"+string(r)+"b", "/c"+string(r)+"d"
		for _, keys := range [][]string{nil, {"x"}} {
			m := panel(f, 120, 24)
			press(m, keys...)
			frame := checkFrame(t, m, 120, 24)
			if !strings.Contains(frame, "a"+want+"b") || len(keys) == 0 && !strings.Contains(frame, "/c"+want+"d") || strings.ContainsRune(frame, r) {
				t.Errorf("%U, %v: %s", r, keys, frame)
			}
		}
	}
}

// Goal: esc goes back step by step inside of the panel before it closes it, as on every page, and the terminal's own cursor
// stands where the filter is typed.
func TestBackGoesStepByStep(t *testing.T) {
	m := panel(some(12), 80, 24)
	press(m, "/", "日", "x")
	if c := m.Cursor(); c == nil || c.X != 5 || c.Y != 23 {
		t.Errorf("cursor %+v", c)
	}
	press(m, "enter", "enter", "?")
	for _, left := range []string{"help", "output", "filter"} {
		if !m.Back() {
			t.Fatalf("nothing to go back from before %s is left", left)
		}
	}
	if m.help || m.large || m.filter.Text != "" || len(m.rows) != 12 || m.Cursor() != nil {
		t.Errorf("%v %v %q %d", m.help, m.large, m.filter.Text, len(m.rows))
	}
	press(m, "x")
	if !m.Back() || m.Typing() {
		t.Error("a question is not gone back from")
	}
	if m.Back() {
		t.Error("there is nothing to go back from any more")
	}
}
