package engine

import "github.com/perdure/perdure/session"

// What callers of this package bring and get has its place in the core, where programs meet it.
type (
	Spec     = session.Spec     // describes a session to create
	Options  = session.Options  // are what a caller brings to an opened session
	Update   = session.Update   // is something that an observer may show
	Recovery = session.Recovery // is something that opening a session found out
)
