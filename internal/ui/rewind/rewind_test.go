package rewind_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/rewind"
	"github.com/perdure/perdure/internal/ui/theme"
)

// source is a session under the test's control.
type source struct {
	turns []rewind.Turn
	plan  rewind.Plan
	err   error
	did   []string
}

func (s *source) Turns(context.Context) ([]rewind.Turn, error) { return s.turns, s.err }

func (s *source) Plan(_ context.Context, _ string, force bool) (rewind.Plan, error) {
	p := s.plan
	if force {
		p.Modified, p.Kept = p.Modified+p.Kept, 0
	}
	return p, s.err
}

type didMsg struct{}

func (s *source) Do(_ context.Context, key string, way rewind.Way, force bool) tea.Msg {
	s.did = append(s.did, fmt.Sprint(key, " ", way, " ", force))
	return didMsg{}
}

// person is somebody at a page. Time passes by their patience alone.
type person struct {
	t   *testing.T
	p   *rewind.Page
	s   *source
	now time.Time
}

func sits(t *testing.T, s *source, only bool, width, height int) *person {
	t.Helper()
	p := &person{t: t, s: s, now: time.Unix(1_800_000_000, 0)}
	cfg := rewind.Config{Styles: theme.Colours(), Now: func() time.Time { return p.now }, Source: s, Context: t.Context()}
	if p.p = rewind.New(cfg); only {
		p.p = rewind.NewFiles(cfg, "undo")
	}
	p.p.SetSize(width, height)
	p.run(p.p.Init())
	return p
}

func (p *person) run(cmd tea.Cmd) {
	if cmd != nil {
		p.run(p.p.Update(cmd()))
	}
}

// reads draws the page and looks at it for a while.
func (p *person) reads() string {
	text := ansi.Strip(p.p.View())
	p.now = p.now.Add(time.Second)
	return text
}

func (p *person) press(keys ...string) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: rune(k[0]), Text: k}
		switch k {
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		}
		p.run(p.p.Update(msg))
	}
}

func (p *person) did(want ...string) {
	p.t.Helper()
	if strings.Join(p.s.did, ", ") != strings.Join(want, ", ") {
		p.t.Errorf("did %q, want %q", p.s.did, want)
	}
}

func (p *person) sees(words ...string) {
	p.t.Helper()
	text := p.reads()
	for _, w := range words {
		if !strings.Contains(text, w) {
			p.t.Errorf("%q is not on the screen:\n%s", w, text)
		}
	}
}

func two() *source {
	return &source{
		turns: []rewind.Turn{{Key: "b", Words: "second", Changed: 0, Why: "no file was changed since"}, {Key: "a", Words: "first", Changed: 12}},
		plan:  rewind.Plan{To: "before “first”", Added: 1, Deleted: 1, Kept: 1, Paths: []rewind.Path{{Sign: '=', Name: "mine", Why: "it was changed"}, {Sign: '+', Name: "go.mod"}, {Sign: '-', Name: "made"}}},
	}
}

// Elsewhere the destructive choice is the one that is taken first, and no count says what it would destroy.
func TestConversationAloneIsTakenFirstAndCountsAreShown(t *testing.T) {
	p := sits(t, two(), false, 80, 24)
	p.sees("second", "changed no file", "first", "12 files changed")
	p.press("down", "enter")
	p.sees("▌ the conversation only", "files stay as they are")
	p.press("enter")
	p.did("a 0 false")
}

// A key that was pressed for what was on the screen before decides nothing, however often it is repeated.
func TestNothingIsDoneByTheKeyThatOpenedIt(t *testing.T) {
	p := sits(t, two(), false, 80, 24)
	p.reads()
	p.press("down", "enter", "enter", "enter", "y") // the second question was not drawn
	p.did()
	_ = p.p.View() // drawn, and not looked at
	p.press("enter", "y")
	p.did()
	p.reads()
	p.press("down", "down")
	p.press("enter", "enter", "y", "f", "y", "y")
	p.did()
	p.sees("1 come back, 0 change, 1 go away, 1 stay", "+ go.mod", "- made", "= mine stays: it was changed")
	p.press("enter")
	p.did()
	p.press("y")
	p.did("a 2 false")
}

// What somebody else changed goes by a key of its own, a plan that says so, and two more keys.
func TestForceTakesASecondYes(t *testing.T) {
	p := sits(t, two(), true, 80, 24)
	p.reads()
	p.press("f")
	p.sees("forced: what somebody else changed goes, too", "0 stay")
	p.press("y")
	p.did()
	p.sees("sure?")
	p.press("n")
	p.did()
	p.press("y")
	p.did("undo 1 true")
}

// Elsewhere a restore is offered that cannot be done, and a turn without changes corrupts what is there.
func TestWhatCannotBeDoneIsNotOffered(t *testing.T) {
	p := sits(t, two(), false, 80, 24)
	p.reads()
	p.press("enter")
	p.sees("not possible: no file was changed since")
	p.press("down")
	p.press("enter")
	p.did()
	p.sees("the files cannot: no file was changed since")

	nothing := two()
	nothing.plan = rewind.Plan{To: "then"}
	p = sits(t, nothing, true, 80, 24)
	p.sees("all is as it was then")
	p.press("y")
	p.did()

	failing := two()
	failing.err = errors.New("a turn is open: wait")
	p = sits(t, failing, true, 80, 24)
	p.sees("nothing was changed", "a turn is open: wait")
	p.press("y")
	p.did()
}

// While it is done nothing more is asked, and esc leaves the page.
func TestEscLeavesWhatIsUnderWay(t *testing.T) {
	p := sits(t, two(), true, 80, 24)
	p.reads()
	p.press("y", "y")
	p.did("undo 1 false")
	p.sees("Restoring 2 paths", "what you send waits")
	if !p.p.Working() || p.p.Back() {
		t.Error("the page is not over when it is left")
	}
}

func TestPageFitsAtEverySizeWhateverItsTexts(t *testing.T) {
	hostile := "日本語 👩‍👩‍👧‍👦 e\u0301\tx\r\x1b[31mred\x1b]0;t\a\u202e" + strings.Repeat("long ", 50)
	s := two()
	s.turns[0].Words, s.turns[0].Why = hostile, hostile
	s.plan.To, s.plan.Paths[0].Name, s.plan.Paths[0].Why = hostile, hostile, hostile
	for _, size := range [][2]int{{80, 24}, {40, 12}, {24, 8}, {20, 6}, {1, 1}} {
		for _, keys := range [][]string{nil, {"enter"}, {"down", "enter", "down", "enter"}, {"down", "enter", "down", "enter", "y"}} {
			p := sits(t, s, false, size[0], size[1])
			p.reads()
			for _, k := range keys {
				p.press(k)
				p.reads()
			}
			view := p.p.View()
			lines := strings.Split(view, "\n")
			if len(lines) != size[1] || strings.ContainsAny(ansi.Strip(view), "\t\r\x1b\a\u202e") || strings.Contains(view, "\x1b]") {
				t.Errorf("%v after %v: %d lines, %q", size, keys, len(lines), view)
			}
			for _, l := range lines {
				if ansi.StringWidth(l) > size[0] {
					t.Errorf("%v after %v: %q is too wide", size, keys, l)
				}
			}
		}
	}
}

// A plan that is no going back has words of its own. It is asked about in the same way: y alone does it, after it was
// seen, and what cannot be forced is not offered to be. Where work of before is settled, no path has to be touched.
func TestAPlanWithWordsOfItsOwn(t *testing.T) {
	s := two()
	s.plan.Paths = append(s.plan.Paths, rewind.Path{Sign: '~', Name: "joined", Both: true})
	s.plan.As = rewind.Words{
		Title: "the changes of session kid, to ~/project", Counts: "1 added, 0 modified, 1 deleted, 1 kept", Nothing: "all of them are there already",
		Forced: "the fork's version also where both have changed a file", Doing: "Applying",
	}
	p := sits(t, s, true, 80, 24)
	p.sees("the changes of session kid, to ~/project", "1 added, 0 modified, 1 deleted, 1 kept", "= mine stays: it was changed", "~ joined: changed by both in different lines, has both now", "f force")
	p.press("f")
	p.sees("forced: the fork's version also where")
	p.press("y")
	p.sees("sure?")
	p.press("y")
	p.did("undo 1 true")
	p.sees("Applying 3 paths")

	s = two()
	s.plan.As = rewind.Words{Settled: true}
	p = sits(t, s, true, 80, 24)
	if text := p.reads(); strings.Contains(text, "f force") {
		t.Error(text)
	}
	p.press("f", "y")
	p.did("undo 1 false")

	s = two()
	s.plan = rewind.Plan{As: rewind.Words{Title: "it was interrupted: y finishes it", Counts: "half of it", Always: true}}
	p = sits(t, s, true, 40, 12)
	p.sees("it was interrupted", "half of it", "y do it")
	p.press("enter")
	p.did()
	p.press("y")
	p.did("undo 1 false")

	s = two()
	s.plan = rewind.Plan{As: rewind.Words{Nothing: "all of them are there already"}}
	p = sits(t, s, true, 40, 12)
	p.sees("all of them are there already")
	p.press("y")
	p.did()
}
