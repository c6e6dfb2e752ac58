package permission

import (
	"slices"
	"strings"
)

// program is the name of our own command.
const program = "perdure"

// deciding says why a command may decide, for the agent, what a human has to
// decide, or "".
func (j *judge) deciding() string {
	for _, c := range j.s.all {
		if name, ok := c.name(); ok && strings.EqualFold(name, program) && !readsOnly(c.argv[1:]) {
			return "the command runs " + program + ", which can decide about this session"
		}
	}
	if (j.s.unknown || j.s.broken) && hasWord(j.s.text, false) {
		return "the command names " + program + " and is not plainly understood"
	}
	for _, text := range j.s.programs {
		if hasWord(text, true) {
			return "the command hands " + program + " to another program"
		}
	}
	return ""
}

// ReadingCommands are the commands of perdure itself that only show something:
// every other one asks in every mode.
func ReadingCommands() []string {
	return []string{"list", "show", "log", "search", "verify", "usage", "version", "completion", "doctor", "help", "task list", "task output", "memory list", "memory show", "memory log", "handoff show", "handoff list", "plan", "plan diff"}
}

// readsOnly reports a call of our own command that only shows something.
func readsOnly(args []word) bool {
	if len(args) == 0 {
		return false
	}
	for _, w := range args {
		if !w.known || decidingOption(w.text) {
			return false
		}
	}
	name := args[0].text
	if name == "--version" || name == "--help" {
		return true
	}
	if name == "plan" {
		return !changesPlan(args[1:])
	}
	if (name == "task" || name == "memory" || name == "handoff") && len(args) > 1 {
		name += " " + args[1].text
	}
	return slices.Contains(ReadingCommands(), name)
}

// changesPlan reports words after "plan" of which one may be a verb that changes it: it may stand before the session or
// behind it.
func changesPlan(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return slices.Contains([]string{"set", "add", "remove", "rm", "edit", "accept", "refuse"}, w.text)
	})
}

// decidingOption reports a word that prompts or resumes a session, or widens its
// rights, wherever it stands: what an older or newer version makes of the words
// before it is not certain.
func decidingOption(word string) bool {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		for _, bad := range []string{"dangerously", "permission", "allow", "print", "resume", "continue", "add-dir", "model", "fork", "session-id"} {
			if strings.HasPrefix(long, bad) {
				return true
			}
		}
		return false
	}
	return strings.HasPrefix(word, "-") && strings.ContainsAny(word, "prc")
}

// hasWord finds our command's name as a whole word. With notDir an occurrence
// that is only a directory of a longer path does not count.
func hasWord(text string, notDir bool) bool {
	text = strings.ToLower(text)
	for from := 0; ; {
		i := strings.Index(text[from:], program)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(program)
		from = end
		if start > 0 && nameByte(text[start-1]) || end < len(text) && nameByte(text[end]) {
			continue
		}
		if notDir && end < len(text) && text[end] == '/' {
			continue
		}
		return true
	}
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}
