package taskpanel

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// keys are what can be pressed, the most useful first: a narrow panel shows those that have room.
var keys = [...]struct{ key, short, long string }{
	{"↑↓", "select", "select a task (also k j, home end)"},
	{"x", "end", "end the task with everything it started; asks first"},
	{"r", "restart", "run the task again under its id; asks first"},
	{"/", "filter", "show tasks in which all words are found; esc shows all"},
	{"enter", "output", "give the output all the room, and back"},
	{"?", "help", "this, and back"},
	{"q", "quit", "leave; tasks run on"},
	{"a", "attach", "what to type to get into the task"},
	{"e", "ended", "hide those that have ended, and back"},
	{"pgup pgdn", "scroll", "scroll the output (also b and space); esc follows again"},
	{"w", "wrap", "cut long lines off, and back"},
}

// helpLine is as much of the keys as has room.
func (m *Model) helpLine() string {
	line, used := "", 0
	for _, k := range keys {
		n := 2 + ansi.StringWidth(k.key) + 1 + len(k.short)
		if used+n > m.width {
			break
		}
		used += n
		line += "  " + m.style.Accent.Styled(k.key) + " " + m.style.Quiet.Styled(k.short)
	}
	return strings.TrimPrefix(line, " ")
}

// helpLines explains the keys.
func (m *Model) helpLines(height int) []string {
	var lines []string
	for _, k := range keys {
		lines = append(lines, "  "+m.style.Accent.Styled(theme.Fit(k.key, 10))+" "+k.long)
	}
	lines = append(lines, "", m.style.Quiet.Styled("  CPU is of one processor, MEM what is resident, NEW what was printed since it was shown here."))
	return lines[:min(len(lines), max(height, 0))]
}
