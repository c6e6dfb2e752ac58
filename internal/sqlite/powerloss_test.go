package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// TestStoreOnSimulatedDisk: the simulated disk without faults is an ordinary disk, so that what it shows elsewhere is
// about faults.
func TestStoreOnSimulatedDisk(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Home { return newHome(t, Config{engine: boot(t, newDisk())}) })
}

// history is a fixed sequence of writes by two stores on one disk, and what was acknowledged of it.
type history struct {
	t      testing.TB
	stores [2]*Store
	mu     sync.Mutex
	acked  map[string][]store.Event
	flying map[string][]store.Event // the batch whose answer never came
	sent   map[string][]string      // keys of acknowledged items
}

// tiny makes checkpoints and restarts of the log frequent.
func tiny() *sizes {
	return &sizes{events: 512, bytes: 16 << 20, queue: 64, look: 1, checkpoint: 12, restart: 60, keep: 20}
}

func simConfig(e *engine, pragmas map[string]string) Config {
	if pragmas["synchronous"] != "" { // A control: SQLite is on its own.
		e = withoutSyncs(e)
	}
	return Config{engine: e, sizes: tiny(), pragmas: pragmas, free: func(string) int64 { return -1 }}
}

// play runs the history until it ends or the power goes, and tells which.
func (h *history) play(cfg Config, home string, rounds int) (finished bool) {
	h.acked, h.flying, h.sent = map[string][]store.Event{}, map[string][]store.Event{}, map[string][]string{}
	var leases [4]store.Lease
	ctx := context.Background()
	for i := range h.stores {
		s, err := Open(ctx, home, cfg)
		if err != nil {
			return false
		}
		h.stores[i] = s
	}
	for i := range leases {
		s, id := h.stores[i%2], fmt.Sprint("s", i)
		if !h.create(s, store.NewSession{ID: id}, i) {
			return false
		}
		l, err := s.Acquire(ctx, id)
		if err != nil {
			return false
		}
		leases[i] = l
	}
	for round := range rounds {
		if !h.appendAll(round, leases[:]) {
			return false
		}
		id, key := fmt.Sprint("s", round%4), fmt.Sprint("key", round)
		if _, err := h.stores[round%2].Send(ctx, id, store.Item{Key: key, Body: []byte(key)}); err != nil {
			return false
		}
		h.sent[id] = append(h.sent[id], key)
		if round%3 != 1 {
			continue
		}
		last := h.acked[id][len(h.acked[id])-1]
		at := store.Position{Session: id, Seq: last.Seq, Hash: last.Hash}
		if !h.create(h.stores[round%2], store.NewSession{ID: fmt.Sprint("f", round), Parent: &at}, 1+round%2) {
			return false
		}
	}
	return true
}

// create adds a session with n first events; until that is answered, it may be there with all of them or not at all.
func (h *history) create(s *Store, n store.NewSession, events int) bool {
	base := store.Head{}
	if n.Parent != nil {
		base.Hash = n.Parent.Hash
	}
	n.Events = storetest.Events(n.ID, base, events)
	h.flying[n.ID] = n.Events
	if s.Create(context.Background(), n) != nil {
		return false
	}
	delete(h.flying, n.ID)
	h.acked[n.ID] = n.Events
	return true
}

// appendAll appends to every session: one after another in even rounds, all at once in odd ones, when both stores write
// and sync at the same time.
func (h *history) appendAll(round int, leases []store.Lease) bool {
	results := make(chan bool, len(leases))
	var all sync.WaitGroup
	for i, l := range leases {
		all.Go(func() { results <- h.append(i, round, l) })
		if round%2 == 0 {
			all.Wait()
		}
	}
	all.Wait()
	close(results)
	for ok := range results {
		if !ok {
			return false
		}
	}
	return true
}

func (h *history) append(i, round int, l store.Lease) bool {
	h.mu.Lock()
	log := h.acked[l.Session]
	h.mu.Unlock()
	head := store.Head{}
	if n := len(log); n > 0 {
		head = store.Head{Seq: log[n-1].Seq, Hash: log[n-1].Hash}
	}
	events := storetest.Events(l.Session, head, 1+(i+round)%3)
	if round%3 == 0 { // Over a page, so that a frame of the log can be torn from its neighbour.
		events = events[:1]
		events[0].Body = make([]byte, 5000)
		events[0] = storetest.Seal(l.Session, head, events[0])
	}
	h.mu.Lock()
	h.flying[l.Session] = events
	h.mu.Unlock()
	heads := store.Heads{Turns: int64(round)}
	if h.stores[i%2].Append(context.Background(), l, store.Batch{Events: events, Heads: &heads}) != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.flying, l.Session)
	h.acked[l.Session] = append(log, events...)
	return true
}

func (h *history) abandon() {
	for _, s := range h.stores {
		if s != nil {
			abandon(s)
		}
	}
}

// verdict is what a reboot found wrong; empty is all well.
type verdict struct{ lost, corrupt string }

// examine opens the store after a power loss and compares it with what was acknowledged.
func (h *history) examine(cfg Config, home string) (v verdict) {
	var before map[string][]store.Event
	for range 2 { // Opening is idempotent.
		s, err := Open(context.Background(), home, cfg)
		if err != nil {
			return verdict{corrupt: err.Error()}
		}
		logs, v := h.compare(s)
		if err := s.Close(); err != nil {
			v.corrupt = err.Error()
			if errors.Is(err, store.ErrUncertain) { // The process would end now, and its connections with it.
				_ = s.writer.close(s.readers)
			}
		}
		if v != (verdict{}) {
			return v
		}
		if before != nil && !reflect.DeepEqual(before, logs) {
			return verdict{corrupt: "a second opening finds another log"}
		}
		before = logs
	}
	return verdict{}
}

func (h *history) compare(s *Store) (logs map[string][]store.Event, v verdict) {
	ctx := context.Background()
	if fault := integrity(s); fault != "" {
		return nil, verdict{corrupt: fault}
	}
	logs = map[string][]store.Event{}
	for id, first := range h.flying {
		if _, created := h.acked[id]; created {
			continue
		}
		got, err := readAll(s, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, verdict{corrupt: err.Error()}
		case !same(got, first):
			return nil, verdict{corrupt: fmt.Sprintf("session %s was created with %d of its %d events", id, len(got), len(first))}
		}
	}
	for id, acked := range h.acked {
		var got []store.Event
		for e, err := range s.Read(ctx, id, 1, 0) {
			if errors.Is(err, store.ErrNotFound) {
				return nil, verdict{lost: fmt.Sprintf("session %s", id)}
			}
			if err != nil {
				return nil, verdict{corrupt: err.Error()}
			}
			got = append(got, e)
		}
		logs[id] = got
		if len(got) < len(acked) {
			return nil, verdict{lost: fmt.Sprintf("%d of %d events of %s", len(acked)-len(got), len(acked), id)}
		}
		if !same(got[:len(acked)], acked) || len(got) > len(acked) && !same(got[len(acked):], h.flying[id]) {
			return nil, verdict{corrupt: fmt.Sprintf("%s has events that were not appended", id)}
		}
		items, err := s.Pending(ctx, id, 0, 0)
		if err != nil {
			return nil, verdict{corrupt: err.Error()}
		}
		for _, key := range h.sent[id] {
			if !slices.ContainsFunc(items, func(it store.Item) bool { return it.Key == key && string(it.Body) == key }) {
				return nil, verdict{lost: "item " + key}
			}
		}
	}
	return logs, v
}

func same(a, b []store.Event) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// integrity asks SQLite whether the whole file is sound.
func integrity(s *Store) string {
	answer := ""
	err := s.read(context.Background(), func(c *conn) error {
		return c.query("PRAGMA integrity_check", nil, func(v []driver.Value) error {
			answer = text(v[0])
			return nil
		})
	})
	switch {
	case err != nil:
		return err.Error()
	case answer != "ok":
		return answer
	}
	return ""
}

// campaign crashes the history at every sync and once after its end, under several fates, and counts the verdicts.
func campaign(t *testing.T, pragmas map[string]string, rounds, seeds int) (crashes, lost, corrupt int, sample verdict) {
	count := newDisk()
	h := &history{t: t}
	if !h.play(simConfig(boot(t, count), pragmas), t.TempDir(), rounds) {
		t.Fatal("the history does not end by itself")
	}
	syncs, copied := count.counts(databaseName)
	if copied < 4 && pragmas == nil {
		t.Fatalf("the history has only %d checkpoints", copied)
	}
	h.abandon()
	for at := 1; at <= syncs+1; at++ {
		// A subtest ends with its disks, and with the machines that were booted from them.
		t.Run(fmt.Sprint("sync ", at), func(t *testing.T) {
			for seed := range seeds {
				v := crash(t, pragmas, rounds, at, seed)
				crashes++
				if v.lost != "" {
					lost++
				}
				if v.corrupt != "" {
					corrupt++
				}
				if v != (verdict{}) {
					sample = v
				}
			}
		})
	}
	return crashes, lost, corrupt, sample
}

// crash is one power loss. Seeds 0 and 1 lose and keep everything that was not synced; the others throw dice.
func crash(t *testing.T, pragmas map[string]string, rounds, at, seed int) verdict {
	d := newDisk()
	d.crashAt = at
	h := &history{t: t}
	h.play(simConfig(boot(t, d), pragmas), t.TempDir(), rounds)
	keep := dice(at*1000 + seed)
	switch seed {
	case 0:
		keep = loseAll
	case 1:
		keep = keepAll
	}
	next := d.powerLoss(keep)
	h.abandon()
	home := t.TempDir()
	// The power may go again while the first opening recovers.
	if seed >= 2 {
		next.crashAt = 1 + (at+seed)%3
		h.examine(simConfig(boot(t, next), pragmas), home)
		next = next.powerLoss(keep)
	}
	return h.examine(simConfig(boot(t, next), pragmas), home)
}

func soak() bool { return os.Getenv("PERDURE_SOAK") == "1" }

// TestPowerLoss: at whatever sync the power goes, everything acknowledged is there, nothing but the batch in flight
// is there besides, and the store opens.
func TestPowerLoss(t *testing.T) {
	rounds, seeds := 3, 3
	if soak() {
		rounds, seeds = 12, 40
	}
	crashes, lost, corrupt, sample := campaign(t, nil, rounds, seeds)
	t.Logf("%d power losses: %d lost, %d corrupt", crashes, lost, corrupt)
	if lost+corrupt > 0 {
		t.Errorf("for example: %+v", sample)
	}
}

// TestPowerLossControls: without the syncs the same campaign must find losses and damage. If it finds none, the
// simulator proves nothing.
func TestPowerLossControls(t *testing.T) {
	crashes, lost, corrupt, _ := campaign(t, map[string]string{"synchronous": "NORMAL"}, 4, 3)
	t.Logf("synchronous=NORMAL: %d power losses: %d lost, %d corrupt", crashes, lost, corrupt)
	if lost == 0 {
		t.Error("synchronous=NORMAL lost nothing")
	}
	if corrupt > 0 {
		t.Error("synchronous=NORMAL in WAL mode must lose, but never corrupt")
	}
	crashes, lost, corrupt = 0, 0, 0
	for seed := 2; seed < 60; seed++ { // There is no sync to crash at: the power goes after the end.
		v := crash(t, map[string]string{"synchronous": "OFF"}, 4+seed%6, 1<<30, seed)
		crashes++
		if v.lost != "" {
			lost++
		}
		if v.corrupt != "" {
			corrupt++
		}
	}
	t.Logf("synchronous=OFF: %d power losses: %d lost, %d corrupt", crashes, lost, corrupt)
	if corrupt == 0 {
		t.Error("synchronous=OFF corrupted nothing")
	}
}
