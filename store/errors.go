package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// What callers branch on.
var (
	ErrNotFound   = errors.New("no such session")
	ErrExists     = errors.New("session exists")
	ErrConflict   = errors.New("log has moved on")
	ErrFenced     = errors.New("lease was taken over by a newer epoch")
	ErrHeld       = errors.New("session is held by another writer")
	ErrKeyReused  = errors.New("idempotency key was used for something else")
	ErrSharedFull = errors.New("shared values take too much")
	ErrKnown      = errors.New("appended before under this key")
	ErrClosed     = errors.New("store is closed")
	// ErrUncertain tells that a commit failed without saying whether it took effect. The store is poisoned: every
	// later call returns it too. Only a new process can learn what the log holds.
	ErrUncertain = errors.New("outcome of a write is uncertain: restart the process, it will read what the log holds")
	// ErrFull tells that the disk is full and that the write provably did not happen; it may be tried again.
	ErrFull = errors.New("disk is full, nothing was written: free some space and try again")
	// ErrDamaged tells that the store as a whole cannot be used as it is. What is left of it may still be read.
	ErrDamaged = errors.New("store is damaged")
	ErrNewer   = errors.New("store was written by a newer version")
	// ErrUnreadable tells that there is something in the place of the store, of which nothing can be read.
	ErrUnreadable = errors.New("no store that can be read")
	ErrNetworkFS  = errors.New("store is on a network filesystem, whose locks cannot be trusted")
)

// HeldError names the live holder of a session. It matches ErrHeld.
type HeldError struct {
	Session string
	Holder  Holder
}

func (e *HeldError) Error() string {
	text := fmt.Sprintf("session %s is held by pid %d on %s since %s", e.Session, e.Holder.PID, e.Holder.Host,
		time.UnixMilli(e.Holder.Since).UTC().Format(time.RFC3339))
	if e.Holder.Alive == Unknown {
		text += "; whether it still runs cannot be seen from this machine"
	}
	return text
}

// Is matches ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// ChildrenError refuses the deletion of a session that others were forked from.
type ChildrenError struct {
	Session  string
	Children []string
}

func (e *ChildrenError) Error() string {
	return fmt.Sprintf("session %s has forks: %s", e.Session, strings.Join(e.Children, ", "))
}

// CorruptError names the first damaged event of a range. Everything before it was good.
type CorruptError struct {
	Session string
	Seq     int64
	Cause   error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("session %s: event %d is damaged: %v", e.Session, e.Seq, e.Cause)
}

func (e *CorruptError) Unwrap() error { return e.Cause }
