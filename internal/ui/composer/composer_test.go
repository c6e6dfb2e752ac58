package composer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// fake is a source under the test's control.
type fake struct {
	history []string
	files   []File
	images  map[string]Image
	err     error
	asked   []string
	slow    int // answers of a search that are beginnings
}

func (f *fake) Newest(_ context.Context, n int) ([]string, error) {
	return f.history[:min(len(f.history), n)], f.err
}

func (f *fake) Search(_ context.Context, words string, n int) (out []string, err error) {
	f.asked = append(f.asked, "search "+words)
	history := f.history
	if f.slow > 0 {
		f.slow--
		history, err = history[:max(len(history)-f.slow-1, 0)], ErrMore
	}
	for _, h := range history {
		if Holds(h, words) && len(out) < n {
			out = append(out, h)
		}
	}
	return out, errors.Join(f.err, err)
}

func (f *fake) Files(_ context.Context, words string, n int) ([]File, error) {
	f.asked = append(f.asked, "files "+words)
	return Rank(f.files, words, n), f.err
}

func (f *fake) Image(_ context.Context, path string) (Image, error) {
	f.asked = append(f.asked, "image "+path)
	img, ok := f.images[path]
	switch {
	case f.err != nil:
		return Image{}, f.err
	case !ok:
		return Image{}, ErrNoFile
	}
	return img, nil
}

// person sits before a composer. Commands that it gives are run at once unless they are held back.
type person struct {
	*Composer
	t     testing.TB
	src   *fake
	clock time.Time
	hold  bool
	held  []tea.Cmd
	sent  []Draft
}

func newPerson(t testing.TB, edit ...func(*Config)) *person {
	p := &person{t: t, src: &fake{images: map[string]Image{}}, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	cfg := Config{
		Source: p.src, Now: func() time.Time { return p.clock }, Hint: "say what to do",
		Commands: []Command{{"help", "", "what there is"}, {"model", "[NAME]", "another model"}, {"memory", "", "what is remembered"}},
	}
	for _, e := range edit {
		e(&cfg)
	}
	p.Composer = New(cfg)
	p.SetSize(40, 12)
	p.run(p.Init())
	return p
}

func (p *person) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if p.hold {
		p.held = append(p.held, cmd)
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	case SentMsg:
		p.sent = append(p.sent, msg.Draft)
	default:
		p.run(p.Update(msg))
	}
}

// release runs what was held back.
func (p *person) release() {
	held := p.held
	p.hold, p.held = false, nil
	for _, cmd := range held {
		p.run(cmd)
	}
}

// press makes a key of its name, as in ctrl+shift+z, and text of everything that is none.
func press(key string) tea.KeyPressMsg {
	names := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "up": tea.KeyUp,
		"down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "space": tea.KeySpace, "pgup": tea.KeyPgUp,
	}
	var mod tea.KeyMod
	rest := key
	for _, m := range []struct {
		name string
		mod  tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if after, ok := strings.CutPrefix(rest, m.name); ok && after != "" {
			rest, mod = after, mod|m.mod
		}
	}
	if code, ok := names[rest]; ok {
		k := tea.KeyPressMsg{Code: code, Mod: mod}
		if rest == "space" {
			k.Text = " "
		}
		return k
	}
	if mod != 0 {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: mod}
	}
	return tea.KeyPressMsg{Code: tea.KeyExtended, Text: rest}
}

func (p *person) press(keys ...string) {
	for _, k := range keys {
		p.run(p.Update(press(k)))
		p.check()
	}
}

// types presses a key for each character.
func (p *person) types(text string) {
	for _, r := range text {
		switch r {
		case '\n':
			p.press("ctrl+j")
		case ' ':
			p.press("space")
		default:
			p.run(p.Update(tea.KeyPressMsg{Code: r, Text: string(r)}))
		}
		p.check()
	}
}

func (p *person) paste(s string) {
	p.run(p.Update(tea.PasteMsg{Content: s}))
	p.check()
}

// text is what is written, with what the screen shows of attachments.
func (p *person) text() string { return p.labelled(p.buf.text()) }

// wrote fails the test if something else is written. A bar is the cursor.
func (p *person) wrote(want string) {
	p.t.Helper()
	b := p.buf
	got := p.labelled(b.between(pos{}, b.cur)) + "|" + p.labelled(b.between(b.cur, b.end()))
	if !strings.Contains(want, "|") {
		got = strings.Replace(got, "|", "", 1)
	}
	if got != want {
		p.t.Errorf("written is %q, want %q", got, want)
	}
}

// screen is what is drawn, without colours.
func (p *person) screen() string { return ansi.Strip(p.View()) }

// check fails the test if what is drawn breaks a rule of every room.
func (p *person) check() {
	p.t.Helper()
	view, height := p.View(), p.Height()
	lines := strings.Split(view, "\n")
	if len(lines) != height || height > p.height {
		p.t.Fatalf("%d lines, height %d of %d:\n%s", len(lines), height, p.height, view)
	}
	for _, l := range lines {
		if w := ansi.StringWidth(l); w > p.width {
			p.t.Fatalf("%d cells of %d: %q", w, p.width, l)
		}
		if i := strings.IndexFunc(ansi.Strip(l), unicode.IsControl); i >= 0 {
			p.t.Fatalf("a control character: %q", l)
		}
	}
	if cur := p.Cursor(); cur != nil && (cur.X < 0 || cur.X >= p.width || cur.Y < 0 || cur.Y >= len(lines)) {
		p.t.Fatalf("the cursor is at %d,%d of %d×%d", cur.X, cur.Y, p.width, len(lines))
	}
	b := p.buf
	if text := b.lines[b.cur.line].text; boundary(text, b.cur.off) != b.cur.off {
		p.t.Fatalf("the cursor is inside of a character: %d of %q", b.cur.off, text)
	}
}

// Goal: the usual keys do the usual things.
func TestEditingKeys(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		keys       []string
		want       string
	}{
		{"left and right go by one", "abc", []string{"left", "left", "right", "left"}, "a|bc"},
		{"ctrl+b and ctrl+f as well", "abc", []string{"ctrl+b", "ctrl+b", "ctrl+f"}, "ab|c"},
		{"home and end stay in the line", "one\ntwo", []string{"home"}, "one\n|two"},
		{"ctrl+a, ctrl+e", "one\ntwo", []string{"up", "ctrl+a", "ctrl+e"}, "one|\ntwo"},
		{"ctrl+home, ctrl+end", "one\ntwo", []string{"ctrl+home"}, "|one\ntwo"},
		{"word back", "go to  the_end.", []string{"alt+b"}, "go to  |the_end."},
		{"word back by ctrl+left", "go to  the end", []string{"ctrl+left", "ctrl+left"}, "go to  |the end"},
		{"word on", "go to the", []string{"home", "alt+f", "alt+right"}, "go to| the"},
		{"words go over lines", "one\ntwo", []string{"home", "alt+b"}, "|one\ntwo"},
		{"ctrl+k to the end of the line", "one two\nx", []string{"up", "home", "right", "ctrl+k"}, "o|\nx"},
		{"ctrl+k at the end joins", "one\ntwo", []string{"up", "end", "ctrl+k"}, "one|two"},
		{"ctrl+u to the beginning", "one two", []string{"left", "ctrl+u"}, "|o"},
		{"ctrl+w is a word of anything", "cd /usr/lib", []string{"ctrl+w"}, "cd |"},
		{"alt+backspace is a word of letters", "cd /usr/lib", []string{"alt+backspace"}, "cd /usr/|"},
		{"alt+d", "one two", []string{"home", "alt+d"}, "| two"},
		{"ctrl+d and delete", "abcd", []string{"home", "ctrl+d", "delete"}, "|cd"},
		{"backspace joins lines", "a\nb", []string{"left", "backspace"}, "a|b"},
		{"ctrl+h", "ab", []string{"ctrl+h"}, "a|"},
		{"ctrl+y gives back", "one two", []string{"ctrl+w", "home", "ctrl+y"}, "two|one "},
		{"kills in a row are one", "one two three", []string{"ctrl+w", "ctrl+w", "ctrl+y", "ctrl+y"}, "one two threetwo three|"},
		{"kills both ways are one", "one two three", []string{"alt+b", "ctrl+w", "ctrl+k", "ctrl+y"}, "one two three|"},
		{"a letter ends the row of kills", "one two", []string{"ctrl+w", "x", "ctrl+w", "ctrl+y"}, "one x|"},
		{"shift+enter, alt+enter, ctrl+j", "a", []string{"shift+enter", "alt+enter", "ctrl+j"}, "a\n\n\n|"},
		{"a backslash and enter", `a\`, []string{"enter"}, "a\n|"},
		{"undo by word", "one two", []string{"ctrl+_"}, "one |"},
		{"undo and redo", "one two", []string{"ctrl+_", "ctrl+_", "alt+_"}, "one |"},
		{"ctrl+x ctrl+u", "one two", []string{"ctrl+x", "ctrl+u"}, "one |"},
		{"undo of a kill", "one two", []string{"home", "ctrl+k", "ctrl+_"}, "|one two"},
		{"a change after undo ends redo", "one two", []string{"ctrl+_", "x", "alt+_"}, "one x|"},
		{"a key that means nothing does nothing", "a", []string{"pgup", "esc", "tab", "alt+q"}, "a|"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPerson(t)
			p.types(tc.text)
			p.press(tc.keys...)
			p.t = t
			p.wrote(tc.want)
		})
	}
}

// Goal: what a person takes for one character is one.
func TestCharactersAreOne(t *testing.T) {
	for _, char := range []string{"日", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "❤\ufe0f", "👍🏽", "각", "नि"} {
		p := newPerson(t)
		p.paste("a" + char + "b")
		p.press("left", "left")
		p.wrote("a|" + char + "b")
		p.press("right", "backspace")
		p.wrote("a|b")
		p.press("ctrl+_", "left", "delete")
		p.wrote("a|b")
	}
	p := newPerson(t)
	p.types("e")
	p.press("\u0301") // an accent that is typed behind its letter
	p.press("left")
	p.wrote("|e\u0301")
}

// Goal: the cursor is at the cell at which the next letter will be, whatever stands before it.
func TestCursorIsRight(t *testing.T) {
	for _, tc := range []struct {
		text string
		x, y int
	}{
		{"", 2, 0},
		{"abc", 5, 0},
		{"日本語", 8, 0},
		{"👩‍👩‍👧‍👦", 4, 0},
		{"e\u0301a", 4, 0},
		{"\t", 6, 0},
		{"a\tb", 7, 0},
		{"日\tx", 7, 0},
		{"\u0301", 3, 0},
		{"a\nb", 3, 1},
		{strings.Repeat("a", 37), 39, 0},
		{strings.Repeat("a", 38), 3, 1},
		{strings.Repeat("日", 19), 4, 1},
		{strings.Repeat("ab ", 13), 5, 1},
	} {
		p := newPerson(t)
		p.paste(tc.text)
		cur := p.Cursor()
		if cur == nil || cur.X != tc.x || cur.Y != tc.y {
			t.Errorf("%q: the cursor is at %+v, want %d,%d\n%s", tc.text, cur, tc.x, tc.y, p.screen())
		}
	}
	// A terminal that counts by characters takes a heart with a selector for one cell, one that counts as a person for two.
	p := newPerson(t)
	p.paste("❤\ufe0f")
	if x := p.Cursor().X; x != 3 {
		t.Errorf("before the terminal said how it counts: %d", x)
	}
	p.Update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	if x := p.Cursor().X; x != 4 {
		t.Errorf("after the terminal said how it counts: %d", x)
	}
	p.Focus(false)
	if p.Cursor() != nil {
		t.Error("there is a cursor without focus")
	}
}

// Goal: the composer grows with its text, and scrolls from its greatest height on with the cursor in sight.
func TestGrowsAndScrolls(t *testing.T) {
	p := newPerson(t, func(c *Config) { c.MaxRows = 4 })
	for n := 1; n <= 9; n++ {
		if h := p.Height(); h != min(n, 4) {
			t.Errorf("%d lines: height %d", n, h)
		}
		p.types(string(rune('0' + n)))
		if n < 9 {
			p.types("\n")
		}
	}
	if got := p.screen(); got != "↑ 6\n  7\n  8\n  9" {
		t.Errorf("at the end:\n%s", got)
	}
	p.press("up", "up", "up", "up")
	if got := p.screen(); got != "↑ 5\n  6\n  7\n↓ 8" || p.Cursor().Y != 0 {
		t.Errorf("in the middle, cursor at %d:\n%s", p.Cursor().Y, got)
	}
	p.press("ctrl+home")
	if got := p.screen(); got != "> 1\n  2\n  3\n↓ 4" {
		t.Errorf("at the beginning:\n%s", got)
	}
	p.press("ctrl+end", "ctrl+u", "backspace", "ctrl+u", "backspace")
	if got := p.screen(); got != "↑ 4\n  5\n  6\n  7" {
		t.Errorf("no room is left over:\n%s", got)
	}
	p.press("ctrl+c")
	if got := p.screen(); p.Height() != 1 || got != "> say what to do" {
		t.Errorf("empty:\n%s", got)
	}
}

// Goal: lines wrap behind blanks, beside wide characters, and anywhere if they must; keys go by rows.
func TestWraps(t *testing.T) {
	p := newPerson(t)
	p.SetSize(14, 12) // 11 cells of text
	p.paste("one two three four")
	if got := p.screen(); got != "> one two \n  three four" {
		t.Errorf("words:\n%s", got)
	}
	p.press("up")
	p.wrote("one two| three four")
	p.press("down")
	p.wrote("one two three four|")
	for text, want := range map[string]string{
		"abcdefghijklmno": "> abcdefghijk\n  lmno", "日本語日本語日本語": "> 日本語日本\n  語日本語", "a 日本語 日本語 b": "> a 日本語 日\n  本語 b",
	} {
		p.press("ctrl+c")
		p.paste(text)
		if got := p.screen(); got != want {
			t.Errorf("%s:\n%s", text, got)
		}
	}
}

// Goal: letters that are typed right after enter are the next message: what is sent is taken out of the text at once, and
// not when somebody has dealt with it.
func TestLettersAfterEnterAreTheNextMessage(t *testing.T) {
	p := newPerson(t)
	p.types("first")
	p.hold = true
	p.press("enter")
	p.types("second")
	p.release()
	p.wrote("second|")
	if len(p.sent) != 1 || p.sent[0].String() != "first" {
		t.Errorf("sent: %v", p.sent)
	}
}

// Goal: nothing is sent that is nothing, and what is sent is what was written.
func TestSends(t *testing.T) {
	p := newPerson(t)
	p.press("enter")
	p.types("  \n ")
	p.press("enter")
	if len(p.sent) != 0 {
		t.Errorf("blanks were sent: %v", p.sent)
	}
	p.press("ctrl+c")
	p.types(" a\nb ")
	p.press("enter")
	if len(p.sent) != 1 || !slices.Equal(p.sent[0].Parts, []Part{Text(" a\nb ")}) || !p.Empty() {
		t.Errorf("sent: %q", p.sent)
	}
}

// Goal: esc takes nothing away, and ctrl+c puts the text where it can be had again.
func TestNothingIsLost(t *testing.T) {
	p := newPerson(t)
	p.types("a long thought")
	if p.Wants(press("esc")) {
		t.Error("esc means something without a popup")
	}
	p.press("esc")
	p.wrote("a long thought|")
	p.press("ctrl+c")
	p.wrote("")
	if p.Wants(press("ctrl+c")) || p.Wants(press("ctrl+d")) || p.Typing() {
		t.Error("an empty composer keeps keys to itself")
	}
	p.press("ctrl+y")
	p.wrote("a long thought|")
	p.press("ctrl+c", "up")
	p.wrote("a long thought|")

	p.SetDraft(Draft{[]Part{Text("taken back")}})
	p.press("ctrl+_")
	p.wrote("a long thought|")
	p.TakeBack(Draft{[]Part{Text("one\ntwo")}})
	p.wrote("one\ntwo\na long thought|")
}

// Goal: whatever is pasted, nothing that a terminal obeys comes into the text, and no character of ours.
func TestPastesAreClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc": "a\nb\nc", "a\x1b[31mb\x1b]0;x\ac": "abc", "a\x00\x08b\u009b2Jc": "abc", "\u202eabc": "abc", "a\xffb": "a\uFFFDb",
		"x\U00100000y": "xy", "👩‍👩‍👧‍👦": "👩‍👩‍👧‍👦", "a\tb": "a\tb", "\U000e0041a": "a",
	} {
		p := newPerson(t)
		p.paste(in)
		p.wrote(want)
		p.press("ctrl+c")
		p.run(p.Update(tea.KeyPressMsg{Code: tea.KeyExtended, Text: in}))
		p.wrote(strings.ReplaceAll(want, "\n", " "))
	}
}

// Goal: on a small screen there is room for a long text, what is offered and what went wrong, each in part.
func TestSmallScreens(t *testing.T) {
	p := newPerson(t)
	p.SetSize(30, 6)
	p.types("1\n2\n3\n4\n5\n6\n7\n")
	p.src.files = someFiles
	p.types("@")
	if got := p.screen(); got != "› cmd/\n  docs/\n  Makefile\n↑ 6\n  7\n  @" {
		t.Errorf("offered:\n%s", got)
	}
	p.press("esc")
	p.press("ctrl+g")
	if got := p.screen(); got != "there is no editor: set\n$VISUAL or $EDITOR\n↑ 5\n  6\n  7\n  @" {
		t.Errorf("told:\n%s", got)
	}
	p.SetSize(30, 1)
	p.press("ctrl+r")
	p.types("x")
	if got := p.screen(); got != "history: x  nothing like that" || p.Cursor().X != 10 {
		t.Errorf("one row:\n%s", got)
	}
	p.SetSize(11, 5)
	if got := p.screen(); got != "too small" || p.Height() != 1 || p.Cursor() != nil {
		t.Errorf("too small: %s", got)
	}
}

var errFake = errors.New("the disk is on fire")
