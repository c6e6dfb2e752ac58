package transcript

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/theme"
)

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type prose struct{ r *markdown.Renderer }

func (p prose) Lines(text string, width int) []string { return p.r.Lines(text, width) }
func (p prose) Stream(width int) Stream               { return markdown.NewStream(p.r, width) }

func newModel(width, height int) *Model {
	style := theme.Colours()
	diff := diffview.New(style)
	m := New(Config{
		Style: style, Prose: prose{markdown.New(style)}, Now: func() time.Time { return testNow },
		Diff: func(d Diff, width int) []string { return diff.Lines(d.Old, d.New, d.Name, width) },
	})
	m.SetSize(width, height)
	return m
}

// whole are all lines of all items, drawn anew, with where each item begins, its blank line included: the trivial model.
func whole(m *Model) (lines []string, begins map[string]int) {
	begins = map[string]int{}
	for i, e := range m.items {
		begins[e.ID] = len(lines)
		if i > 0 && between(m.items[i-1].Kind, e.Kind) > 0 {
			lines = append(lines, "")
		}
		mark := " "
		if m.browse && m.sel == e {
			mark = m.cfg.Style.Accent.Styled("▌")
		}
		anew := &entry{Item: e.Item, open: e.open, full: e.full, saying: e.saying}
		for _, l := range m.draw(anew) {
			lines = append(lines, theme.Cut(mark+l, m.width))
		}
	}
	return lines, begins
}

// offset is where the first line on the screen stands among all.
func offset(m *Model, begins map[string]int, all int) int {
	if m.follow {
		return max(all-m.height, 0)
	}
	return begins[m.top.of.ID] + m.row(m.top)
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check holds the view against the trivial model and gives its first line.
func check(t failer, m *Model) int {
	t.Helper()
	if len(m.items) > 0 && m.items[len(m.items)-1].n-m.items[0].n != len(m.items)-1 {
		t.Fatalf("the numbers have holes")
	}
	for i, e := range m.items {
		if m.index(e) != i || m.known[e.ID] != e {
			t.Fatalf("%s is not where it should be", e.ID)
		}
	}
	got := m.Visible()
	if len(got) != m.height {
		t.Fatalf("%d lines, there is room for %d", len(got), m.height)
	}
	for _, l := range got {
		if n := ansi.StringWidth(l); n > m.width {
			t.Fatalf("%d cells in %d: %q", n, m.width, l)
		}
		if s := ansi.Strip(l); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("a control character in %q", s)
		}
	}
	all, begins := whole(m)
	from := offset(m, begins, len(all))
	want := all[from:min(from+m.height, len(all))]
	if blank := m.height - len(want); blank > 0 {
		if from != 0 {
			t.Fatalf("the view ends below the newest line")
		}
		want = append(make([]string, blank), want...)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Fatalf("it is no window of the whole at %d of %d:\n%s\nwant\n%s", from, len(all), g, w)
	}
	held, lines := 0, 0
	for _, e := range m.items {
		if e.held {
			held++
			lines += len(e.lines)
		}
	}
	if held != len(m.cache.held) || lines != m.cache.lines {
		t.Fatalf("%d entries hold %d lines, counted are %d and %d", held, lines, len(m.cache.held), m.cache.lines)
	}
	return from
}

// texts are what any item may have to show.
var texts = []string{
	"", "one word", "日本語のテキスト、とても長い行で、折り返しが必要です。", "family 👩‍👩‍👧‍👦 flag 🇩🇪 e\u0301 한국어 \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
	"a\tb\tc\nlong\tcolumns\there", "0 %\r50 %\r100 %\r\ndone\r\n", "\x1b[2J\x1b[31mred\x1b]0;title\a\x1b[999;999Hx\x00\x07\x9b", "\u202eturned\u200b \u2028 next",
	strings.Repeat("a long paragraph of words ", 30), strings.Repeat("x", 500), strings.Repeat("line\n", 70) + "end",
	"# Title\n\n- one\n- two\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |", "\n\n\n", "\xff\xfe broken \xe6\x97",
}

func anyItem(t *rapid.T, id string) Item {
	it := Item{ID: id, Kind: Kind(rapid.IntRange(0, 5).Draw(t, "kind")), Text: rapid.SampledFrom(texts).Draw(t, "text")}
	if it.Kind == Tool {
		it.Text = ""
		it.Call = Call{
			Act: id, Name: rapid.SampledFrom([]string{"Bash", "Edit", "\x1b[31mmcp\u202e"}).Draw(t, "name"), About: rapid.SampledFrom(texts).Draw(t, "about"),
			State: State(rapid.IntRange(0, 6).Draw(t, "state")), Outcome: rapid.SampledFrom(texts).Draw(t, "outcome"), Output: rapid.SampledFrom(texts).Draw(t, "output"),
			Omitted: int64(rapid.IntRange(0, 5000).Draw(t, "omitted")), Started: testNow.Add(-time.Minute),
		}
		if rapid.Bool().Draw(t, "diff") {
			it.Call.Diff = []Diff{{Name: "a/日本.go", Old: "one\ntwo\n", New: "one\n\tthree \x1b[31m\n"}}
		}
	}
	if it.Kind == Person && rapid.Bool().Draw(t, "with") {
		it.With = []string{"image/png 3.0 KiB", "\x1b[31mbad\nname"}
	}
	return it
}

// Goal: whatever is done, the screen shows a window of the whole: exactly as high as it should be, at the end if it
// follows, and else where it was, whatever comes below or before.
func TestViewIsAWindowOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{T: t, m: newModel(rapid.IntRange(8, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h"))}
		w.at = check(t, w.m)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.all, w.begins = whole(w.m)
			do := rapid.SampledFrom([]string{
				"put", "put", "put", "replace", "say", "settle", "prepend", "drop", "scroll", "scroll", "scroll", "end", "begin", "size", "browse", "move", "toggle", "all", "select", "find", "print",
			}).Draw(t, "do")
			if !w.change(do) {
				w.look(do)
			}
			w.at = check(t, w.m)
		}
	})
}

// world is a transcript with what is known of it before a step.
type world struct {
	*rapid.T
	m      *Model
	n      int
	at     int // the first line on the screen
	all    []string
	begins map[string]int
}

func (w *world) id() string { w.n++; return fmt.Sprint("item ", w.n) }

func (w *world) known() string {
	if len(w.m.items) == 0 {
		return "none"
	}
	return w.m.items[rapid.IntRange(0, len(w.m.items)-1).Draw(w.T, "which")].ID
}

// change changes the conversation; false: the step is another one.
func (w *world) change(do string) bool {
	t, m := w.T, w.m
	switch followed := m.follow; do {
	case "put":
		m.Put(anyItem(t, w.id()))
		if now := check(t, m); !followed && !m.follow && now != w.at {
			t.Fatalf("what came below moved the view from %d to %d", w.at, now)
		} else if followed && !m.follow {
			t.Fatalf("it does not follow any more")
		}
	case "replace":
		m.Put(anyItem(t, w.known()))
	case "say":
		kind := Text
		if w.n%2 == 0 {
			kind = Thinking
		}
		m.Say("said "+fmt.Sprint(w.n/3), kind, rapid.SampledFrom(texts).Draw(t, "piece"))
	case "settle":
		m.Settle(w.known())
		if now := check(t, m); now != w.at && !m.follow {
			t.Fatalf("an end of words moved the view")
		}
	case "prepend":
		w.prepend()
	case "drop":
		m.Drop(w.known())
	default:
		return false
	}
	return true
}

func (w *world) prepend() {
	t, m := w.T, w.m
	var items []Item
	for range rapid.IntRange(0, 4).Draw(t, "older") {
		items = append(items, anyItem(t, w.id()))
	}
	was, full, top := m.Visible(), len(w.all) >= m.height, m.top
	m.Prepend(items)
	if top.of != nil && top.line == 0 && top.of == m.items[len(items)] {
		full = true // the blank line that the first item gets stays above
	}
	if now := m.Visible(); full && strings.Join(now, "\n") != strings.Join(was, "\n") {
		t.Fatalf("older items moved the view:\n%s\nwas\n%s", strings.Join(now, "\n"), strings.Join(was, "\n"))
	}
}

// look moves the view.
func (w *world) look(do string) {
	t, m := w.T, w.m
	switch do {
	case "scroll":
		by := rapid.SampledFrom([]int{-60, -10, -3, -1, 0, 1, 5, 50}).Draw(t, "by")
		first := m.Scroll(by)
		want := min(max(w.at+by, 0), max(len(w.all)-m.height, 0))
		if now := check(t, m); now != want {
			t.Fatalf("scrolled by %d from %d to %d of %d, want %d", by, w.at, now, len(w.all), want)
		} else if len(m.items) > 1 && w.begins[m.items[1].ID] > 0 && first != (now < w.begins[m.items[1].ID]) {
			t.Fatalf("the first item: %v at %d", first, now)
		}
	case "end":
		m.End()
	case "begin":
		if m.Begin(); check(t, m) != 0 {
			t.Fatalf("not at the beginning")
		}
	case "size":
		m.SetSize(rapid.IntRange(8, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h"))
	case "all":
		m.ToggleAll()
	case "print":
		w.print()
	default:
		w.browse(do)
	}
}

// browse moves over items: what is selected is on the screen.
func (w *world) browse(do string) {
	t, m := w.T, w.m
	switch do {
	case "browse":
		on, fresh := rapid.Bool().Draw(t, "on"), m.sel == nil
		m.Browse(on)
		if now := check(t, m); now != w.at {
			t.Fatalf("browsing moved the view")
		}
		if !on || !fresh || m.height == 1 { // one line may be a blank one
			return
		}
	case "move":
		if !m.Browsing() {
			return
		}
		m.Move(rapid.SampledFrom([]int{-1, 1, 1, -1, 3, -1000, 1000}).Draw(t, "n"))
	case "toggle":
		m.Toggle()
	case "select":
		m.Select(w.known())
	case "find":
		if !m.Find(rapid.SampledFrom([]string{"word", "語", "LINE", "nothing at all"}).Draw(t, "words"), rapid.Bool().Draw(t, "back")) {
			return
		}
	}
	if m.sel != nil && !onScreen(m) {
		t.Fatalf("what is selected is not on the screen")
	}
}

func (w *world) print() {
	var printed []string
	w.m.Print(w.m.width, func(l string) { printed = append(printed, ansi.Strip(l)) })
	for i, l := range w.all {
		l = strings.Replace(ansi.Strip(l), "▌", " ", 1)
		if i >= len(printed) || strings.TrimRight(printed[i], " ") != strings.TrimRight(l, " ") {
			w.Fatalf("line %d is not printed: %q", i, l)
		}
	}
}

// onScreen reports whether a line of what is selected is on the screen.
func onScreen(m *Model) bool {
	for _, l := range m.Visible() {
		if strings.Contains(l, "▌") {
			return true
		}
	}
	return len(m.linesOf(m.sel)) == 0
}
