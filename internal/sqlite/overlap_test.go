package sqlite

import (
	"errors"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// slowLog is a log whose syncs take until they are let go.
type slowLog struct {
	logFile
	begun, end chan struct{}
}

func (l *slowLog) Sync() error {
	l.begun <- struct{}{}
	<-l.end
	return l.logFile.Sync()
}

// slow makes the next stores of an engine sync slowly.
func slow(e *engine) (*engine, *slowLog) {
	l, slowed := &slowLog{begun: make(chan struct{}), end: make(chan struct{})}, *e
	slowed.openLog = func(path string) (logFile, error) {
		var err error
		l.logFile, err = e.openLog(path)
		return l, err
	}
	return &slowed, l
}

// overlapping gives two stores on one disk with a session each; the first store syncs slowly from now on, and is in the
// middle of the sync of one event.
func overlapping(t *testing.T, d *disk) (a, b *log, pending *slowLog, answer chan error) {
	e := boot(t, d)
	home := t.TempDir()
	late, pending := slow(e)
	for _, id := range []string{"a", "b"} {
		s := mustOpen(t, home, simConfig(e, nil))
		l := newLog(t, s, id)
		l.must(1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	go func() { <-pending.begun; pending.end <- struct{}{} }() // the lease
	a = newLog(t, mustOpen(t, home, simConfig(late, nil)), "a")
	b = newLog(t, mustOpen(t, home, simConfig(e, nil)), "b")
	answer = make(chan error, 1)
	go func() { answer <- a.append(1) }()
	<-pending.begun
	return a, b, pending, answer
}

// TestSyncsOverlap: while one process syncs, another commits and is told; what it was told is durable then, and so is
// everything that was committed before it, though nobody was told of that.
func TestSyncsOverlap(t *testing.T) {
	d := newDisk()
	a, b, pending, answer := overlapping(t, d)
	b.must(1)
	select {
	case err := <-answer:
		t.Fatalf("told before the sync: %v", err)
	default:
	}
	next := d.powerLoss(loseAll)
	close(pending.end)
	if err := <-answer; !errors.Is(err, store.ErrUncertain) {
		t.Errorf("the power went in the sync: %v", err)
	}
	abandon(a.s)
	abandon(b.s)
	s := mustOpen(t, t.TempDir(), simConfig(boot(t, next), nil))
	defer func() { _ = s.Close() }()
	for id, n := range map[string]int{"a": 2, "b": 2} {
		if got, err := readAll(s, id); err != nil || !same(got, storetest.Events(id, store.Head{}, n)) {
			t.Errorf("%s: %d events, %v", id, len(got), err)
		}
	}
}

// TestSyncFailsForAll: a sync that fails is told to everyone who has the log open, so that no process goes on over
// what another could not make durable.
func TestSyncFailsForAll(t *testing.T) {
	d := newDisk()
	a, b, pending, answer := overlapping(t, d)
	d.mu.Lock()
	d.onSync = func(int) error { return errIO }
	d.mu.Unlock()
	close(pending.end)
	if err := <-answer; !errors.Is(err, store.ErrUncertain) {
		t.Errorf("the first: %v", err)
	}
	d.mu.Lock()
	d.onSync = nil
	d.mu.Unlock()
	if err := b.append(1); !errors.Is(err, store.ErrUncertain) {
		t.Errorf("the second: %v", err)
	}
	abandon(a.s)
	abandon(b.s)
	h := &history{acked: map[string][]store.Event{"a": storetest.Events("a", store.Head{}, 1), "b": storetest.Events("b", store.Head{}, 1)}}
	h.flying = map[string][]store.Event{
		"a": storetest.Events("a", a.head, 1), "b": storetest.Events("b", b.head, 1),
	}
	if v := h.examine(simConfig(boot(t, d.powerLoss(dice(5))), nil), t.TempDir()); v != (verdict{}) {
		t.Errorf("%+v", v)
	}
}

// TestKnownIsDurable: whoever is told that an item is known already is told something durable, although its sender is
// still waiting for its own sync.
func TestKnownIsDurable(t *testing.T) {
	d := newDisk()
	e := boot(t, d)
	home := t.TempDir()
	late, pending := slow(e)
	b := newLog(t, mustOpen(t, home, simConfig(e, nil)), "s")
	a := mustOpen(t, home, simConfig(late, nil))
	item := store.Item{Key: "k", Body: []byte("k")}
	answer := make(chan error, 1)
	go func() {
		_, err := a.Send(t.Context(), "s", item)
		answer <- err
	}()
	<-pending.begun
	if r, err := b.s.Send(t.Context(), "s", item); err != nil || !r.Known {
		t.Fatalf("%+v, %v", r, err)
	}
	next := d.powerLoss(loseAll)
	close(pending.end)
	<-answer
	abandon(a)
	abandon(b.s)
	h := &history{acked: map[string][]store.Event{"s": nil}, sent: map[string][]string{"s": {"k"}}}
	if v := h.examine(simConfig(boot(t, next), nil), t.TempDir()); v != (verdict{}) {
		t.Errorf("%+v", v)
	}
}

// TestCommitFailsInASplitGroup: a group in which one job fails is tried job by job. If a commit is uncertain then, so is
// what was committed just before it, since nothing is synced any more, and what comes after it is not begun.
func TestCommitFailsInASplitGroup(t *testing.T) {
	d := newDisk()
	s := mustOpen(t, t.TempDir(), simConfig(boot(t, d), nil))
	defer abandon(s)
	newLog(t, s, "a")
	insert := func(c *conn, id string) error {
		return createTx(c, store.NewSession{ID: id}, "{}", 0)
	}
	begun, queued := make(chan struct{}), make(chan struct{})
	alone, after := false, 0
	jobs := []func(*conn) error{
		func(c *conn) error { return insert(c, "first") },
		func(c *conn) error {
			if !alone {
				alone = true
				return errors.New("of one job only")
			}
			d.mu.Lock()
			d.onWrite = func(string, int) error { return errIO }
			d.mu.Unlock()
			return insert(c, "second")
		},
		func(c *conn) error { after++; return insert(c, "third") },
	}
	answers := make([]chan error, len(jobs))
	hold := make(chan error, 1)
	go func() {
		hold <- s.writer.do(t.Context(), 1, 0, func(*conn) error { close(begun); <-queued; return errNothing })
	}()
	<-begun
	for i, run := range jobs {
		answers[i] = make(chan error, 1)
		j := &job{run: run, events: 1, done: make(chan struct{})}
		if err := s.writer.enqueue(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		go func() { <-j.done; answers[i] <- j.err }()
	}
	close(queued)
	<-hold
	for i, answer := range answers {
		if err := <-answer; !errors.Is(err, store.ErrUncertain) {
			t.Errorf("job %d: %v", i, err)
		}
	}
	if after != 0 {
		t.Errorf("the third was begun %d times", after)
	}
}

// TestLogStartsOver: what another process has written during a checkpoint keeps the log from starting over, until rest
// has copied that too.
func TestLogStartsOver(t *testing.T) {
	for _, rest := range []bool{false, true} {
		d := newDisk()
		e, home := boot(t, d), t.TempDir()
		large := func() Config {
			cfg := simConfig(e, nil)
			cfg.sizes = &sizes{events: 512, bytes: 16 << 20, queue: 64, look: 1 << 30, checkpoint: 1 << 30, restart: 1 << 30, keep: 1 << 30}
			return cfg
		}
		a, b := mustOpen(t, home, large()), mustOpen(t, home, large())
		l, other := newLog(t, a, "a"), newLog(t, b, "b")
		l.must(20)
		if _, left, err := a.writer.wal("PRAGMA wal_checkpoint(PASSIVE)"); err != nil || left != 0 {
			t.Fatalf("%d pages left, %v", left, err)
		}
		other.must(1) // starts the log over
		before, _, _ := a.writer.wal("PRAGMA wal_checkpoint(PASSIVE)")
		for range 3 { // as if others wrote during that checkpoint
			other.must(1)
			if !rest {
				continue
			}
			if err := a.writer.rest(); err != nil {
				t.Fatal(err)
			}
		}
		other.must(1)
		size, _, err := a.writer.wal("PRAGMA wal_checkpoint(NOOP)")
		if err != nil || (size <= before) != rest {
			t.Errorf("rest %v: the log has %d pages, before that %d, %v", rest, size, before, err)
		}
		for _, s := range []*Store{a, b} {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
