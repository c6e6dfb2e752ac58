package view

import "github.com/perdure/perdure/store"

// Listing is one session of a list. Its heads and its activity are what is true now, also of a session whose holder
// died before it could say so.
type Listing struct {
	store.Info
	Activity string
}

// Page is one page of a list.
type Page struct {
	Sessions []Listing
	Next     string // cursor; empty at the end
}

// Deletion is what the deletion of a session takes away.
type Deletion struct {
	store.Info
	Running  []RunningAct // commands of which a process lives; they are ended
	Children []string     // sessions forked from it, at most 100: they need its log, and go before it or with it
	Dir      string       // the directory of its own, which goes with it; empty: it has none
	Changed  []string     // files in Dir that are not what they were when it was made, at most 20
}

// RunningAct is a command of which a process lives.
type RunningAct struct {
	Act  string
	Task string // its name, if it is a task
	PID  int
}
