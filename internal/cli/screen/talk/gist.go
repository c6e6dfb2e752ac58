package talk

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// gist is what a call gave, in a few words: of a command the last line, since that says how it went.
func gist(c *transcript.Call, text string) string {
	if len(c.Diff) == 1 {
		added, removed := diffview.Stat(c.Diff[0].Old, c.Diff[0].New)
		return fmt.Sprintf("+%s -%s", plain.Grouped(int64(added)), plain.Grouped(int64(removed)))
	}
	lines := strings.Count(text, "\n")
	if lines == 0 {
		return plain.Line(text, maxOutcome)
	}
	count := plain.Grouped(int64(lines+1)) + " lines"
	switch c.Name {
	case "Read", "Glob", "Grep":
		return count
	case "Bash":
		return count + ", at last: " + plain.Line(text[strings.LastIndexByte(text, '\n')+1:], maxOutcome)
	}
	first, _, _ := strings.Cut(text, "\n")
	return count + ": " + plain.Line(first, maxOutcome)
}

// failure is how a command failed, with the last line that it printed.
func failure(code int, text string) string {
	how := fmt.Sprintf("exit code %d", code)
	text = strings.TrimSpace(strings.TrimSuffix(text, how)) // the result ends with it
	if last := text[strings.LastIndexByte(text, '\n')+1:]; last != "" {
		return how + ": " + plain.Line(last, maxOutcome)
	}
	return how
}
