package session

// TaskSettings say how a task's command is run and how long it may live. A new attempt keeps them.
type TaskSettings struct {
	Stdin    bool          `json:"stdin,omitempty"` // input can be written while it runs
	TTY      *TerminalSize `json:"tty,omitempty"`   // it runs on a terminal of its own, of this size at first
	Limits   CommandLimits `json:"limits,omitzero"`
	Lifetime Lifetime      `json:"lifetime,omitempty"` // empty means detached
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

// Valid reports whether no bound is negative.
func (l CommandLimits) Valid() bool {
	return min(l.CPUSeconds, l.MemoryBytes, l.OpenFiles, l.WallMS) >= 0
}

// Narrow returns the smaller bound of each kind; 0 is none.
func (l CommandLimits) Narrow(other CommandLimits) CommandLimits {
	least := func(a, b int64) int64 {
		if a == 0 || b > 0 && b < a {
			return b
		}
		return a
	}
	return CommandLimits{
		CPUSeconds: least(l.CPUSeconds, other.CPUSeconds), MemoryBytes: least(l.MemoryBytes, other.MemoryBytes),
		OpenFiles: least(l.OpenFiles, other.OpenFiles), WallMS: least(l.WallMS, other.WallMS),
	}
}

// Who ended a command, besides the names of people: the values of CommandState.By, TaskSignalled.By and Task.Kill.
// What hit a bound says which: "limit (cpu)".
const (
	ByUser     = "user"
	ByModel    = "model"
	ByTimeout  = "timeout"
	ByLimit    = "limit"
	ByLifetime = "lifetime"
	BySystem   = "system" // a shutdown, a logout: whatever ends all that was started together, the shim too
	ByUnknown  = "unknown"
)

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
		if t.Status != CommandRunning || t.Session != "" {
			continue
		}
		switch {
		case t.Kill != "":
			as = append(as, Action{ID: "kill." + t.ID, Do: KillTask{Task: t.ID, By: t.Kill}})
		case s.expired(t):
			as = append(as, Action{ID: "kill." + t.ID, Do: KillTask{Task: t.ID, By: ByLifetime, Intend: true}})
		}
	}
	return as
}
