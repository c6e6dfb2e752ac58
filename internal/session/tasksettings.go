package session

import "github.com/perdure/perdure/internal/command"

// TaskSettings say how a task's command is run and how long it may live. A new attempt keeps them.
type TaskSettings struct {
	Stdin    bool                  `json:"stdin,omitempty"` // input can be written while it runs
	TTY      *command.TerminalSize `json:"tty,omitempty"`   // it runs on a terminal of its own, of this size at first
	Limits   command.Limits        `json:"limits,omitzero"`
	Lifetime Lifetime              `json:"lifetime,omitempty"` // empty means detached
}

// Lifetime says what ends a task that does not end by itself.
type Lifetime string

// The lifetimes of a task. Whatever its lifetime, a task survives the death of the agent.
const (
	LifetimeDetached Lifetime = "detached" // nothing but a kill
	LifetimeSession  Lifetime = "session"  // the end of its session: closed, archived or deleted
	LifetimeTurn     Lifetime = "turn"     // the end of the turn in which it was started
)

// Known reports whether there is such a lifetime; the empty one is.
func (l Lifetime) Known() bool {
	return l == "" || l == LifetimeDetached || l == LifetimeSession || l == LifetimeTurn
}

// expired reports whether what a task's lifetime is bound to is over.
func (s *State) expired(t *Task) bool {
	switch t.Lifetime {
	case LifetimeTurn:
		return s.Turn == nil || s.Turn.N != t.Turn
	case LifetimeSession:
		return s.Lifecycle == LifecycleClosed || s.Lifecycle == LifecycleArchived
	case LifetimeDetached:
	}
	return false
}

// kills adds what must be ended: tasks whose end was asked for, and those that have outlived their lifetime.
func (s *State) kills(as []Action) []Action {
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Status != command.Running || t.Session != "" {
			continue
		}
		switch {
		case t.Kill != "":
			as = append(as, Action{ID: "kill." + t.ID, Do: KillTask{Task: t.ID, By: t.Kill}})
		case s.expired(t):
			as = append(as, Action{ID: "kill." + t.ID, Do: KillTask{Task: t.ID, By: command.ByLifetime, Intend: true}})
		}
	}
	return as
}
