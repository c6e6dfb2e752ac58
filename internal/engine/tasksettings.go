package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// admitSettings tells why a task cannot be run that way now.
func (s *Session) admitSettings(set session.TaskSettings) error {
	switch {
	case !set.Lifetime.Known():
		return fmt.Errorf("lifetime %q is not known: there are detached, session and turn", set.Lifetime)
	case set.Lifetime == session.LifetimeTurn && s.state.Turn == nil:
		return errors.New("no turn is open with which the task could end")
	case set.Lifetime == session.LifetimeSession && s.state.Lifecycle != session.LifecycleOpen && s.state.Lifecycle != session.LifecyclePaused:
		return fmt.Errorf("the session is %s: the task would end at once", s.state.Lifecycle)
	case !set.Limits.Valid():
		return errors.New("limits cannot be negative")
	case set.TTY != nil && (set.TTY.Rows == 0 || set.TTY.Cols == 0):
		return errors.New("a terminal has rows and columns")
	}
	return nil
}

// terminalType is what a command on a terminal of its own is told, where its starter has none that is worth the name.
const terminalType = "xterm-256color"

// applySettings makes a command run as its settings say.
func applySettings(spec *command.Spec, set session.TaskSettings) {
	spec.Stdin, spec.TTY, spec.Limits = set.Stdin, set.TTY, set.Limits
	if set.TTY == nil {
		return
	}
	// The size is the terminal's own, and changes: what the environment says of another one would be believed.
	term := "TERM=" + terminalType
	spec.Env = slices.DeleteFunc(slices.Clone(spec.Env), func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		if key == "TERM" && value != "" && value != "dumb" {
			term = kv
		}
		return key == "LINES" || key == "COLUMNS" || key == "TERM"
	})
	spec.Env = append(spec.Env, term)
	slices.Sort(spec.Env)
}

// ownTask is the task of that id, if the session may start, end, reach or change it: a fork's inherited ones are its
// parent's.
func (s *Session) ownTask(id string) (*session.Task, error) {
	t := s.state.Task(id)
	switch {
	case t == nil:
		return nil, fmt.Errorf("no task %s", id)
	case t.Session != "":
		return nil, fmt.Errorf("task %s belongs to session %s", id, t.Session)
	}
	return t, nil
}
