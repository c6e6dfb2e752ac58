package asks

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// However long an answer is and wherever its cursor stands, what is before the cursor on the screen is the end of what
// is before it in the text, in as many cells as the cursor is in, and no wide or joined character is parted.
func TestTheCursorOfAnAnswerStandsBehindItsText(t *testing.T) {
	for _, text := range []string{"plain words of an answer", "日本語の答えはここにある", "a日b本c語d", "x👨‍👩‍👧y👨‍👩‍👧z é́", "1️⃣2️⃣3️⃣4️⃣5️⃣"} {
		in := input{}
		in.insert(text)
		for in.at = len(in.text); ; in.at = in.left() {
			for width := 3; width < 30; width++ {
				shown, x := in.view(width)
				if ansi.StringWidth(shown) > width || x >= width {
					t.Errorf("%q at %d in %d cells: %q, cursor %d", text, in.at, width, shown, x)
					continue
				}
				before := ""
				for before != shown && ansi.StringWidth(before) < x {
					cluster, _ := ansi.FirstGraphemeCluster(shown[len(before):], ansi.GraphemeWidth)
					before += cluster
				}
				if ansi.StringWidth(before) != x || !strings.HasSuffix(in.text[:in.at], strings.TrimPrefix(before, "…")) || !strings.Contains(in.text, strings.Trim(shown, "…")) {
					t.Errorf("%q at %d in %d cells: %q, cursor %d", text, in.at, width, shown, x)
				}
			}
			if in.at == 0 {
				break
			}
		}
	}
}

// Why a call is asked is read as a sentence, broken between words; what runs and where is broken where the room ends,
// as it is.
func TestTheReasonIsBrokenBetweenWords(t *testing.T) {
	s := shown{ask: Ask{Kind: Approval}, detail: &Detail{Rows: []Row{
		{Look: About, Text: "because it is not plainly understood: it uses shell syntax"},
		{Look: Text, Text: "cp a  b c"},
	}}}
	s.wrap(20)
	var got []string
	for _, l := range s.lines {
		got = append(got, l.Text)
	}
	if want := []string{"because it is not", "plainly understood:", "it uses shell syntax", "cp a  b c"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s.wrap(5)
	if n := len(s.lines); s.lines[n-2].Text != "cp a " || s.lines[n-1].Text != " b c" {
		t.Errorf("%+v", s.lines)
	}
}
