package permission

import "strings"

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

// readsOnly reports a call of our own command that only shows something.
func readsOnly(args []word) bool {
	if len(args) == 0 {
		return false
	}
	for _, w := range args {
		if !w.known || strings.HasPrefix(w.text, "--dangerously") || strings.HasPrefix(w.text, "--permission") || strings.HasPrefix(w.text, "--allow") {
			return false
		}
	}
	switch args[0].text {
	case "list", "show", "log", "search", "verify", "usage", "version", "--version", "completion", "doctor", "help", "--help", "diff":
		return true
	case "task":
		return len(args) > 1 && (args[1].text == "list" || args[1].text == "output")
	}
	return false
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
