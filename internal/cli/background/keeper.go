package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
)

// Keeper looks after the background sessions of a home.
type Keeper struct {
	App  *app.App
	Home *homes.Home
}

// State is where a background session stands.
type State int

// The states of a background session.
const (
	Killed     State = iota // nobody supervises it: it is to be brought back
	Supervised              // a process runs it, or sleeps until it goes on
	Queued                  // it has not begun yet: others work
	Refused                 // its record, or what is missing, keeps it down: Why says it
)

// Entry is one background session.
type Entry struct {
	Record
	State State
	Why   string
	Over  bool // nothing is left to do
}

// All lists the background sessions in the order in which they were started. It changes nothing.
func (k Keeper) All() []Entry { return entries(k.Home.Dir()) }

func entries(home string) []Entry {
	var out []Entry
	for _, id := range names(home) {
		f, r, err := open(home, id)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			out = append(out, Entry{Record: Record{Session: id}, State: Refused, Why: err.Error()})
			continue
		}
		e := Entry{Record: r, State: Supervised}
		switch {
		case !lock(home, id, f, looking):
		case r.Failed != "":
			e.State, e.Why = Refused, r.Failed
		case r.Begun:
			e.State = Killed
		default:
			e.State = Queued
		}
		_ = f.Close() // it gives the lock back
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return int(a.Started - b.Started) })
	return out
}

// patience is how long one who wants to start something waits for others who do.
const patience = 15 * time.Second

// deciding runs do while nobody else decides what to start.
func (k Keeper) deciding(ctx context.Context, do func() error) error {
	root, err := realdir.Make(k.Home.Dir(), dirName)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it gives the lock back
	for deadline := time.Now().Add(patience); unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil; {
		if time.Now().After(deadline) {
			return fmt.Errorf("another command starts background sessions, and has not finished for %v", patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return do()
}

// working counts the supervised sessions that work; who sleeps takes no place.
func (k Keeper) working(ctx context.Context) int {
	n := 0
	for _, e := range k.All() {
		if e.State == Supervised && k.works(ctx, e.Session) {
			n++
		}
	}
	return n
}

// works reports whether a session's supervisor has something to do now.
func (k Keeper) works(ctx context.Context, id string) bool {
	st, err := k.Home.State(ctx, id)
	return err != nil || session.ActivityOf(st) == session.Running
}

// over reports whether a session has nothing left that a supervisor would do. A turn that a limit or a failed model call
// has halted goes on only if a person resumes it: a supervisor has ended there.
func over(st *session.State, pending int64) bool {
	if st.Lifecycle != session.LifecycleOpen {
		return true
	}
	if halt, _ := st.Halt(); halt != "" && session.ActivityOf(st) != session.Waiting {
		return true
	}
	return st.Turn == nil && len(st.Queue) == 0 && len(st.Awaits) == 0 && pending == 0
}

// home is a home's directory without links.
func (k Keeper) home() (string, error) { return filepath.EvalSymlinks(k.Home.Dir()) }
