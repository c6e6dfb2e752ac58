// Package statusline draws the one line that says how a session stands: what it does, what waits for its person, how full
// its window is, what it costs, and where it is.
//
// The line has parts, each with a place and a weight. When there is no room for all, the least important go first, so that
// what waits and what happens are there in the narrowest terminal. Everything comes as plain data; nothing is kept between
// two lines.
package statusline

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Data is what a line shows. Zero fields show nothing.
type Data struct {
	Activity string        // what it does, in a word or two: thinking, Bash; empty: nothing
	Elapsed  time.Duration // since that began
	Frame    int           // of the spinner; it turns by one with each
	Work     string        // how far work is that takes long, in the place of the activity; empty: none is being done

	Waiting  int    // how many approvals and questions wait
	WaitKey  string // that leads to them
	Queued   int    // messages that wait to be read
	Tasks    int    // commands that run in the background
	Detached string // who holds the session, if somebody else does

	Mode    string // of permissions
	Model   string // PROVIDER/MODEL
	Used    int64  // tokens of the window; 0: nobody knows
	Window  int64  // its size; 0: nobody knows
	Cost    string // in words; empty: nobody knows
	Session string // its title
	Branch  string
}

// Every is how often the spinner should turn while there is an activity: seldom, since each turn is drawn.
const Every = 250 * time.Millisecond

// frames of the spinner are one cell wide everywhere.
const frames = "|/-\\"

// part is a piece of the line.
type part struct {
	text   string
	style  ansi.Style
	weight int // the least goes first
}

// View draws the line: exactly width cells.
func View(d Data, width int, st theme.Styles) string {
	left, right := leftParts(d, st), rightParts(d, st)
	for {
		l, r := joined(left), joined(right)
		n := len(left) + len(right)
		if need := l + r + gap(left, right); need <= width || n == 1 {
			break
		}
		if n == 0 {
			return strings.Repeat(" ", max(width, 0))
		}
		drop(&left, &right)
	}
	l, r := line(left), line(right)
	fill := width - ansi.StringWidth(l) - ansi.StringWidth(r)
	if fill < 0 {
		return theme.Fit(l+r, width)
	}
	return l + strings.Repeat(" ", fill) + r
}

// leftParts are what changes: what waits, what happens.
func leftParts(d Data, st theme.Styles) []part {
	var out []part
	add := func(weight int, style ansi.Style, text string) {
		if text != "" {
			out = append(out, part{text, style, weight})
		}
	}
	if d.Waiting > 0 {
		text := fmt.Sprintf("%d waits for you", d.Waiting)
		if d.Waiting > 1 {
			text = fmt.Sprintf("%d wait for you", d.Waiting)
		}
		if d.WaitKey != "" {
			text += " (" + plain.Line(d.WaitKey, 12) + ")"
		}
		add(100, st.Bold, text)
	}
	if d.Work != "" {
		add(90, nil, plain.Line(d.Work, 80))
	} else if d.Activity != "" {
		text := string(frames[(d.Frame%len(frames)+len(frames))%len(frames)]) + " " + plain.Line(d.Activity, 24)
		if d.Elapsed >= time.Second {
			text += " " + elapsed(d.Elapsed)
		}
		add(90, nil, text)
	}
	if d.Queued > 0 {
		add(70, st.Quiet, fmt.Sprintf("%d queued", d.Queued))
	}
	if d.Tasks > 0 {
		text := "1 task runs"
		if d.Tasks > 1 {
			text = fmt.Sprintf("%d tasks run", d.Tasks)
		}
		add(65, nil, text)
	}
	if d.Detached != "" {
		add(80, st.Bold, "held by "+plain.Line(d.Detached, 24))
	}
	return out
}

// rightParts are what stays: how it is set up, what it has used, where it is.
func rightParts(d Data, st theme.Styles) []part {
	var out []part
	add := func(weight int, style ansi.Style, text string) {
		if text != "" {
			out = append(out, part{text, style, weight})
		}
	}
	mode := st.Quiet
	if d.Mode == "bypassPermissions" {
		mode = st.Bad
	}
	add(20, st.Quiet, plain.Line(d.Session, 32))
	add(10, st.Quiet, plain.Line(d.Branch, 24))
	add(60, mode, plain.Line(d.Mode, 20))
	add(30, st.Quiet, plain.Line(d.Cost, 12))
	add(50, contextStyle(d, st), contextText(d))
	_, model, ok := strings.Cut(d.Model, "/")
	if !ok {
		model = d.Model
	}
	add(40, st.Quiet, plain.Line(model, 28))
	return out
}

// contextText is how full the window is.
func contextText(d Data) string {
	switch {
	case d.Used <= 0:
		return ""
	case d.Window <= 0:
		return tokens(d.Used) + " tokens"
	}
	return fmt.Sprintf("%d %% of %s", share(d), tokens(d.Window))
}

// share is how full the window is in percent; what is not empty has one.
func share(d Data) int64 { return min(max(int64(float64(d.Used)/float64(d.Window)*100), 1), 999) }

func contextStyle(d Data, st theme.Styles) ansi.Style {
	switch {
	case d.Used <= 0 || d.Window <= 0 || share(d) < 70:
		return st.Quiet
	case share(d) < 90:
		return st.Warn
	}
	return st.Bad
}

// tokens shows a number of tokens shortly.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	case n%1_000_000 < 50_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// elapsed shows a time that runs: with its seconds, as long as these say something.
func elapsed(d time.Duration) string {
	s := int64(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

const between = " · "

// joined is how many cells parts take.
func joined(parts []part) int {
	n := 0
	for i, p := range parts {
		if i > 0 {
			n += ansi.StringWidth(between)
		}
		n += ansi.StringWidth(p.text)
	}
	return n
}

// gap is what must be between left and right.
func gap(left, right []part) int {
	if len(left) == 0 || len(right) == 0 {
		return 0
	}
	return 2
}

// drop takes the least important part away.
func drop(left, right *[]part) {
	from, at := left, -1
	least := 0
	for _, side := range []*[]part{left, right} {
		for i, p := range *side {
			if at < 0 || p.weight < least {
				from, at, least = side, i, p.weight
			}
		}
	}
	*from = append((*from)[:at:at], (*from)[at+1:]...)
}

func line(parts []part) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(p.style.Styled(p.text))
	}
	return b.String()
}
