package blob

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
)

// halfDead makes packs of which some die, some live in part and some live whole; it gives what lives.
func halfDead(t *testing.T, m *machine) (*events, [][]byte) {
	t.Helper()
	ev := &events{roots: map[store.Digest]bool{}}
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	var live [][]byte
	for i := range 6 {
		var batch [][]byte
		for j := range 10 {
			c := noise(uint64(i*10+j), 4200)
			if batch = append(batch, c); j < i*2 {
				live = append(live, c)
				ev.name(store.Sum(c))
			}
		}
		keep(t, s, batch...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return ev, live
}

// Goal: a Sweep that is killed at any step, or whose power fails, has lost nothing; the next one comes to the same end as
// one that was never disturbed, and leaves no garbage.
func TestSweepKilledAtEachStep(t *testing.T) {
	for _, power := range []bool{false, true} {
		t.Run(fmt.Sprint("power ", power), func(t *testing.T) {
			for step := 1; ; step++ {
				m := newMachine(uint64(step))
				ev, live := halfDead(t, m)
				s, err := openOn(m.process(step), Config{PackSize: 40_000})
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Sweep(quick, ev.ask, linksIn(s), nil)
				if err != nil && !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
				if power {
					m.powerLoss()
				}
				again, oerr := openOn(m.process(0), Config{PackSize: 40_000})
				if oerr != nil {
					t.Fatal(oerr)
				}
				for _, c := range live {
					same(t, again, store.Sum(c), c)
				}
				if _, err := again.Sweep(quick, ev.ask, linksIn(again), nil); err != nil {
					t.Fatal(err)
				}
				for _, c := range live {
					same(t, again, store.Sum(c), c)
				}
				clean(t, m, step)
				if used := m.used(); used > 230_000 { // 30 contents of 4,200 live in packs that are half full at least
					t.Errorf("step %d: %d bytes are left", step, used)
				}
				if err == nil {
					if step < 15 {
						t.Errorf("only %d steps", step)
					}
					return
				}
			}
		})
	}
}

// Goal: a copy goes only if the other one is whole and durable.
func TestSweepReliesOnDurableCopies(t *testing.T) {
	for seed := range uint64(40) {
		m := newMachine(seed)
		c := noise(seed, 20_000)
		p := m.process(0)
		p.unsynced = true
		dies, err := openOn(p, Config{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		one, two := begin(t, s), begin(t, dies) // at the same time, so that both add it
		for _, b := range []*Batch{one, two} {
			if _, err := b.Put(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(one.Commit(), one.Close()); err != nil {
			t.Fatal(err)
		}
		if err := two.Commit(); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		ev := &events{roots: map[store.Digest]bool{store.Sum(c): true}}
		sweeper, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		if swept, err := sweeper.Sweep(quick, ev.ask, linksIn(sweeper), nil); err != nil || swept.Removed != 1 {
			t.Fatalf("%+v, %v", swept, err)
		}
		m.powerLoss()
		again, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, store.Sum(c), c)
	}
}

// Goal: Sweep on a full disk frees what it can without room, and says that it could not do the rest.
func TestSweepOnAFullDisk(t *testing.T) {
	m := newMachine(1)
	ev, live := halfDead(t, m)
	m.room = 0
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	before := m.used()
	swept, err := s.Sweep(quick, ev.ask, linksIn(s), nil)
	if !errors.Is(err, ErrNoSpace) || swept.Removed == 0 || m.used() >= before {
		t.Errorf("%+v, %d bytes of %d, %v", swept, m.used(), before, err)
	}
	for _, c := range live {
		same(t, s, store.Sum(c), c)
	}
	m.room = -1
	if swept, err := s.Sweep(quick, ev.ask, linksIn(s), nil); err != nil || swept.Rewritten == 0 {
		t.Errorf("with room: %+v, %v", swept, err)
	}
}

// Goal: a pack with a damaged content that lives is left alone, whatever dies beside it.
func TestSweepLeavesDamageAlone(t *testing.T) {
	m := newMachine(1)
	ev, live := halfDead(t, m)
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	p, e, ok := s.find(store.Sum(live[0])) // its pack lives to a fifth
	if !ok {
		t.Fatal("it is not there")
	}
	m.names[p.file()].data[e.end()-1] ^= 1
	files := func(store.Digest) ([]store.Digest, error) { return nil, nil }
	for range 2 { // before the damage was met by a reader, and after
		if swept, err := s.Sweep(quick, ev.ask, files, nil); err != nil || swept.Damaged != 1 {
			t.Fatalf("%+v, %v", swept, err)
		}
		if _, err := s.Get(store.Sum(live[0])); !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	}
	if _, err := s.disk.size(p.file()); err != nil {
		t.Errorf("the pack: %v", err)
	}
}

// Goal: a step of Sweep waits for an open batch, lets others begin meanwhile, and goes on when it is closed.
func TestSweepWaitsForBatches(t *testing.T) {
	m := newMachine(1)
	ev, live := halfDead(t, m)
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	long := begin(t, s)
	done := make(chan error, 1)
	go func() {
		_, err := s.Sweep(quick, ev.ask, linksIn(s), nil)
		done <- err
	}()
	for range 5 {
		start := time.Now()
		b := begin(t, s)
		if wait := time.Since(start); wait > 20*time.Second {
			t.Errorf("a batch waited %v", wait)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := long.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for ever")
	}
	for _, c := range live {
		same(t, s, store.Sum(c), c)
	}
}
