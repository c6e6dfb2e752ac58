package perdure

import (
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// What callers branch on, besides the errors of package store.
var (
	ErrSpec     = engine.ErrSpec     // a description of a session cannot be made one
	ErrMode     = permission.ErrMode // there is no such permission mode
	ErrRule     = permission.ErrRule // a permission rule cannot be read
	ErrTool     = tools.ErrBad       // a tool cannot be offered to a model
	ErrUnfit    = session.ErrUnfit   // entries do not fit the session: nothing was appended
	ErrRefused  = engine.ErrRefused  // a session does not take what was sent to it
	ErrSecret   = homes.ErrSecret    // it holds the value of a secret, which the log must not keep
	ErrClosed   = engine.ErrClosed   // the session is closed or archived, and takes no more turns
	ErrReleased = engine.ErrReleased // this holder has given the session back
	ErrNoTask   = homes.ErrNoTask    // the session has no such task
	ErrTooFast  = homes.ErrTooFast   // a command ended before it could be sent to the background
	ErrReader   = homes.ErrReader    // a reader's name is empty, too long, or has control characters
)
