package cli

import "strings"

// labelPrompt is the label under which a session that -p opened keeps the first words of its first prompt, for lists:
// store.Info has it in Heads.Labels, a session's state in Labels. It is shown where the session has no name (title). It
// is no name: -r does not find a session by it, so that a prompt can never take the name of another session.
const labelPrompt = "prompt"

// maxFirstWords bounds them, in characters.
const maxFirstWords = 60

// firstWords are the first words of a prompt, on one line.
func firstWords(prompt string) string {
	line := oneline(prompt, maxFirstWords+1)
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
	return map[string]string{labelPrompt: words}
}
