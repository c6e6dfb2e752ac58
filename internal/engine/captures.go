package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// Captures keeps the files that sessions work on, as trees whose bytes are durable before a log names them. Its methods
// run beside a session's loop, which waits for them: one call at a time for each session, several sessions at once. They
// return soon after their context has ended. Text in what they return comes from the file system: it is data.
type Captures interface {
	// Capture captures a directory. That a guard will not have it captured is an answer, see [session.FilesCaptured];
	// errors are the disk's, a quota's and ctx's.
	Capture(ctx context.Context, r CaptureRequest) (Captured, error)
	// Prepare captures the directory as it is, plans a restore and makes the plan durable under the restore's id. It
	// touches no file, and a plan of this id that is there already was not begun: it is made anew. Plans of the session's
	// other restores are over. Errors, after which there is no plan: what keeps it from being carried out, such as a tree
	// that is missing or a disk that is too full.
	Prepare(ctx context.Context, r RestoreRequest) (Prepared, error)
	// Finish does what of a plan is not done yet, captures the directory, and says what was done in all. It may be called
	// again, by another process too, until Release of its answer: it then says the same. After an error the plan is as it
	// was left.
	Finish(ctx context.Context, r RestoreRequest) (Restored, error)
	// Abandon takes back what Finish has done of a plan, so that the files are as they were when it was made; then there is
	// no plan. After an error the files may be anything between.
	Abandon(ctx context.Context, r RestoreRequest) error
}

// Contents is what Captures may be able to do besides.
type Contents interface {
	// Content gives what a captured file of at most so many bytes held. It may be called by several at once.
	Content(d store.Digest, most int64) ([]byte, error)
}

// Progress is what Captures may be able to do besides.
type Progress interface {
	// Progress says in words how far the work is that is being done in a directory; empty: none is. It does not wait.
	Progress(dir string) string
}

// Keeper is what Captures may be able to do besides: keeping single files with a session. It may be called by several
// at once.
type Keeper interface {
	// Keep is as [tools.Keep] says, for a session.
	Keep(ctx context.Context, session string, open func() (io.ReadCloser, error)) (d store.Digest, size int64, release func(), err error)
}

// keeper is what keeps files with a session; nil: nothing does.
func (e *Engine) keeper(id string) tools.Keep {
	k, ok := e.cfg.Captures.(Keeper)
	if !ok {
		return nil
	}
	return func(ctx context.Context, open func() (io.ReadCloser, error)) (store.Digest, int64, func(), error) {
		return k.Keep(ctx, id, open)
	}
}

// CaptureRequest says what to capture.
type CaptureRequest struct {
	Session string
	Dir     string
	Why     session.CaptureWhy
	Act     string              // of a capture after an act
	Rung    session.CaptureRung // the least that is wanted
	Last    store.Digest        // the newest tree that the session knows of Dir; zero: none
	Paths   []string            // absolute ones that are known to have changed; others may have, too
}

// Captured is the answer to a [CaptureRequest].
type Captured struct {
	Body    *session.FilesCaptured // Dir, Why, Act, Name and Request are set by the engine
	Release func()                 // called once the event is in the log, or is not wanted; until then the bytes stay. May be nil
}

// RestoreRequest says what to restore. A restore is known by its session and ID, whichever process asks.
type RestoreRequest struct {
	Session string
	ID      string
	Dir     string
	Base    store.Digest // the newest tree that the session knew of Dir; zero: none
	Before  store.Digest // as Prepare captured it; zero in Prepare
	Target  store.Digest
	Paths   []string // only these, below Dir; none: all
	Force   bool     // also what somebody else has changed since Base
	Merge   bool     // Base is what another session began with, and Target is what it made of it: what both have changed stays
	Unsure  bool     // the session's own acts may have changed files since Base: their captures failed, or were not made
	Partial bool     // Target may be of another home, without what git ignored there: that is left as it is here
}

// Prepared is a restore whose plan is durable.
type Prepared struct {
	Before *session.FilesCaptured // as in [Captured]
	Counts session.RestoreCounts
	// Release is called once the log has the restore, or it is not wanted. May be nil.
	Release func()
}

// Restored is a restore that is done.
type Restored struct {
	Tree    store.Digest // the files as they are now
	Counts  session.RestoreCounts
	Kept    []string // conflicts, below the directory: at most 64
	Paths   []string // that are not what they were, below the directory: at most 20
	Release func()   // called once the log has it: the plan is over. May be nil
}

// errNoCaptures is why nothing is captured or restored where the engine was given nothing that does it.
var errNoCaptures = errors.New("files are not captured here")

// errLate is wrapped by the error of a capture that does not end: nothing may begin beside it, so the run ends.
var errLate = errors.New("it has not returned")

// captureGrace is how long a capture may still take when its context has ended.
const captureGrace = 10 * time.Second

// beside calls something in a goroutine of its own: a panic of it is an error. With a limit its context ends after that,
// and it is given up after the grace; without one it is waited for.
func beside[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	var late <-chan struct{}
	if limit > 0 {
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx, late = bounded, bounded.Done()
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if cause := recover(); cause != nil {
				a = answer{err: fmt.Errorf("panic: %v", cause)}
			}
			done <- a
		}()
		a.v, a.err = call(ctx)
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-late:
	}
	grace := time.NewTimer(captureGrace)
	defer grace.Stop()
	select {
	case a := <-done:
		return a.v, a.err
	case <-grace.C:
		var none T
		return none, fmt.Errorf("%w within %s", errLate, limit)
	}
}

func release(f func()) {
	if f != nil {
		f()
	}
}
