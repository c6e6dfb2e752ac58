package blob

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// work is what a life does in the crash tests: batches of contents of several sizes, so that packs fill, roll and get
// indexes. It gives the contents of the batches whose commit returned, and of the one that did not come to it.
func work(p *process, from, batches int) (kept, open [][]byte, err error) {
	s, err := openOn(p, Config{PackSize: 40_000})
	if err != nil {
		return nil, nil, err
	}
	for i := range batches {
		b, err := s.Batch(quick)
		if err != nil {
			return kept, nil, err
		}
		seed := uint64(from + i)
		open = [][]byte{prose(seed, 3000), noise(seed, 9000), noise(seed+1, 9000), noise(seed+1_000_000, 30_000)}
		if i == 2 {
			open = append(open, noise(seed, ChunkMin+200_000))
		}
		for _, c := range open {
			if _, _, err = b.PutFrom(bytes.NewReader(c)); err != nil {
				break
			}
		}
		if err == nil {
			next := edition(500, from+i+1, 7000)
			_, err = b.PutLike(next, store.Sum(edition(500, from+i, 7000)))
			open = append(open, next)
		}
		if err == nil {
			err = b.Commit()
		}
		if err = errors.Join(err, b.Close()); err != nil {
			return kept, open, err
		}
		kept = append(kept, open...)
	}
	return kept, nil, s.Close()
}

// holds looks at a machine after a crash: all that was kept is there, nothing is torn, what is there has what it names,
// and a batch after it removes what the crash left.
func holds(t *testing.T, m *machine, step int, kept [][]byte) {
	t.Helper()
	s, err := openOn(m.process(0), Config{PackSize: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range kept {
		same(t, s, store.Sum(c), c)
	}
	report, err := s.Verify(t.Context(), nil)
	if err != nil || len(report.Damaged) > 0 {
		t.Fatalf("step %d: %+v, %v", step, report, err)
	}
	keep(t, s, []byte("a batch after the crash"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clean(t, m, step)
}

// clean fails if there is a file or a byte that belongs to no batch.
func clean(t *testing.T, m *machine, step int) {
	t.Helper()
	s, err := openOn(m.process(0), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.refresh(); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.packs {
		if p.size != p.valid || p.valid == packHeaderLen {
			t.Errorf("step %d: pack %s has %d bytes, %d of whole batches", step, p.id, p.size, p.valid)
		}
	}
	if len(s.litter) > 0 {
		t.Errorf("step %d: %q is left", step, s.litter)
	}
}

// lives runs work once for each step at which it can be killed; after says what happens then.
func lives(t *testing.T, batches int, after func(m *machine, step int, kept, open [][]byte)) {
	t.Helper()
	whole := newMachine(1)
	if _, _, err := work(whole.process(0), 0, batches); err != nil {
		t.Fatal(err)
	}
	for step := 1; ; step++ {
		m := newMachine(uint64(step))
		if _, _, err := work(m.process(0), 0, 2); err != nil { // an earlier life
			t.Fatal(err)
		}
		p := m.process(step)
		kept, open, err := work(p, 1, batches) // it shares contents with the earlier one
		if err == nil {
			if step < 30 {
				t.Fatalf("only %d steps", step)
			}
			t.Logf("%d steps", step-1)
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("step %d: %v", step, err)
		}
		after(m, step, kept, open)
	}
}

// Goal: a process that is killed at any step leaves all that was committed, nothing else that is seen, and no garbage
// that the next batch does not remove.
func TestKilledAtEachStep(t *testing.T) {
	lives(t, 4, func(m *machine, step int, kept, _ [][]byte) { holds(t, m, step, kept) })
}

// Goal: the same if the power fails at any step, so that what was not synced is lost or torn.
func TestPowerLostAtEachStep(t *testing.T) {
	lives(t, 4, func(m *machine, step int, kept, _ [][]byte) {
		m.powerLoss()
		holds(t, m, step, kept)
	})
}

// unsynced commits contents in a process that dies in the moment before its sync. Others see them all the same.
func unsynced(t *testing.T, m *machine, contents ...[]byte) {
	t.Helper()
	unsyncedIn(t, m, Config{}, contents...)
}

func unsyncedIn(t *testing.T, m *machine, cfg Config, contents ...[]byte) {
	t.Helper()
	p := m.process(0)
	s, err := openOn(p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	b := begin(t, s)
	for _, c := range contents {
		if _, err := b.Put(c); err != nil {
			t.Fatal(err)
		}
	}
	p.unsynced = true
	if err := b.Commit(); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
}

// Goal: what another process wrote but had no time to sync is durable once a batch relies on it, by Put or by Has.
func TestReliedOnIsDurable(t *testing.T) {
	for seed := range uint64(60) {
		m := newMachine(seed)
		c := noise(seed, 20_000)
		first, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, first, noise(seed+1, 100))
		unsynced(t, m, c)
		other, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		b := begin(t, other)
		if seed%2 == 0 {
			_, err = b.Put(c)
		} else if !b.Has(store.Sum(c)) {
			t.Fatal("it is not seen")
		}
		if err = errors.Join(err, b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		m.powerLoss()
		again, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, store.Sum(c), c)
	}
}

// Goal: a batch whose frame reached the disk while parts of its records did not is none: it is not seen, and does not
// stand in the way of the one after it.
func TestFrameWithoutItsRecords(t *testing.T) {
	frames := 0
	for seed := range uint64(300) {
		m := newMachine(seed)
		c := noise(seed, 12_000)
		unsynced(t, m, c)
		m.powerLoss()
		for _, f := range m.names {
			if bytes.Contains(f.data, frameMagic) {
				frames++
			}
		}
		holds(t, m, int(seed), nil)
	}
	if frames < 20 {
		t.Errorf("a frame was on the disk %d times", frames)
	}
}

// Goal: nobody writes behind a batch that is not durable, so that damage in front of a later batch is never a torn one.
func TestNothingBehindWhatIsNotDurable(t *testing.T) {
	for seed := range uint64(300) {
		m := newMachine(seed)
		first, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, first, noise(seed+1, 100))
		unsynced(t, m, noise(seed, 12_000))
		unsynced(t, m, []byte("behind it"))
		m.powerLoss()
		holds(t, m, int(seed), [][]byte{noise(seed+1, 100)})
	}
}

// Goal: a batch that relies on what another one wrote, whose sync then fails so that it is taken back, fails too. Whatever
// stands in its place afterwards is not taken for it.
func TestReliedOnWasTakenBack(t *testing.T) {
	for _, more := range []int{0, 100, 50_000} {
		m := newMachine(1)
		c := noise(1, 20_000)
		store1, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, store1, noise(2, 100))
		other, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		var relies *Batch
		syncs, broken := 0, errors.New("the medium gave up")
		failing, err := openOn(m.process(0), Config{Fault: func(step string) error {
			if !strings.HasPrefix(step, "sync packs/") {
				return nil
			}
			if syncs++; syncs != 2 { // the first one is of what stood there
				return nil
			}
			relies = begin(t, other)
			if _, err := relies.Put(c); err != nil {
				t.Error(err)
			}
			return broken
		}})
		if err != nil {
			t.Fatal(err)
		}
		b := begin(t, failing)
		if _, err := b.Put(c); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if more > 0 {
			keep(t, store1, noise(3, more))
		}
		if err := relies.Commit(); err == nil {
			t.Errorf("then %d bytes: the commit relies on what is gone", more)
		}
		if err := relies.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			keep(t, other, c)
			same(t, other, store.Sum(c), c)
		}
		holds(t, m, more, [][]byte{c, noise(2, 100)})
	}
}

// Goal: without syncs the power test has to fail, or it would prove nothing.
func TestPowerLossWithoutSyncsIsSeen(t *testing.T) {
	lost := 0
	for seed := range uint64(20) {
		m := newMachine(seed)
		m.lazy = true
		kept, _, err := work(m.process(0), 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		m.powerLoss()
		s, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range kept {
			if has, err := s.Has(store.Sum(c)); err == nil && !has {
				lost++
			}
		}
	}
	if lost == 0 {
		t.Error("nothing was lost without syncs")
	}
}

// Goal: a disk that is full at any write fails the batch with ErrNoSpace, leaves what was there and nothing else, and
// takes the next batch when there is room.
func TestDiskFullAtEachWrite(t *testing.T) {
	full := 0
	for room := int64(0); room < 250_000; room += 1371 {
		m := newMachine(uint64(room))
		kept, _, err := work(m.process(0), 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		m.room = room
		used := m.used()
		more, _, err := work(m.process(0), 10, 2)
		if err != nil {
			full++
			if !errors.Is(err, ErrNoSpace) {
				t.Fatalf("room for %d: %v", room, err)
			}
			if len(more) == 0 && m.used() != used {
				t.Errorf("room for %d: %d bytes became %d", room, used, m.used())
			}
		}
		m.room = -1
		holds(t, m, int(room), append(kept, more...))
	}
	if full < 10 {
		t.Errorf("full only %d times", full)
	}
}
