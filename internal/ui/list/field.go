package list

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Field is one line that is typed at its end: the words of a filter, a prompt. It holds text alone, no byte that a terminal
// obeys.
type Field struct {
	Text string
	Most int // characters; 0: 100
}

// MaxFilter bounds the words of a filter, in characters.
const MaxFilter = 100

// Key takes a key and reports whether the text has changed by it.
func (f *Field) Key(msg tea.KeyPressMsg) bool {
	was := f.Text
	switch msg.String() {
	case "backspace":
		f.Text = withoutLast(was)
	case "ctrl+u":
		f.Text = ""
	case "ctrl+w", "alt+backspace":
		cut := strings.TrimRightFunc(was, unicode.IsSpace)
		f.Text = cut[:strings.LastIndexFunc(cut, unicode.IsSpace)+1]
	default:
		f.add(plain.Joined(msg.Text))
	}
	return f.Text != was
}

// Paste takes a text that was pasted, as one line, and reports whether the text has changed by it.
func (f *Field) Paste(text string) bool {
	was := f.Text
	f.add(plain.Joined(plain.Line(plain.Joined(text), f.most())))
	return f.Text != was
}

func (f *Field) most() int {
	if f.Most > 0 {
		return f.Most
	}
	return MaxFilter
}

// add appends as much as there is room for.
func (f *Field) add(text string) {
	text = strings.TrimLeft(f.Text+strings.NewReplacer("\n", " ", "\t", " ").Replace(text), " ")
	if utf8.RuneCountInString(text) > f.most() {
		text = string([]rune(text)[:f.most()])
	}
	f.Text = text
}

// withoutLast takes off what a person sees as one character, however many code points it is made of.
func withoutLast(s string) string {
	last := 0
	for at := 0; at < len(s); {
		cluster, _ := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		last = at
		at += len(cluster)
	}
	return s[:last]
}

// View is the field on a line of so many cells: the end of its text, between what stands before and behind it. x is where
// the cursor stands.
func (f *Field) View(s theme.Styles, before, behind string, width int) (line string, x int) {
	const least = 8 // cells of the text come before what stands behind it
	room := width - ansi.StringWidth(before) - 1
	if rest := room - ansi.StringWidth(behind); rest >= least {
		room = rest
	} else {
		behind = ""
	}
	text := plain.Isolated(theme.End(plain.Joined(f.Text), max(room, 1)))
	x = min(ansi.StringWidth(before+text), max(width-1, 0))
	return s.Accent.Styled(before) + text + " " + s.Quiet.Styled(behind), x
}

// Matches reports whether all words are somewhere in texts, in upper or lower case.
func Matches(words string, texts ...string) bool {
	if words == "" {
		return true
	}
	in := strings.ToLower(strings.Join(texts, "\n"))
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(in, w) {
			return false
		}
	}
	return true
}
