package board

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

var rewrite = flag.Bool("rewrite", false, "write the golden frames anew")

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fake is a source under the test's control.
type fake struct {
	mu      sync.Mutex
	rows    []Row
	same    bool // nothing has changed
	err     error
	did     []string
	peeks   map[string][]Peek
	looking map[string]bool // whose peek has not ended
}

func (f *fake) List(context.Context) ([]Row, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.same {
		return nil, false, f.err
	}
	return slices.Clone(f.rows), true, f.err
}

func (f *fake) Peek(ctx context.Context, id string, see func(Peek)) error {
	f.note(id, true)
	defer f.note(id, false)
	for _, p := range f.peeks[id] {
		see(p)
	}
	<-ctx.Done()
	return ctx.Err()
}

func (f *fake) note(id string, looks bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.looking == nil {
		f.looking = map[string]bool{}
	}
	if f.looking[id] = looks; !looks {
		delete(f.looking, id)
	}
}

func (f *fake) Start(_ context.Context, prompt string) (string, error) {
	return "new", f.do("start " + prompt)
}
func (f *fake) Pause(_ context.Context, id string) error { return f.do("pause " + id) }
func (f *fake) Close(_ context.Context, id string) error { return f.do("close " + id) }

func (f *fake) do(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
	return f.err
}

func someRows() []Row {
	ago := func(d time.Duration) time.Time { return testNow.Add(-d) }
	return []Row{
		{ID: "s-idle", Title: "an old one", Dir: "~/old", Group: Rests, Status: "idle", Since: ago(50 * time.Hour)},
		{ID: "s-works", Title: "日本語のテスト 👩‍👩‍👧‍👦 e\u0301te\u0301 を直す", Dir: "~/shop", Group: Works, Status: "running", Since: ago(3 * time.Second), Cost: "$0.20", Background: true},
		{ID: "s-asks", Title: "fix the login", Dir: "~/shop", Group: Waits, Status: "waiting", Since: ago(time.Minute), About: "Bash make test", Answerable: true},
		{ID: "s-evil", Title: "\x1b[2Jclear\tthe\r\nscreen \x1b]0;x\a\u202eevil", Dir: "\x1b[31m", Group: Waits, Status: "failed", Since: ago(time.Hour), About: "\x1b]52;c;ZXZpbA==\aoverloaded"},
		{ID: "s-news", Title: "docs", Dir: "~/docs", Group: News, Status: "idle", Since: ago(10 * time.Minute)},
	}
}

func somePeeks() map[string][]Peek {
	return map[string][]Peek{
		"s-asks":  {{Asked: "fix the login form", Said: "The form is fixed.\nI want to run the tests now.", Doing: []string{"Bash make test waits for you"}}},
		"s-works": {{Said: "old words"}, {Asked: "日本語で", Said: strings.Repeat("words and words and ", 40) + "the last words\x1b[2J\r\nタブ\tend", Live: true, Doing: []string{"Bash go test ./..."}}},
	}
}

func page(f *fake, width, height int) *Model {
	m := New(Config{Source: f, Now: func() time.Time { return testNow }, Styles: theme.Colours()})
	m.later = func(_ time.Duration, msg tea.Msg) tea.Cmd { // no time passes: looks that are due later are not made, peeks are
		if _, beat := msg.(listBeat); beat {
			return nil
		}
		return func() tea.Msg { return msg }
	}
	m.SetSize(width, height)
	drain(m, m.Init())
	return m
}

// drain runs a command and what follows from it, up to what waits for a peek that does not come, and gives what was sent.
func drain(m *Model, cmd tea.Cmd) (sent []tea.Msg) {
	if cmd == nil {
		return nil
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-got:
	case <-time.After(30 * time.Millisecond): // it waits for words that do not come
		return nil
	}
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			sent = append(sent, drain(m, c)...)
		}
	case OpenMsg, AnswerMsg, LeaveMsg:
		return []tea.Msg{msg}
	default:
		return drain(m, m.Update(msg))
	}
	return sent
}

func press(m *Model, keys ...string) (sent []tea.Msg) {
	for _, k := range keys {
		sent = append(sent, drain(m, m.Update(keyPress(k)))...)
	}
	return sent
}

func keyPress(k string) tea.KeyPressMsg {
	named := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome,
	}
	if code, ok := named[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

// checkFrame wants a frame that cannot break its place: exactly so many lines, none too wide, and no byte in it that a
// terminal obeys but colours of the page's own.
func checkFrame(t *testing.T, m *Model, width, height int) string {
	t.Helper()
	frame := m.View()
	lines := strings.Split(frame, "\n")
	if len(lines) != height {
		t.Errorf("%dx%d: %d lines", width, height, len(lines))
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n != width {
			t.Errorf("%dx%d: %d cells: %q", width, height, n, l)
		}
	}
	text := ansi.Strip(frame)
	for _, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') {
			t.Errorf("%dx%d: %q in %q", width, height, r, text)
			break
		}
	}
	for rest := frame; ; {
		i := strings.IndexByte(rest, 0x1b)
		if i < 0 {
			return text
		}
		end := strings.IndexByte(rest[i:], 'm')
		if end < 0 || strings.Trim(rest[i:i+end], "\x1b[0123456789;") != "" {
			t.Errorf("a sequence that is no colour: %q", rest[i:min(len(rest), i+20)])
			return text
		}
		rest = rest[i+end:]
	}
}

// Goal: how the page looks, at the sizes that people have.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		keys          []string
		prepare       func(*fake)
	}{
		{"eighty", 80, 24, nil, nil},
		{"wide", 120, 40, []string{"end"}, nil},
		{"narrow", 40, 12, nil, nil},
		{"live", 80, 24, []string{"down", "down"}, nil},
		{"close", 80, 24, []string{"x"}, nil},
		{"new", 80, 24, []string{"n", "日", "本"}, nil},
		{"filter", 80, 24, []string{"/", "d", "o", "c"}, nil},
		{"help", 80, 24, []string{"?"}, nil},
		{"empty", 80, 24, nil, func(f *fake) { f.rows = nil }},
		{"failing", 80, 24, nil, func(f *fake) { f.err = errors.New("disk \x1b[31mon fire") }},
		{"small", 20, 5, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{rows: someRows(), peeks: somePeeks()}
			if c.prepare != nil {
				c.prepare(f)
			}
			m := page(f, c.width, c.height)
			defer m.Close()
			press(m, c.keys...)
			var lines []string
			for l := range strings.SplitSeq(checkFrame(t, m, c.width, c.height), "\n") {
				lines = append(lines, strings.TrimRight(l, " "))
			}
			golden(t, c.name, strings.Join(lines, "\n")+"\n")
		})
	}
	m := page(&fake{rows: someRows(), peeks: somePeeks()}, 80, 24)
	defer m.Close()
	for width := 1; width < 140; width += 7 {
		for height := 1; height < 45; height += 3 {
			m.SetSize(width, height)
			checkFrame(t, m, width, height)
		}
	}
}

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s differs (write it anew with -rewrite):\ngot\n%s\nwant\n%s", path, text, want)
	}
}

// Goal: what needs a person comes first, and a key does exactly what it says to the session that is selected.
func TestKeys(t *testing.T) {
	f := &fake{rows: someRows()}
	m := page(f, 80, 24)
	defer m.Close()
	if r, _ := m.Selected(); r.ID != "s-asks" {
		t.Errorf("first is %+v", r)
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"enter"}, "[{s-asks}]"},
		{[]string{"a"}, "[{s-asks}]"},
		{[]string{"down", "a"}, "[]"}, // nothing waits for an answer
		{[]string{"down", "enter"}, "[{s-works}]"},
		{[]string{"end", "enter"}, "[{s-idle}]"},
		{[]string{"home", "enter"}, "[{s-asks}]"},
		{[]string{"esc"}, "[{}]"},
		{[]string{"q"}, "[{}]"},
		{[]string{"?", "esc"}, "[]"},
		{[]string{"/", "q", "n", "x", "esc"}, "[]"}, // letters of a filter
	} {
		if got := fmt.Sprint(press(m, c.keys...)); got != c.want {
			t.Errorf("%v: %s, want %s", c.keys, got, c.want)
		}
	}
	press(m, "home", "x", "n", "x", "enter", "x", "esc", "x", "a")
	if len(f.did) > 0 {
		t.Errorf("without a yes: %v", f.did)
	}
	press(m, "x", "y", "down", "p")
	press(m, "n", "q", " ", "x", "y", "enter")
	press(m, "n", "enter", "n", "a", "esc")
	if want := []string{"close s-asks", "pause s-evil", "start q xy"}; !slices.Equal(f.did, want) {
		t.Errorf("%v, want %v", f.did, want)
	}
}

// Goal: what a session does changes its place, and the selection stays with it; a list that is as before costs nothing.
func TestSelectionFollowsItsSession(t *testing.T) {
	f := &fake{rows: someRows()}
	m := page(f, 80, 24)
	defer m.Close()
	f.rows[2].Group = Rests
	drain(m, m.look())
	if r, _ := m.Selected(); r.ID != "s-asks" || r.Group != Rests {
		t.Errorf("%+v", r)
	}
	f.rows = f.rows[:2]
	drain(m, m.look())
	if r, ok := m.Selected(); !ok || r.ID == "s-asks" {
		t.Errorf("it is gone: %+v", r)
	}
	f.same = true
	before := &m.lines[0]
	drain(m, m.look())
	if before != &m.lines[0] || len(m.rows) != 2 {
		t.Error("a list that is as before was arranged anew")
	}
}

// Goal: one session is looked into at a time, the one that is selected; words of another are dropped, and nobody is left
// looking when the page is closed.
func TestPeekFollowsTheSelection(t *testing.T) {
	f := &fake{rows: someRows(), peeks: somePeeks()}
	m := page(f, 80, 24)
	if !strings.Contains(m.View(), "The form is fixed.") {
		t.Errorf("%s", ansi.Strip(m.View()))
	}
	old := m.peek.n
	press(m, "down", "down")
	if got := ansi.Strip(m.View()); !strings.Contains(got, "タブ end") || !strings.Contains(got, " live ") {
		t.Errorf("%s", got)
	}
	m.Update(peekAnd{peekMsg{n: old, peek: Peek{Said: "stale words"}}, nil})
	if strings.Contains(m.View(), "stale") {
		t.Error("words of another session are shown")
	}
	m.Close()
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
		f.mu.Lock()
		n := len(f.looking)
		f.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left looking: %v", f.looking)
		}
	}
}

// Goal: the terminal's own cursor stands where letters go, behind wide ones too.
func TestCursorIsWhereLettersGo(t *testing.T) {
	m := page(&fake{rows: someRows()}, 80, 24)
	defer m.Close()
	if m.Cursor() != nil {
		t.Error("a cursor without a text")
	}
	press(m, "n", "日", "本", "x")
	if c := m.Cursor(); c == nil || c.X != 6+5 || c.Y != 23 {
		t.Errorf("%+v", c)
	}
	press(m, "esc", "/", "日")
	if c := m.Cursor(); c == nil || c.X != 2+2 {
		t.Errorf("%+v", c)
	}
}

// BenchmarkBoard measures a key until its frame, with a thousand sessions.
func BenchmarkBoard(b *testing.B) {
	f := &fake{}
	for i := range 1000 {
		f.rows = append(f.rows, Row{ID: fmt.Sprint("s", i), Title: fmt.Sprint("日本語 title ", i), Group: Group(i % 3), Status: "running", Since: testNow})
	}
	m := page(f, 120, 40)
	defer m.Close()
	b.ResetTimer()
	for b.Loop() {
		m.Update(keyPress("down"))
		_ = m.View()
	}
}

// What waits, what is asked and what is told are words to read: they are not yellow or cyan, which are pale on white.
func TestWordsToReadAreNotPale(t *testing.T) {
	m := page(&fake{rows: someRows(), peeks: somePeeks()}, 100, 24)
	pale := func() string {
		var out strings.Builder
		for _, part := range strings.Split(m.View(), "\x1b[")[1:] {
			codes, text, _ := strings.Cut(part, "m")
			if c := ";" + codes + ";"; strings.Contains(c, ";33;") || strings.Contains(c, ";36;") {
				out.WriteString(text + "\n")
			}
		}
		return out.String()
	}
	for _, keys := range [][]string{nil, {"x"}, {"n", "n"}, {"/", "w"}} {
		press(m, keys...)
		for _, words := range []string{"Bash make test", "overloaded", "Close session", "nothing was done", " new: n", "/w"} {
			if strings.Contains(pale(), words) {
				t.Errorf("after %v %q is pale", keys, words)
			}
		}
	}
}

// Goal: what the model says is Markdown, and is drawn as in the conversation; where a way of writing has no look its marks
// stay. What a call does, and what a person named a session, is shown as it is.
func TestSaidIsDrawnAsMarkdown(t *testing.T) {
	f := &fake{rows: []Row{{ID: "s-asks", Title: "a *title*", Group: Waits, Status: "waiting", Since: testNow, About: "Bash ls **/*.go"}}, peeks: map[string][]Peek{"s-asks": {{
		Said: "## What was done\n\nThe **form** is `fixed`, see [the page](https://example.org).\n\n| a | b |\n|---|---|\n| one | two |", Doing: []string{"Bash ls **/*.go"},
	}}}}
	m := page(f, 90, 40)
	got := checkFrame(t, m, 90, 40)
	for _, want := range []string{"What was done", "The form is fixed, see the page", "a *title*", "▲ Bash ls **/*.go", "· Bash ls **/*.go"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, raw := range []string{"**form**", "`", "|---"} {
		if strings.Contains(got, raw) {
			t.Errorf("raw %q in\n%s", raw, got)
		}
	}
}
