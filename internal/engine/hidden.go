package engine

import (
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/session"
)

// The log has names in the place of secret values. What it shows of a command that held one, or of a variable, is for
// the eyes: it is never run.
var (
	errSecretCommand = errors.New("the command held the value of a secret, which the log does not keep: start it anew, with the variable's name in place of its value")
	errSecretGiven   = errors.New("the command holds the value of a secret, which the log must not keep: give the variable's name instead")
)

// mayRepeat says why another attempt of a task cannot be made from what the log has of it.
func (s *Session) mayRepeat(t *session.Task) error {
	if session.HidesCommand(t.Argv, t.Command, t.Cwd) || s.holdsCommand(t.Argv, t.Command, t.Cwd) {
		return errSecretCommand
	}
	if names := session.HiddenNames(s.state.Env); len(names) > 0 {
		return fmt.Errorf("the session's variable %s held the value of a secret, which the log does not keep: start it anew, outside of this session", names[0])
	}
	return nil
}

// holdsCommand reports whether a command that is to be logged holds a known secret.
func (s *Session) holdsCommand(argv []string, command, cwd string) bool {
	for _, a := range argv {
		if s.holds(a) {
			return true
		}
	}
	return s.holds(command) || s.holds(cwd)
}
