package engine

import "github.com/perdure/perdure/internal/session"

// Spec describes a session to create; see [session.Spec].
type Spec = session.Spec

// Options are what a caller brings to an opened session; see [session.Options].
type Options = session.Options

// Update is something that an observer may show; see [session.Update].
type Update = session.Update

// Recovery is something that opening a session found out; see [session.Recovery].
type Recovery = session.Recovery
