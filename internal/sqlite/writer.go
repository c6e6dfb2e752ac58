package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/perdure/perdure/store"
)

// writer is the only goroutine of a store that writes. It takes what is queued when it is free, runs it as one
// transaction, gives the lock to whoever waits, syncs the log, and only then tells the callers: sessions share commits,
// and none waits for company; processes share the time of their syncs.
type writer struct {
	store *Store
	conn  *conn
	log   logFile
	lock  *writeLock
	sizes sizes
	done  chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // held for reading while sending on jobs
	jobs   chan *job
	closed bool

	since     int   // pages' worth of bytes committed since the last look at the log file
	restartAt int64 // length of the log at which readers are waited for again

	mark   *os.File     // nil: nothing is marked
	acked  acknowledged // committed last, and not marked yet
	marked []byte       // as it was written last
}

// sizes bound the writer.
type sizes struct {
	events     int   // of one transaction
	bytes      int   // of one transaction
	queue      int   // jobs that wait; more wait at the door
	look       int   // pages' worth of commits between looks at the write-ahead log
	checkpoint int64 // pages of the write-ahead log after which it is copied into the database
	reuse      int64 // pages after which writers wait for the last pages, so that the log starts over
	restart    int64 // pages after which they wait for readers too
	keep       int64 // pages that a store may leave in the log when it closes
}

// job is one piece of work, atomic by itself: it either refuses, without having changed anything, or succeeds. Any
// other error rolls back its group.
type job struct {
	run    func(*conn) error // may run again after a rollback
	events int
	bytes  int
	low    bool // frees space, and may use the last of it
	alone  bool // runs outside of transactions
	state  atomic.Int32
	err    error
	done   chan struct{}
}

// States of a job. The caller may withdraw it until the writer has taken it.
const (
	queued int32 = iota
	taken
	withdrawn
)

func startWriter(s *Store, c *conn, log logFile, lock *writeLock) *writer {
	w := &writer{store: s, conn: c, log: log, lock: lock, sizes: *s.cfg.sizes, done: make(chan struct{})}
	w.jobs = make(chan *job, w.sizes.queue)
	w.mark, _ = openPrivate(filepath.Join(s.home, markName)) // Without it all works, but for noticing a loss.
	go w.loop()
	return w
}

// do queues a job and waits until it is durable or refused. A cancelled context withdraws it if it has not begun; if
// it has, do waits for the outcome, since only that is the truth.
func (w *writer) do(ctx context.Context, events, bytes int, run func(*conn) error) error {
	return w.queue(ctx, &job{run: run, events: events, bytes: bytes, done: make(chan struct{})})
}

func (w *writer) queue(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(queued, withdrawn) {
			return ctx.Err()
		}
		<-j.done
	}
	return j.err
}

func (w *writer) enqueue(ctx context.Context, j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if err := w.store.usable(); err != nil {
		return err
	}
	if w.closed {
		return store.ErrClosed
	}
	select {
	case w.jobs <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop ends the goroutine after everything queued is done.
func (w *writer) stop() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *writer) loop() {
	defer close(w.done)
	for j := range w.jobs {
		for next := j; next != nil; {
			next = w.next(next)
		}
	}
}

// next does a job with what can share its commit, and returns one that it met on the way and that has to run alone.
func (w *writer) next(j *job) *job {
	if j.alone {
		if j.state.CompareAndSwap(queued, taken) {
			w.runAlone(j)
		}
		return nil
	}
	after := w.turn(j)
	w.checkpoint()
	return after
}

// turn is one turn at the lock, for one group. It returns a job that it took from the queue and that has to run alone.
func (w *writer) turn(first *job) *job {
	if err := w.ready(); err != nil {
		first.finish(err)
		return nil
	}
	if err := w.lock.acquire(); err != nil {
		first.finish(err)
		return nil
	}
	group, after := w.collect(first)
	if len(group) > 0 { // Those that were queued may all be withdrawn.
		w.commit(group)
	}
	w.lock.release()
	w.sync(group)
	tell(group)
	return after
}

// sync makes durable what a group has committed. It runs outside the lock: another process commits meanwhile, behind it
// in the same log, so that whatever is durable has everything before it durable too.
func (w *writer) sync(group []*job) {
	if !slices.ContainsFunc(group, (*job).promises) {
		return
	}
	err := w.ready() // A part of the group may have failed in its commit: nothing is synced any more then.
	if err == nil {
		if err = w.log.Sync(); err == nil {
			w.acknowledge()
			return
		}
		err = w.store.poisonWith(fmt.Errorf("sync: %w", err))
	}
	for _, j := range group {
		if j.promises() {
			j.err = err
		}
	}
}

// promises reports whether a job's caller will be told that something is durable: what it wrote, or what somebody else,
// perhaps a moment ago, wrote before it.
func (j *job) promises() bool { return j.err == nil || errors.Is(j.err, errNothing) }

// tell ends the wait of a group's callers.
func tell(group []*job) {
	for _, j := range group {
		close(j.done)
	}
}

// ready refuses work when nothing may be written.
func (w *writer) ready() error {
	if p := w.store.poison.Load(); p != nil {
		return *p
	}
	return nil
}

// collect takes first and what else is queued now, up to a job that has to run alone.
func (w *writer) collect(first *job) (group []*job, alone *job) {
	events, bytes := 0, 0
	add := func(j *job) {
		if j.state.CompareAndSwap(queued, taken) {
			group = append(group, j)
			events += max(j.events, 1)
			bytes += j.bytes
		}
	}
	add(first)
	for events < w.sizes.events && bytes < w.sizes.bytes {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return group, nil
			}
			if j.alone {
				return group, j
			}
			add(j)
		default:
			return group, nil
		}
	}
	return group, nil
}

// commit runs a group. If one job's rows are at fault, everybody gets a transaction of their own.
func (w *writer) commit(group []*job) {
	err := w.attempt(group)
	if err == nil || len(group) == 1 || w.store.poison.Load() != nil || !w.conn.engine.sessionFault(err) {
		return
	}
	for i := range group {
		_ = w.attempt(group[i : i+1]) // Each job carries its own error.
	}
}

// attempt runs jobs in one transaction. When it returns an error, every job has it.
func (w *writer) attempt(group []*job) error {
	err := w.transaction(group)
	if err == nil {
		return nil
	}
	for _, j := range group {
		j.err = err
	}
	return err
}

func (w *writer) transaction(group []*job) error {
	bytes, low := 0, true
	for _, j := range group {
		bytes += j.bytes
		low = low && j.low
	}
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.roomFor(bytes); err != nil && !low {
		return w.lowOnly(group, err)
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return w.failed("begin", err)
	}
	done := 0
	for _, j := range group {
		j.err = j.run(w.conn)
		switch {
		case j.err == nil:
			done++
		case !refused(j.err):
			return w.rollback(j.err)
		}
	}
	if done == 0 {
		return w.rollback(nil)
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		hint := ""
		if w.conn.engine.primary(err) == codeFull {
			hint = "the disk is full, free some space first: "
		}
		return w.store.poisonWith(fmt.Errorf("commit: %s%w", hint, err))
	}
	w.since += bytes/4096 + 2*len(group)
	if w.conn.changed.Session != "" {
		w.acked, w.conn.changed = w.conn.changed, acknowledged{}
	}
	return nil
}

// lowOnly runs what may use the last of the space, and refuses the others.
func (w *writer) lowOnly(group []*job, full error) error {
	for _, j := range group {
		if j.low {
			if err := w.transaction([]*job{j}); err != nil {
				j.err = err
			}
			continue
		}
		j.err = full
	}
	return nil
}

// refused tells the refusals from what went wrong.
func refused(err error) bool {
	for _, refusal := range []error{
		errNothing, store.ErrNotFound, store.ErrExists, store.ErrConflict, store.ErrFenced, store.ErrHeld, store.ErrKeyReused,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	var children *store.ChildrenError
	var unfit *unfitError
	return errors.As(err, &children) || errors.As(err, &unfit)
}

// rollback undoes a group that failed before its commit began. That nothing of it stays is only certain if SQLite
// says so: it either rolls back now, or has done so by itself.
func (w *writer) rollback(cause error) error {
	w.store.forgetListings()
	w.conn.changed = acknowledged{}
	_, err := w.conn.exec("ROLLBACK")
	if err != nil && w.conn.engine.primary(err) != codeError {
		return w.store.poisonWith(fmt.Errorf("roll back: %w", err))
	}
	if cause == nil {
		return nil
	}
	return w.failed("write", cause)
}

// failed gives the error of a statement; a sync that failed poisons the store.
func (w *writer) failed(op string, err error) error {
	if w.conn.engine.syncFailed(err) {
		return w.store.poisonWith(fmt.Errorf("%s: %w", op, err))
	}
	return fmt.Errorf("%s: %w", op, w.conn.engine.explain(err))
}

// reserve is what must stay free: a write that fails for want of space inside a commit leaves its outcome uncertain,
// so a full disk is refused before the transaction begins.
const reserve = 4 << 20

func (w *writer) roomFor(bytes int) error {
	free := w.store.cfg.free(w.store.home)
	if free >= 0 && free < reserve+2*int64(bytes) {
		return fmt.Errorf("%w (%d KiB are left at %s)", store.ErrFull, free>>10, w.store.home)
	}
	return nil
}

func (j *job) finish(err error) {
	if j.state.CompareAndSwap(queued, taken) {
		j.err = err
		close(j.done)
	}
}
