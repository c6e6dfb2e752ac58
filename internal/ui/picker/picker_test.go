package picker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	rows     []Row
	previews map[string]Preview
	err      error
	asked    []string // words of each look
	looked   []string // ids of previews
}

func (f *fake) List(_ context.Context, q Query, after string, n int) (Page, error) {
	f.asked = append(f.asked, q.Words+"@"+after)
	if f.err != nil {
		return Page{}, f.err
	}
	var p Page
	i, _ := strconv.Atoi(after)
	for ; i < len(f.rows) && (len(p.Rows) < n || q.Words != ""); i++ {
		if (q.All || f.rows[i].Dir == "~/shop") && Matches(f.rows[i], q.Words) {
			p.Rows = append(p.Rows, f.rows[i])
		}
	}
	if i < len(f.rows) {
		p.Next = strconv.Itoa(i)
	}
	return p, nil
}

func (f *fake) Preview(_ context.Context, id string) (Preview, error) {
	f.looked = append(f.looked, id)
	return f.previews[id], f.err
}

func someRows() []Row {
	ago := func(d time.Duration) time.Time { return testNow.Add(-d) }
	return []Row{
		{ID: "01a1ff68-one", Title: "fix the login form", Dir: "~/shop", Branch: "fix/login", Updated: ago(time.Minute), State: Waiting, Status: "waiting", Cost: "$1.20", Tasks: 2, Holder: "pid 12 on laptop"},
		{ID: "01a1ff68-two", Title: "日本語のテスト 👩‍👩‍👧‍👦 e\u0301te\u0301 を直す", Dir: "~/shop", Branch: "main", Updated: ago(time.Hour), State: Working, Status: "running", Cost: "$12.00"},
		{ID: "01a1ff68-three", Title: "\x1b[2Jclear\tthe\r\nscreen \x1b]0;x\a\u202eevil", Dir: "~/shop", Branch: "\x1b[31mred", Updated: ago(26 * time.Hour), State: Broken, Status: "failed"},
		{ID: "01a1ff68-four", Title: "docs", Found: "the \x1b[1mwords\x1b[0m were 日本語", First: "write the documentation", Dir: "~/shop", Updated: ago(30 * 24 * time.Hour), State: Over, Status: "closed", Cost: "$0.03"},
		{ID: "01a1ff68-five", Title: "elsewhere", Dir: "~/very/long/way/to/another/project", Branch: "main", Updated: ago(2 * time.Hour), State: Idle, Status: "idle"},
	}
}

func somePreviews() map[string]Preview {
	return map[string]Preview{
		"01a1ff68-one": {
			First: "fix the login form, it takes no password with an umlaut", Asked: "and now add a test for it", Last: "The form is fixed: passwords are taken as they are.\nI want to run the tests now.",
			Waits: []string{"Bash make test"}, Plan: []string{"✓ find the cause", "▸ fix it", "○ test it"}, Tasks: []string{"bash_1 web: npm run dev"},
			Next: "45,120 tokens, cached for 4m more, about $0.02",
		},
		"01a1ff68-three": {First: "\x1b[2Jx", Last: "\x1b]52;c;ZXZpbA==\a日本語\r\nnext\tline", Waits: []string{"\x1b[31mred"}, Next: "1 token"},
	}
}

func page(f *fake, width, height int) *Model {
	m := New(Config{Source: f, Now: func() time.Time { return testNow }, Styles: theme.Colours(), Here: "~/shop"})
	m.SetSize(width, height)
	drain(m, m.Init())
	return m
}

// sent is what a picker sends to its owner.
var nothing = ChosenMsg{ID: "nothing was sent"}

// drain runs a command and what follows from it, and gives what was chosen.
func drain(m *Model, cmd tea.Cmd) ChosenMsg {
	if cmd == nil {
		return nothing
	}
	switch msg := cmd().(type) {
	case nil:
	case ChosenMsg:
		return msg
	case tea.BatchMsg:
		out := nothing
		for _, c := range msg {
			if got := drain(m, c); got != nothing {
				out = got
			}
		}
		return out
	default:
		return drain(m, m.Update(msg))
	}
	return nothing
}

func press(m *Model, keys ...string) ChosenMsg {
	out := nothing
	for _, k := range keys {
		if got := drain(m, m.Update(keyPress(k))); got != nothing {
			out = got
		}
	}
	return out
}

func keyPress(k string) tea.KeyPressMsg {
	named := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome, "tab": tea.KeyTab, "f1": tea.KeyF1,
	}
	if code, ok := named[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if letter, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(letter)[0], Mod: tea.ModCtrl}
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
		{"wide", 120, 40, []string{"down"}, nil},
		{"narrow", 40, 12, nil, nil},
		{"hostile", 80, 24, []string{"down", "down"}, nil},
		{"all", 120, 24, []string{"tab"}, nil},
		{"search", 80, 24, []string{"l", "o", "g"}, nil},
		{"nothing", 80, 24, []string{"z", "z", "z"}, nil},
		{"nowhere", 40, 12, []string{"tab", "z", "z", "z"}, nil},
		{"held", 80, 24, []string{"enter"}, nil},
		{"takeover", 80, 24, []string{"ctrl+t"}, nil},
		{"help", 80, 24, []string{"f1"}, nil},
		{"empty", 80, 24, nil, func(f *fake) { f.rows = nil }},
		{"failing", 80, 24, nil, func(f *fake) { f.err = errors.New("disk \x1b[31mon fire") }},
		{"small", 20, 5, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{rows: someRows(), previews: somePreviews()}
			if c.prepare != nil {
				c.prepare(f)
			}
			m := page(f, c.width, c.height)
			press(m, c.keys...)
			got := checkFrame(t, m, c.width, c.height)
			var lines []string
			for l := range strings.SplitSeq(got, "\n") {
				lines = append(lines, strings.TrimRight(l, " "))
			}
			golden(t, c.name, strings.Join(lines, "\n")+"\n")
		})
	}
	f := &fake{rows: someRows(), previews: somePreviews()}
	for width := 1; width < 140; width += 7 {
		for height := 1; height < 45; height += 3 {
			m := page(f, width, height)
			press(m, "down", "down")
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

// Goal: each key says how to go on, with exactly the session that is selected; nothing is sent for what makes no sense,
// and nothing is taken from another process without a yes.
func TestEachKeyChooses(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want ChosenMsg
	}{
		{[]string{"down", "enter"}, ChosenMsg{"01a1ff68-two", Continue}},
		{[]string{"down", "ctrl+f"}, ChosenMsg{"01a1ff68-two", Fork}},
		{[]string{"end", "ctrl+o"}, ChosenMsg{"01a1ff68-four", Handoff}},
		{[]string{"ctrl+l"}, ChosenMsg{"01a1ff68-one", Attach}},
		{[]string{"ctrl+f"}, ChosenMsg{"01a1ff68-one", Fork}},
		{[]string{"enter"}, nothing},          // another process has it
		{[]string{"down", "ctrl+l"}, nothing}, // nobody has it
		{[]string{"down", "ctrl+t", "y"}, nothing},
		{[]string{"ctrl+t"}, nothing},
		{[]string{"ctrl+t", "n"}, nothing},
		{[]string{"ctrl+t", "enter"}, nothing},
		{[]string{"ctrl+t", "ctrl+t", "ctrl+t", "y"}, ChosenMsg{"01a1ff68-one", TakeOver}},
		{[]string{"ctrl+t", "y"}, ChosenMsg{"01a1ff68-one", TakeOver}},
		{[]string{"d", "o", "c", "enter"}, ChosenMsg{"01a1ff68-four", Continue}},
		{[]string{"/", "d", "o", "c", "enter"}, ChosenMsg{"01a1ff68-four", Continue}},
		{[]string{"d", "o", "c", "ctrl+f"}, ChosenMsg{"01a1ff68-four", Fork}},
		{[]string{"d", "o", "c", "esc", "esc"}, ChosenMsg{What: Leave}},
		{[]string{"esc"}, ChosenMsg{What: Leave}},
		{[]string{"?", "esc"}, nothing},
		{[]string{"f1", "esc"}, nothing},
	} {
		f := &fake{rows: someRows()}
		m := page(f, 80, 24)
		if got := press(m, c.keys...); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.keys, got, c.want)
		}
	}
	m := page(&fake{rows: someRows()}, 80, 24)
	m.cfg.Return = true
	if got := press(m, "d", "esc", "esc"); got != (ChosenMsg{What: Return}) || !strings.Contains(ansi.Strip(m.View()), "esc back") {
		t.Errorf("from a session: %+v\n%s", got, m.View())
	}
	m = page(&fake{}, 80, 24)
	if got := press(m, "enter", "ctrl+f", "ctrl+o", "ctrl+l", "ctrl+t", "y", "down", "up"); got != nothing {
		t.Errorf("an empty list chose %+v", got)
	}
}

// Goal: letters search at once, whichever they are, and are never commands.
func TestSearchTakesLetters(t *testing.T) {
	f := &fake{rows: someRows(), previews: somePreviews()}
	m := page(f, 80, 24)
	if got := press(m, "f", "t", "h", "a", "q", "j"); got != nothing || !m.Typing() || m.query.Words != "fthaqj" {
		t.Errorf("%+v %q", got, m.query.Words)
	}
	press(m, "backspace", "backspace", "backspace", "backspace", "backspace")
	if m.query.Words != "f" || len(m.rows) < 2 {
		t.Errorf("%q %v", m.query.Words, m.rows)
	}
	drain(m, m.Update(tea.PasteMsg{Content: "ix\x1b[2J\nthe"}))
	if m.query.Words != "fix the" || len(m.rows) != 1 || m.rows[0].ID != "01a1ff68-one" {
		t.Errorf("%q %v", m.query.Words, m.rows)
	}
}

// Goal: the terminal's own cursor stands where letters go, behind wide ones too, so that an input method opens there; and
// none is there while a question waits for y or n.
func TestCursorIsWhereLettersGo(t *testing.T) {
	m := page(&fake{rows: someRows()}, 80, 24)
	press(m, "日", "本", "x")
	if c := m.Cursor(); c == nil || c.X != 3+5 || c.Y != 1 {
		t.Errorf("%+v", c)
	}
	for range 60 {
		press(m, "語")
	}
	if c := m.Cursor(); c == nil || c.X >= 80 {
		t.Errorf("%+v", c)
	}
	checkFrame(t, m, 80, 24)
	m = page(&fake{rows: someRows()}, 80, 24)
	press(m, "ctrl+t")
	if m.Cursor() != nil {
		t.Error("a cursor without a text")
	}
}

// Goal: who remembers a title, or what was asked first, finds it on top, although two hundred newer sessions have the same
// words somewhere.
func TestPhraseIsOnTop(t *testing.T) {
	f := &fake{}
	for i := range 200 {
		f.rows = append(f.rows, Row{ID: fmt.Sprint("s", i), Title: fmt.Sprintf("the form of page %d: login must be fixed, fix it", i), Dir: "~/shop"})
	}
	f.rows = append(f.rows,
		Row{ID: "asked", Title: "monday", First: "please fix the login form", Dir: "~/shop"},
		Row{ID: "within", Title: "we fix the login form again", Dir: "~/shop"},
		Row{ID: "named", Title: "Fix the login form", Dir: "~/shop"})
	m := page(f, 80, 24)
	press(m, strings.Split("fix the login form", "")...)
	if len(m.rows) != 203 {
		t.Fatalf("%d rows", len(m.rows))
	}
	for i, want := range []string{"named", "within", "asked", "s0", "s1"} {
		if m.rows[i].ID != want {
			t.Errorf("place %d has %s, not %s", i, m.rows[i].ID, want)
		}
	}
	if r, _ := m.Selected(); r.ID != "named" {
		t.Errorf("selected is %s", r.ID)
	}
}

// Goal: an answer to an older question changes nothing, of the list and of the preview.
func TestStaleAnswersAreDropped(t *testing.T) {
	f := &fake{rows: someRows(), previews: somePreviews()}
	m := page(f, 80, 24)
	old := m.ask()
	press(m, "d", "o", "c")
	drain(m, m.Update(old()))
	if len(m.rows) != 1 || m.rows[0].ID != "01a1ff68-four" {
		t.Errorf("an old list came through: %v", m.rows)
	}
	m = page(f, 80, 24)
	m.previews, f.looked = map[string]Preview{}, nil
	slow := m.preview() // of the first
	press(m, "down", "down")
	if len(f.looked) > 1 {
		t.Errorf("two previews at once: %v", f.looked)
	}
	drain(m, m.Update(slow()))
	if got := f.looked[len(f.looked)-1]; got != "01a1ff68-three" || strings.Contains(m.View(), "umlaut") {
		t.Errorf("looked at %v", f.looked)
	}
}

// Goal: of ten thousand sessions as many are asked for as are looked at; the end is reached by going there.
func TestPagesAreAskedForAsNeeded(t *testing.T) {
	f := &fake{}
	for i := range 1000 {
		f.rows = append(f.rows, Row{ID: fmt.Sprint("s", i), Title: fmt.Sprint("title ", i), Dir: "~/shop", Updated: testNow})
	}
	m := page(f, 80, 24)
	if len(m.rows) != pageSize || len(f.asked) != 1 {
		t.Errorf("%d rows, asked %v", len(m.rows), f.asked)
	}
	for range 12 {
		press(m, "end")
	}
	if r, _ := m.Selected(); r.ID != "s999" {
		t.Errorf("at %s of %d", r.ID, len(m.rows))
	}
}

// Goal: a directory without sessions is no empty page: those of all are shown.
func TestEmptyDirectoryShowsAll(t *testing.T) {
	f := &fake{rows: someRows()[4:]}
	m := page(f, 80, 24)
	if len(m.rows) != 1 || !m.query.All {
		t.Errorf("%v", m.rows)
	}
}

// BenchmarkPicker measures what must not lag: the first paint of ten thousand sessions, and a key until its frame.
func BenchmarkPicker(b *testing.B) {
	f := &fake{}
	for i := range 10_000 {
		f.rows = append(f.rows, Row{ID: fmt.Sprint("01a1ff68-", i), Title: fmt.Sprint("日本語 title of a session ", i), Dir: "~/shop", Branch: "main", Cost: "$1.00", Updated: testNow})
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			_ = page(f, 120, 40).View()
		}
	})
	b.Run("key", func(b *testing.B) {
		m := page(f, 120, 40)
		for b.Loop() {
			press(m, "down")
			_ = m.View()
		}
	})
	b.Run("search", func(b *testing.B) {
		m := page(f, 120, 40)
		for b.Loop() {
			m.Update(keyPress("t")) // what is known is shown before the source answers
			_ = m.View()
			m.Update(keyPress("backspace"))
		}
	})
}

// Why something was not done is told whole, below the list, at every size, until a key is pressed; it is text.
func TestANoteIsToldUntilAKeyIsPressed(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}} {
		m := New(Config{Source: &fake{rows: someRows()}, Now: func() time.Time { return testNow }, Here: "~/shop", Note: "no fork: the \x1b[31mdisk is full 語語, and there is nothing left of it"})
		m.SetSize(size[0], size[1])
		shown := strings.Join(strings.Fields(ansi.Strip(m.View())), " ")
		if !strings.Contains(shown, "no fork: the") || !strings.Contains(shown, "nothing left of it") || strings.Contains(m.View(), "\x1b[31m") {
			t.Errorf("%v:\n%s", size, m.View())
		}
		for _, line := range strings.Split(m.View(), "\n") {
			if ansi.StringWidth(line) > size[0] {
				t.Errorf("%v: too wide: %q", size, line)
			}
		}
		m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
		if strings.Contains(m.View(), "no fork") {
			t.Errorf("%v: it is still told", size)
		}
	}
}

// Whoever comes from a session wants another one: the one that they left is there, and the next one is selected. Where
// there is no other, or words are looked for, the first one is.
func TestTheSessionThatWasLeftIsNotTheFirstChoice(t *testing.T) {
	for _, c := range []struct{ left, words, want string }{
		{"01a1ff68-one", "", "01a1ff68-two"}, {"01a1ff68-two", "", "01a1ff68-one"}, {"", "", "01a1ff68-one"}, {"01a1ff68-one", "login", "01a1ff68-one"},
	} {
		m := New(Config{Source: &fake{rows: someRows()}, Now: func() time.Time { return testNow }, Here: "~/shop", Left: c.left, Words: c.words})
		m.SetSize(80, 24)
		drain(m, m.Init())
		if got := m.selected(); got != c.want {
			t.Errorf("%+v: %s is selected", c, got)
		}
		m.move(-1)
		if got := m.selected(); got != "01a1ff68-one" {
			t.Errorf("%+v: above it is %s", c, got)
		}
		drain(m, m.ask())
		if got := m.selected(); got != "01a1ff68-one" {
			t.Errorf("%+v: looked at again, %s is selected", c, got)
		}
	}
}
