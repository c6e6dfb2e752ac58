package perdure

import (
	"errors"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// What callers branch on, besides the errors of package store.
var (
	ErrInvalid  = invalid.Err        // what was given is none: a description of a session, a mode, a rule, a tool, a reader's name
	ErrUnfit    = session.ErrUnfit   // entries do not fit the session: nothing was appended
	ErrRefused  = engine.ErrRefused  // a session does not take what was sent to it
	ErrSecret   = homes.ErrSecret    // it holds the value of a secret, which the log must not keep
	ErrClosed   = engine.ErrClosed   // the session is closed or archived, and takes no more turns
	ErrReleased = engine.ErrReleased // this holder has given the session back
)

// known is an error that is one of the above, or of store's, too, in its own words.
type known struct{ err, as error }

func (k known) Error() string   { return k.err.Error() }
func (k known) Unwrap() []error { return []error{k.err, k.as} }

// ofTask names the errors of tasks as this package does.
func ofTask(err error) error {
	switch {
	case errors.Is(err, homes.ErrNoTask):
		return known{err, store.ErrNotFound}
	case errors.Is(err, homes.ErrTooFast):
		return known{err, ErrRefused}
	}
	return err
}
