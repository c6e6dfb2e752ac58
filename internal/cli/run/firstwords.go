package run

import (
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
)

// maxFirstWords bounds them, in characters.
const maxFirstWords = 60

// firstWords are the first words of a prompt, on one line.
func firstWords(prompt string) string {
	line := display.Line(prompt, maxFirstWords+1)
	if len([]rune(line)) <= maxFirstWords {
		return line
	}
	cut := string([]rune(line)[:maxFirstWords])
	if i := strings.LastIndexByte(cut, ' '); i > maxFirstWords/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

// labels are those that a new session is opened with. No secret may be in the prompt any more.
func labels(prompt string) map[string]string {
	words := firstWords(prompt)
	if words == "" {
		return nil
	}
	return map[string]string{app.LabelPrompt: words}
}
