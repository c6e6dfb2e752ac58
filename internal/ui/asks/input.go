package asks

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// maxInput bounds an answer in words, in bytes.
const maxInput = 8 << 10

// input is an answer in words, on one line. What was typed is kept until another ask is shown.
type input struct {
	of   string // ask
	text string
	at   int // byte that the cursor stands at
}

func (in *input) insert(s string) {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, s)
	s = plain.Joined(strings.ToValidUTF8(s, ""))
	if room := maxInput - len(in.text); len(s) > room {
		s = strings.ToValidUTF8(s[:max(room, 0)], "")
	}
	in.text = in.text[:in.at] + s + in.text[in.at:]
	in.at += len(s)
}

// left is where the character before the cursor begins, as it is seen: with all that belongs to it.
func (in *input) left() int {
	rest, at := in.text[:in.at], 0
	for rest != "" {
		cluster, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if cluster == "" {
			break
		}
		if rest = rest[len(cluster):]; rest == "" {
			return at
		}
		at += len(cluster)
	}
	_, n := utf8.DecodeLastRuneInString(in.text[:in.at])
	return in.at - n
}

func (in *input) right() int {
	cluster, _ := ansi.FirstGraphemeCluster(in.text[in.at:], ansi.GraphemeWidth)
	return in.at + len(cluster)
}

// key edits, and reports whether the key was for that.
func (in *input) key(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "left", "ctrl+b":
		in.at = in.left()
	case "right", "ctrl+f":
		in.at = in.right()
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		at := in.left()
		in.text, in.at = in.text[:at]+in.text[in.at:], at
	case "delete", "ctrl+d":
		in.text = in.text[:in.at] + in.text[in.right():]
	case "ctrl+u":
		in.text, in.at = in.text[in.at:], 0
	case "ctrl+k":
		in.text = in.text[:in.at]
	case "ctrl+w":
		cut := strings.TrimRight(in.text[:in.at], " ")
		cut = cut[:strings.LastIndexByte(cut, ' ')+1]
		in.text, in.at = cut+in.text[in.at:], len(cut)
	default:
		in.insert(msg.Text)
	}
}

// view is as much of it as has room, and the cell of the cursor in that. No character is parted, however wide it is.
func (in *input) view(width int) (text string, cursor int) {
	from, rest := 0, in.text[:in.at]
	cursor = ansi.StringWidth(rest)
	for cursor > max(width-1, 0) && rest != "" {
		cluster, cells := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		from, rest, cursor = from+len(cluster), rest[len(cluster):], cursor-cells
	}
	cursor = ansi.StringWidth(rest)
	return theme.CutTo(in.text[from:], width, ""), cursor
}
