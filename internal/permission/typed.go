package permission

import (
	"strings"
)

// readCommand reads what a call runs or types as a shell would; nil if it does neither.
func readCommand(r Request) *script {
	switch r.Tool {
	case toolBash:
		return analyse(r)
	case toolBashInput:
		return analyseTyped(r)
	}
	return nil
}

// analyseTyped reads what is typed into a task as if a shell read it. Keys that are no characters may make another text
// of it, so with them nothing is certain but what is found.
func analyseTyped(r Request) *script {
	text := strings.ToValidUTF8(strings.ReplaceAll(r.Command, "\r", "\n"), "")
	text = strings.Map(func(c rune) rune {
		if c == '\n' || deceptive(c) == "" {
			return c
		}
		return -1 // the tab key too: it completes words
	}, text)
	sure := text == r.Command
	if len(text) > maxCommand {
		text, sure = strings.ToValidUTF8(text[:maxCommand], ""), false
	}
	r.Command = text
	s := analyse(r)
	s.unknown = s.unknown || !sure
	return s
}
