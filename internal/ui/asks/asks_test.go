package asks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fake is a source under the test's control.
type fake struct {
	asks    []Ask
	details map[string]Detail // by id
	showErr error
	err     error
	became  string
	did     []string
	clock   time.Time
}

func (f *fake) now() time.Time { return f.clock }

func (f *fake) List(context.Context) ([]Ask, error) { return slices.Clone(f.asks), nil }

func (f *fake) Show(_ context.Context, a Ask) (Detail, error) { return f.details[a.ID], f.showErr }

func (f *fake) Answer(_ context.Context, a Ask, ans Answer) error {
	f.did = append(f.did, fmt.Sprintf("%s@%s %+v", a.ID, a.Bound, ans))
	if f.err == nil {
		f.asks = slices.DeleteFunc(f.asks, func(o Ask) bool { return o.ID == a.ID })
	}
	return f.err
}

func (f *fake) Became(context.Context, Ask) string { return f.became }

func approval(id, line string) (Ask, Detail) {
	return Ask{ID: id, Bound: "b1", Kind: Approval, Session: "s1", Line: line, Asked: testNow.Add(-2 * time.Minute)},
		Detail{
			Rows:  []Row{{About, "in /p"}, {About, "because no rule allows it"}, {Text, "  " + line}},
			Exact: Rule{"Bash(" + line + ")", "this command again, exactly as it is"}, Wider: Rule{"Bash(x:*)", "every x, with any further words"}, Project: "/p",
		}
}

func question(id, text string, options ...string) (Ask, Detail) {
	return Ask{ID: id, Bound: "q1", Kind: Question, Session: "s1", Line: text, Asked: testNow}, Detail{Rows: []Row{{Text, text}}, Options: options}
}

func source(n int) *fake {
	f := &fake{clock: testNow, details: map[string]Detail{}}
	for i := range n {
		f.add(approval(fmt.Sprint("a", i+1), fmt.Sprint("make ", i+1)))
	}
	return f
}

func (f *fake) add(a Ask, d Detail) {
	f.asks = append(f.asks, a)
	f.details[a.ID] = d
}

// paged is a list that has looked once.
func paged(f *fake, width, height int, page bool) *Model {
	m := New(Config{Source: f, Now: f.now, Style: theme.Plain(), Page: page})
	m.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.SetSize(width, height)
	f.do(m, m.Init())
	return m
}

// do runs a command and what comes of it.
func (f *fake) do(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			f.do(m, c)
		}
	default:
		f.do(m, m.Update(msg))
	}
}

// opened is a list with the focus whose first ask was drawn and left alone for long enough.
func opened(f *fake, width, height int) *Model {
	m := paged(f, width, height, false)
	f.do(m, m.Focus())
	f.read(m)
	return m
}

// read draws, and lets time pass without a key.
func (f *fake) read(m *Model) string {
	v := m.View()
	f.clock = f.clock.Add(time.Second)
	return ansi.Strip(v)
}

func key(name string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "delete": tea.KeyDelete,
	}
	if c, ok := named[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	r := []rune(name)
	return tea.KeyPressMsg{Code: r[0], Text: name}
}

func (f *fake) press(m *Model, keys ...string) {
	for _, k := range keys {
		f.do(m, m.Update(key(k)))
	}
}

func wants(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not shown:\n%s", w, text)
		}
	}
}

// Every answer by its key, bound to what was shown.
func TestEveryAnswerByKey(t *testing.T) {
	for keys, want := range map[string]string{
		"y": "a1@b1 {Verdict:1 Wider:false Text:}", "s": "a1@b1 {Verdict:2 Wider:false Text:}", "p": "a1@b1 {Verdict:3 Wider:false Text:}",
		"u": "a1@b1 {Verdict:4 Wider:false Text:}", "n": "a1@b1 {Verdict:0 Wider:false Text:}",
		"w 日 本 enter": "a1@b1 {Verdict:0 Wider:false Text:日本}", "N y enter": "a1@b1 {Verdict:0 Wider:false Text:y}",
		"right enter": "a1@b1 {Verdict:1 Wider:false Text:}", "right right right right enter": "a1@b1 {Verdict:4 Wider:false Text:}", "left left enter": "a1@b1 {Verdict:0 Wider:false Text:}",
		"tab": "", "enter": "", "enter enter": "", "space": "", "esc": "", "Y": "", "q": "", "1": "", "a": "", "down": "", "w y esc": "", "right esc enter": "",
	} {
		f := source(2)
		m := opened(f, 80, 24)
		f.press(m, strings.Fields(keys)...)
		if got := strings.Join(f.did, "|"); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
	// The wider rule is read before it is given.
	f := source(1)
	m := opened(f, 80, 24)
	m.cfg.Style = theme.Colours()
	quiet := m.View()
	if m.Update(readyMsg{m}); m.View() == quiet {
		t.Error("that keys count now does not show")
	}
	wants(t, f.read(m), "s p u also allow: this command again, exactly as it is", "rule Bash(make 1)", "r wider")
	f.press(m, "r", "s")
	if len(f.did) != 0 {
		t.Errorf("a rule that was not read yet: %q", f.did)
	}
	wants(t, f.read(m), "also allow: every x, with any further words", "Bash(x:*)", "r narrower")
	if f.press(m, "s"); strings.Join(f.did, "|") != "a1@b1 {Verdict:2 Wider:true Text:}" {
		t.Errorf("%q", f.did)
	}
}

// The keystrokes of a prompt land in a dialog that has just opened, and one of them approves: here whatever is typed into
// an ask that opened, that was not drawn, or while keys keep coming, answers nothing.
func TestTypingIntoAnAskThatJustOpenedAnswersNothing(t *testing.T) {
	everything := []string{"y", "s", "p", "u", "n", "enter", "right", "enter", "w", "y", "enter", "N", "1", "space", "y"}
	f := source(2)
	m := paged(f, 80, 24, false)
	f.press(m, everything...) // it has no focus
	f.do(m, m.Focus())
	f.press(m, everything...) // never drawn
	for range 3 {
		f.clock = f.clock.Add(time.Hour) // time alone is not enough
		f.press(m, "y")
	}
	m.View()
	for _, k := range everything { // drawn, and keys keep coming
		f.clock = f.clock.Add(424 * time.Millisecond)
		f.press(m, k)
		m.View()
	}
	if len(f.did) != 0 || m.Typing() {
		t.Fatalf("answered: %q, typing %v", f.did, m.Typing())
	}
	f.clock = f.clock.Add(425 * time.Millisecond)
	f.press(m, "y")
	if len(f.did) != 1 {
		t.Fatalf("after a pause: %q", f.did)
	}
	// The next one opens in its place: it has to be read as well.
	f.press(m, "y", "y", "y")
	m.View()
	f.press(m, "y")
	if len(f.did) != 1 {
		t.Errorf("a key that was held down went on to the next: %q", f.did)
	}
	f.read(m)
	if f.press(m, "n"); len(f.did) != 2 || !strings.HasPrefix(f.did[1], "a2") || m.Focused() {
		t.Errorf("%q, focused %v", f.did, m.Focused())
	}
}

// What has not been on the screen as a whole is not allowed; it can be denied.
func TestMoreBelowIsShownBeforeItIsAllowed(t *testing.T) {
	f := source(1)
	d := f.details["a1"]
	for i := range 40 {
		d.Rows = append(d.Rows, Row{Text, fmt.Sprint("line ", i)})
	}
	f.details["a1"] = d
	m := opened(f, 60, 14)
	wants(t, f.read(m), "more below")
	f.press(m, "y")
	wants(t, f.read(m), "there is more below")
	f.press(m, "right", "enter")
	if len(f.did) != 0 {
		t.Fatalf("%q", f.did)
	}
	for range 10 {
		f.press(m, "space")
		f.read(m)
	}
	wants(t, f.read(m), "line 39")
	if f.press(m, "y"); len(f.did) != 1 {
		t.Errorf("%q", f.did)
	}
	f = source(1)
	f.details["a1"] = d
	m = opened(f, 60, 14)
	if f.press(m, "n"); len(f.did) != 1 {
		t.Errorf("denied unread: %q", f.did)
	}
}

// Of which something is left out, that is not allowed either: what is approved has been seen as a whole.
func TestWhatIsShownInPartIsNotAllowed(t *testing.T) {
	for _, what := range []string{"part", "long"} {
		f := source(1)
		d := f.details["a1"]
		if d.Part = what == "part"; !d.Part {
			d.Rows = append(d.Rows, Row{Text, strings.Repeat("a", maxText) + "evil"})
		}
		f.details["a1"] = d
		m := opened(f, 100, 14)
		for range maxText / 100 {
			if m.shown.whole() {
				break
			}
			f.press(m, "space")
			f.read(m)
		}
		f.press(m, "y")
		f.press(m, "s")
		wants(t, f.read(m), "not all of it can be shown here")
		if len(f.did) != 0 {
			t.Errorf("%s: %q", what, f.did)
		}
		if f.press(m, "n"); len(f.did) != 1 {
			t.Errorf("%s: denied: %q", what, f.did)
		}
	}
}

// An ask that another terminal answered is told, and so is one that is another call by now; keys do nothing to either.
func TestAnAskThatChangedUnderTheEyes(t *testing.T) {
	f := source(2)
	m := opened(f, 80, 24)
	f.became = "allowed by anna"
	f.asks = f.asks[1:]
	f.do(m, m.Refresh())
	wants(t, f.read(m), "answered meanwhile: allowed by anna")
	if f.press(m, "y", "n", "s"); len(f.did) != 0 {
		t.Fatalf("%q", f.did)
	}
	f.press(m, "enter")
	wants(t, f.read(m), "make 2")
	f.asks[0].Bound = "b2"
	f.do(m, m.Refresh())
	if f.press(m, "y"); len(f.did) != 0 {
		t.Fatalf("another call was allowed: %q", f.did)
	}
	wants(t, f.read(m), "It has changed since it was shown")
	if f.press(m, "y"); strings.Join(f.did, "|") != "a2@b2 {Verdict:1 Wider:false Text:}" {
		t.Errorf("%q", f.did)
	}
	// A key loses the race: told in the answer's place.
	f = source(1)
	m = opened(f, 80, 24)
	f.err = &Gone{"another terminal answered first: denied by bob"}
	f.press(m, "y")
	f.asks = nil
	f.do(m, m.Refresh())
	wants(t, f.read(m), "another terminal answered first: denied by bob")
	if f.press(m, "esc"); m.Focused() {
		t.Error("the focus stays without anything to answer")
	}
	// Any other error leaves it waiting.
	f = source(1)
	f.err = errors.New("disk on fire")
	m = opened(f, 80, 24)
	f.press(m, "y")
	wants(t, f.read(m), "disk on fire", "make 1")
}

// An answer that is under way is not given twice, and an answer about another ask than the shown one is dropped.
func TestStaleAndDoubleAnswers(t *testing.T) {
	f := source(2)
	m := opened(f, 80, 24)
	cmd := m.Update(key("y"))
	if more := m.Update(key("y")); more != nil {
		t.Error("answered twice")
	}
	f.do(m, m.turn(1))
	f.do(m, cmd)
	wants(t, f.read(m), "make 2", "allowed once: make 1")
	old := showMsg{of: m, ask: Ask{ID: "a1", Bound: "b1"}, detail: Detail{Rows: []Row{{Text, "stale"}}}}
	f.do(m, m.Update(old))
	if strings.Contains(f.read(m), "stale") {
		t.Error("what was asked of another ask is shown")
	}
}

// Questions are answered by digit, by selection, and in words.
func TestQuestions(t *testing.T) {
	for keys, want := range map[string]string{
		"2": "グリーン 👩‍👩‍👧", "3": "3", "4": "", "down enter": "red", "down down enter": "グリーン 👩‍👩‍👧", "w o k enter": "ok", "i x backspace enter": "", "enter": "", "y": "",
	} {
		f := &fake{clock: testNow, details: map[string]Detail{}}
		f.add(question("q", "Which 日本語?", "red", "グリーン 👩‍👩‍👧", "3"))
		m := opened(f, 60, 20)
		f.press(m, strings.Fields(keys)...)
		got := strings.Join(f.did, "|")
		if want == "" && got != "" || want != "" && got != "q@q1 {Verdict:0 Wider:false Text:"+want+"}" {
			t.Errorf("%s: %q", keys, got)
		}
	}
	f := &fake{clock: testNow, details: map[string]Detail{}}
	f.add(question("q", "Why?"))
	m := opened(f, 40, 10)
	f.press(m, "w", "日", "本", "left", "x")
	if c := m.Cursor(); c == nil || c.X != ansi.StringWidth(" answer: 日x") || c.Y != 8 || !m.Typing() {
		t.Errorf("the cursor: %+v", c)
	}
	wants(t, f.read(m), " answer: 日x本")
	f.do(m, m.Update(tea.PasteMsg{Content: "a\nb\x1b[2J"}))
	wants(t, f.read(m), "日xa b本")
	f.press(m, "enter")
	if len(f.did) != 1 || m.Cursor() != nil {
		t.Errorf("%q", f.did)
	}
}

// Whatever stands in a text, nothing that a terminal obeys gets through, and each line has exactly the cells that it may
// have, at every size, as a strip, focused and as a page.
func TestHostileTextsFit(t *testing.T) {
	evil := "a\x1b[2J\x1b]52;c;ZXZpbA==\a\rb\tc 日本語 👩‍👩‍👧‍👦 e\u0301 \u202eright\u009b6n שלום " + strings.Repeat("long ", 80) + "\xff"
	f := &fake{clock: testNow, details: map[string]Detail{}}
	f.add(Ask{ID: "a", Kind: Approval, Title: evil, Line: evil, Asked: testNow}, Detail{
		Rows: []Row{{About, evil}, {Text, evil}, {Added, "+" + evil}}, Exact: Rule{evil, evil}, Wider: Rule{evil, evil}, Project: evil,
	})
	f.add(Ask{ID: "q", Kind: Question, Title: evil, Line: evil}, Detail{Rows: []Row{{Text, evil}}, Options: []string{evil, "2"}})
	f.add(Ask{ID: "n", Kind: Notice, Title: evil, Line: evil}, Detail{Rows: []Row{{Warning, evil}}, Hint: evil})
	f.became = evil
	for _, page := range []bool{false, true} {
		for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}, {24, 6}, {10, 3}, {1, 1}, {33, 7}} {
			m := paged(f, size[0], size[1], page)
			check := func(where string) {
				t.Helper()
				lines := strings.Split(m.View(), "\n")
				if len(lines) != size[1] {
					t.Errorf("%s at %v: %d lines", where, size, len(lines))
				}
				for _, l := range lines {
					if ansi.StringWidth(l) != size[0] || strings.ContainsAny(l, "\x1b\a\r\t\u009b\u202e") {
						t.Errorf("%s at %v: %d cells: %q", where, size, ansi.StringWidth(l), l)
					}
				}
			}
			check("strip")
			f.do(m, m.Focus())
			for range 3 {
				for _, k := range []string{"", "right", "r", "?", "?", "pgdown"} {
					if k != "" {
						f.press(m, k)
					}
					check("focused " + m.shown.ask.ID + " " + k)
				}
				f.read(m)
				f.press(m, "w", "日", evil)
				check("typing")
				f.press(m, "esc", "esc", "tab")
				f.do(m, m.Focus())
			}
			f.press(m, "tab")
			kept := f.asks
			f.asks = nil
			f.do(m, m.Refresh())
			check("gone")
			f.asks = kept
		}
	}
}

// The strip says what waits and which key opens it, in at most three lines, and is not there when nothing waits.
func TestStrip(t *testing.T) {
	f := source(4)
	f.add(question("q", "Which?"))
	m := paged(f, 80, 3, false)
	if h := m.Height(10); h != 3 {
		t.Errorf("%d lines", h)
	}
	text := f.read(m)
	wants(t, text, "4 approvals, 1 question wait for you", "ctrl+o", "make 1", "make 2", "and 3 more")
	f.asks = nil
	f.do(m, m.Refresh())
	if m.Height(10) != 0 || m.Focus() != nil || m.Focused() {
		t.Error("a strip of nothing")
	}
}

// A page lists what waits in several sessions, and is answered in place.
func TestPage(t *testing.T) {
	f := &fake{clock: testNow, details: map[string]Detail{}}
	a, d := approval("a1", "make world")
	a.Title = "買い物"
	f.add(a, d)
	q, qd := question("q1", "Which colour?", "red", "green")
	q.Session, q.Title = "s2", "paint"
	f.add(q, qd)
	f.add(Ask{ID: "n1", Kind: Notice, Session: "s3", Title: "broken", Line: "the model call failed: 401"}, Detail{Rows: []Row{{Warning, "401 unauthorized"}}, Hint: "perdure -p -r s3"})
	m := paged(f, 80, 24, true)
	text := f.read(m)
	wants(t, text, "買い物", "make world", "Which colour?", "the model call failed: 401", "Approval 1 of 3")
	f.press(m, "j")
	f.read(m)
	f.press(m, "2")
	wants(t, f.read(m), "401 unauthorized", "perdure -p -r s3")
	f.press(m, "y", "n", "1", "enter")
	f.press(m, "k")
	f.read(m)
	f.press(m, "n")
	if got := strings.Join(f.did, "|"); got != "q1@q1 {Verdict:0 Wider:false Text:green}|a1@b1 {Verdict:0 Wider:false Text:}" {
		t.Errorf("%s", got)
	}
	f.asks = nil
	f.do(m, m.Refresh())
	f.press(m, "enter")
	wants(t, f.read(m), "nothing waits")
}

// A long call and a long list are laid out once, not for every frame.
func TestAFrameDoesNotGrowWithTheCall(t *testing.T) {
	f := source(1)
	d := f.details["a1"]
	for range 20_000 {
		d.Rows = append(d.Rows, Row{Text, strings.Repeat("x", 100)})
	}
	f.details["a1"] = d
	m := opened(f, 80, 24)
	m.View()
	allocs := testing.AllocsPerRun(20, func() { m.View() })
	if allocs > 2000 {
		t.Errorf("%.0f allocations for a frame", allocs)
	}
}

// A screen says the size again for every frame: what somebody scrolled to stays, and what was read stays read. After a
// change of the width a part of it has to be drawn again, unless all of it was.
func TestTheSameSizeAgainMovesNothing(t *testing.T) {
	f := source(1)
	d := f.details["a1"]
	for i := range 30 {
		d.Rows = append(d.Rows, Row{Text, fmt.Sprint("line ", i)})
	}
	f.details["a1"] = d
	m := opened(f, 60, 14)
	frame := func() string {
		m.SetSize(60, 14)
		return f.read(m)
	}
	f.press(m, "space")
	wants(t, frame(), "line 10")
	wants(t, frame(), "line 10")
	m.SetSize(50, 14)
	f.press(m, "home", "space", "space", "space", "space", "space") // without a frame in between
	if f.read(m); m.shown.whole() {
		t.Error("lines that were never drawn at this width count as read")
	}
	m.SetSize(60, 14)
	for range 6 {
		frame()
		f.press(m, "space")
	}
	f.press(m, "home")
	for range 6 {
		frame()
		f.press(m, "space")
	}
	wants(t, frame(), "line 29")
	m.SetSize(40, 12)
	if f.read(m); !m.shown.whole() {
		t.Error("what was read as a whole has to be read again")
	}
	if f.press(m, "y"); len(f.did) != 1 {
		t.Errorf("%q", f.did)
	}
}

// A question that only an option answers takes no words, and offers none.
func TestAClosedQuestionTakesNoWords(t *testing.T) {
	for keys, want := range map[string]string{"w x enter": "", "i x enter": "", "2": "green"} {
		f := &fake{clock: testNow, details: map[string]Detail{}}
		ask, d := question("q", "Which?", "red", "green")
		d.Closed = true
		f.add(ask, d)
		m := opened(f, 60, 20)
		if text := f.read(m); strings.Contains(text, "own words") || !strings.Contains(text, "1-2 answer") {
			t.Errorf("it offers\n%s", text)
		}
		f.press(m, strings.Fields(keys)...)
		if got := strings.Join(f.did, "|"); (got != "") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", keys, got)
		}
	}
}
