package panels

import (
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// maxText bounds a text that is opened, in bytes.
const maxText = 64 << 10

// words are a text as lines.
func words(s string) func(width int) []string {
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	s = strings.ReplaceAll(plain.Text(strings.ToValidUTF8(s, "\uFFFD")), "\t", "    ")
	return func(width int) []string {
		lines := theme.Wrap(s, width)
		for i, l := range lines {
			lines[i] = theme.Cut(plain.Isolated(strings.TrimRight(l, " ")), width)
		}
		return lines
	}
}

// still is a row that only says something.
func still(draw func(width int) string) row { return row{draw: draw} }

// heading stands above rows.
func heading(s theme.Styles, text string) row {
	return still(func(width int) string { return s.Title.Styled(theme.Cut(text, width)) })
}

func blank() row { return still(func(int) string { return "" }) }

// bar shows a share of a whole as so many cells. mark is a place in it that is pointed at; negative: none.
func bar(s theme.Styles, share, mark float64, width int) string {
	const eighths = " ▏▎▍▌▋▊▉"
	share = min(max(share, 0), 1)
	full := share * float64(width)
	n := int(full)
	var b strings.Builder
	b.WriteString(strings.Repeat("█", n))
	if part := []rune(eighths)[int((full-float64(n))*8)]; n < width && part != ' ' {
		b.WriteRune(part)
		n++
	}
	look := s.Accent
	if mark >= 0 && share >= mark {
		look = s.Warn
	}
	rest := []rune(strings.Repeat("·", width-n))
	if at := int(mark*float64(width)) - n; mark >= 0 && at >= 0 && at < len(rest) {
		rest[at] = '│'
	}
	return look.Styled(b.String()) + s.Quiet.Styled(string(rest))
}
