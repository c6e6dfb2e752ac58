package files

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/homes"
)

// Last is what was applied last, and can be taken back.
type Last struct {
	Session string          // whose changes they were
	Point   homes.FilePoint // of an apply to a session's files: where undoing it leads
	Apply   homes.Applied   // of one to a directory
}

// NoApplyError says that what changed a session's files last is no apply; To is where undo goes.
type NoApplyError struct{ To string }

func (e *NoApplyError) Error() string {
	return "what changed the files last is no apply: undo goes to " + e.To
}

// OtherApplyError says that what was applied last are the changes of another session than the one that is named.
type OtherApplyError struct{ Session string }

func (e *OtherApplyError) Error() string {
	return fmt.Sprintf("what was applied last are the changes of session %s", e.Session)
}

// LastApplied finds what was applied last to the files of a session or, if to is empty, to a directory. From is the session
// whose changes it must be; empty: any. Errors: *NoApplyError, *OtherApplyError, homes.ErrNotApplied, and those of
// [homes.Home.UndoPoint].
func LastApplied(ctx context.Context, h *homes.Home, to, dir, from string) (last Last, err error) {
	if to != "" {
		last.Point, err = h.UndoPoint(ctx, to)
		if last.Session = last.Point.Applied; err == nil && last.Session == "" {
			err = &NoApplyError{To: last.Point.To}
		}
	} else {
		last.Apply, err = h.LastApply(ctx, dir)
		last.Session = last.Apply.Session
	}
	if err == nil && from != "" && from != last.Session {
		err = &OtherApplyError{Session: last.Session}
	}
	return last, err
}
