package list_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// set gives a list rows by their names; one that begins with a dash is a heading.
func set(l *list.List[string], rows ...string) {
	l.Set(len(rows), func(i int) (string, bool) { return rows[i], !strings.HasPrefix(rows[i], "-") })
}

func selected(l *list.List[string]) string {
	k, _ := l.Selected()
	return k
}

// What is selected stays so while rows come and go around it; where it went away, its neighbour is selected.
func TestSelectionStaysWithItsRow(t *testing.T) {
	var l list.List[string]
	l.Room(3)
	set(&l, "-head", "a", "b", "c", "d")
	if got := selected(&l); got != "a" {
		t.Errorf("at first %q", got)
	}
	l.Move(2)
	set(&l, "-head", "new", "a", "b", "c", "d")
	if got := selected(&l); got != "c" {
		t.Errorf("after a new one: %q", got)
	}
	set(&l, "-head", "new", "a", "b", "d")
	if got := selected(&l); got != "d" {
		t.Errorf("after it went: %q", got)
	}
	set(&l, "-head", "new", "-other")
	if got := selected(&l); got != "new" {
		t.Errorf("only one is left: %q", got)
	}
	set(&l)
	if _, ok := l.Selected(); ok || l.At() != -1 {
		t.Errorf("an empty list has %d", l.At())
	}
	set(&l, "x")
	if got := selected(&l); got != "x" {
		t.Errorf("afterwards %q", got)
	}
}

// However a list changes and wherever one goes: the selected row is one that can be selected, it is on the screen, and the
// screen is full as far as there are rows.
func TestSelectedRowIsOnTheScreen(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var l list.List[string]
		var rows []string
		for step := range 60 {
			switch rnd.IntN(4) {
			case 0:
				rows = rows[:0]
				for range rnd.IntN(12) {
					rows = append(rows, []string{"", "-"}[rnd.IntN(2)]+string(rune('a'+rnd.IntN(26))))
				}
				rows = slices.Clone(rows)
				set(&l, rows...)
			case 1:
				l.Room(rnd.IntN(6))
			case 2:
				l.Move(rnd.IntN(9) - 4)
			case 3:
				if by, ok := list.Step([]string{"home", "end", "pgup", "j"}[rnd.IntN(4)], 3, false); ok {
					l.Move(by)
				}
			}
			from, to := l.Visible()
			can := slices.ContainsFunc(rows, func(s string) bool { return s[0] != '-' })
			at := l.At()
			room := to - from
			if can != (at >= 0) || at >= len(rows) || at >= 0 && rows[at][0] == '-' {
				t.Fatalf("seed %d step %d: %d selected of %q", seed, step, at, rows)
			}
			if from < 0 || to > len(rows) || from > to || room > 0 && at >= 0 && (at < from || at >= to) {
				t.Fatalf("seed %d step %d: %d of %q, on screen %d to %d", seed, step, at, rows, from, to)
			}
		}
	}
}

// Rows that are gone already, and are not set anew yet, are not looked at: a page may get another size at any time.
func TestRowsMayShrinkBeforeTheyAreSet(t *testing.T) {
	var l list.List[string]
	rows := []string{"a", "b", "c", "-d"}
	l.Room(2)
	l.Set(len(rows), func(i int) (string, bool) { return rows[i], rows[i][0] != '-' })
	l.Move(2)
	rows = rows[:1]
	l.Room(3)
	l.Move(-1)
	if got := selected(&l); got != "b" {
		t.Errorf("%q", got)
	}
}

// The heading of the first row and what ends a list come onto the screen with the row beside them.
func TestHeadingsAreSeen(t *testing.T) {
	var l list.List[string]
	l.Room(3)
	set(&l, "-one", "a", "b", "c", "-two", "d", "-and more")
	l.Move(9)
	if from, to := l.Visible(); from != 4 || to != 7 {
		t.Errorf("at the end %d to %d", from, to)
	}
	l.Move(-9)
	if from, to := l.Visible(); from != 0 || to != 3 {
		t.Errorf("at the beginning %d to %d", from, to)
	}
	set(&l, "-only", "-words", "-to", "-read")
	l.Move(1)
	if from, to := l.Visible(); from != 1 || to != 4 {
		t.Errorf("nothing can be selected, and it does not scroll: %d to %d", from, to)
	}
}

// Letters move nothing while they are text.
func TestStepLeavesLettersToTheText(t *testing.T) {
	for _, key := range []string{"j", "k", "g", "G", "b", "space", "ctrl+u"} {
		if _, ok := list.Step(key, 5, true); ok {
			t.Errorf("%s moves while one types", key)
		}
		if _, ok := list.Step(key, 5, false); !ok {
			t.Errorf("%s does not move", key)
		}
	}
	if by, _ := list.Step("pgup", 0, true); by != -1 {
		t.Errorf("a page without rows moves %d", by)
	}
}

// clusters are what a person takes for one character each.
var clusters = []string{"a", "日", "e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "❤\ufe0f", "\u0301", "\t", "\x1b[2J", "1\ufe0f\u20e3", "\u202e"}

// The line of a field never has more cells than its page, its cursor is on it, and backspace takes one character.
func TestFieldFitsAtEveryWidth(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		f := list.Field{}
		for range 40 {
			f.Key(tea.KeyPressMsg{Text: clusters[rnd.IntN(len(clusters))]})
			for width := range 30 {
				line, x := f.View(theme.Plain(), " /", "  esc clears", width)
				if n := ansi.StringWidth(line); n > max(width, 5) || x > max(width-1, 0) {
					t.Fatalf("seed %d: %d cells of %d, cursor at %d: %q", seed, n, width, x, line)
				}
			}
		}
		for f.Text != "" {
			was := ansi.StringWidth(f.Text)
			if !f.Key(tea.KeyPressMsg{Code: tea.KeyBackspace}) {
				t.Fatalf("seed %d: %q stays", seed, f.Text)
			}
			if now := ansi.StringWidth(f.Text); was-now > 2 {
				t.Fatalf("seed %d: backspace took %d cells, %q is left", seed, was-now, f.Text)
			}
		}
	}
}

// Words come off one by one; nothing that a terminal obeys gets in, and no more than has room.
func TestFieldKeys(t *testing.T) {
	f := list.Field{Most: 12}
	f.Paste("one two\n\x1b[31mthree four")
	if f.Text != "one two thr…" {
		t.Errorf("%q", f.Text)
	}
	f.Key(tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl})
	if f.Text != "one two " {
		t.Errorf("%q", f.Text)
	}
	if _, x := f.View(theme.Plain(), "/", "", 40); x != 9 {
		t.Errorf("the cursor is at %d: behind the blank it is at 9", x)
	}
	f.Key(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	if f.Key(tea.KeyPressMsg{Text: " "}) || f.Text != "" {
		t.Errorf("a blank begins %q", f.Text)
	}
}

func TestMatches(t *testing.T) {
	for words, want := range map[string]bool{"": true, "LOGIN fix": true, "fix form": false, "shop login": true} {
		if got := list.Matches(words, "Fix the Login", "~/shop"); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}
