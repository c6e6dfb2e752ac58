package session

import (
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/command"
)

// Hidden is how the name begins that a log has in the place of a secret value: [secret:NAME].
const Hidden = "[secret:"

// Hides reports whether a text has a name in the place of a value. Who wrote "[secret:" by hand is taken for the log.
func Hides(text string) bool { return strings.Contains(text, Hidden) }

// HidesCommand reports whether the log has only a part of what a task runs: its text is not what was asked for.
func HidesCommand(argv []string, command, cwd string) bool {
	return Hides(command) || Hides(cwd) || slices.ContainsFunc(argv, Hides)
}

// HiddenNames are the variables, sorted, of whose values the log has only a part.
func HiddenNames(d command.EnvDelta) (names []string) {
	for name, v := range d {
		if v != nil && Hides(*v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
