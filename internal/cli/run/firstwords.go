package run

import (
	"maps"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/session"
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

// begins gives what a new session is opened with: its labels, and the values of its scratch state.
func (f *Flags) begins(prompt string) (map[string]string, []session.Body, error) {
	marks := labels(prompt)
	if !f.print {
		if marks == nil {
			marks = map[string]string{}
		}
		marks[app.LabelSeat] = app.SeatScreen
	}
	given, err := sessions.Pairs("--label", f.labels)
	if err != nil {
		return nil, nil, err
	}
	if marks == nil && len(given) > 0 {
		marks = map[string]string{}
	}
	maps.Copy(marks, given)
	state, err := sessions.Pairs("--state", f.state)
	if err != nil {
		return nil, nil, err
	}
	var events []session.Body
	for _, k := range slices.Sorted(maps.Keys(state)) {
		events = append(events, &session.StateSet{Key: k, Value: []byte(state[k])})
	}
	return marks, events, nil
}

// labels are those that a new session is opened with. No secret may be in the prompt any more.
func labels(prompt string) map[string]string {
	words := firstWords(prompt)
	if words == "" {
		return nil
	}
	return map[string]string{app.LabelPrompt: words}
}
