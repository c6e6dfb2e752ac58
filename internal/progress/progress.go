// Package progress says how far work is that may take long: files that are looked at or written, logs that are read, packs
// that are swept.
//
// A [Meter] belongs to whoever shows it, and is handed down to what works. There each piece of work is begun, counted and
// ended; counting is an atomic addition, so that it may be done for every file. Whoever shows it asks [Meter.Now] when it
// suits him, so that showing costs the same however fast the work goes. A nil Meter, and a nil Work, count nothing.
package progress

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/plain"
)

// Meter has the work that is being done. It is safe for concurrent use.
type Meter struct {
	mu      sync.Mutex
	running []*Work   // the newest last
	since   time.Time // when the wait began
	ended   time.Time // when there was work last
	hears   []*Listener
}

// Listener is told when there is work. Nothing begins or ends meanwhile, and it must not ask the meter.
type Listener struct {
	Began func(since time.Time) // there is work where there was none; since then somebody waits
	Ended func()                // there is none any more
}

// sameWait is how long there may be no work between two pieces of one wait.
const sameWait = time.Second

// Work is a piece of work that is being done. Its methods may be called by several at once.
type Work struct {
	meter  *Meter
	what   string
	at     string
	things atomic.Int64 // done
	of     atomic.Int64
	bytes  atomic.Int64
	sized  atomic.Int64
	follow atomic.Pointer[func() (things, bytes int64)]
}

// Stand is how far a piece of work is.
type Stand struct {
	What      string    // that is done with which things, as in "restoring files"
	Since     time.Time // when the wait began: before it, for a second at least, there was no work at all
	Done, Of  int64     // things; Of is 0 if nobody knows
	Bytes, In int64     // bytes; In, the number of all of them, is 0 if nobody knows
}

// Begin begins work: what names it with the things that it counts, at is the directory that it is done in, if it is one.
func (m *Meter) Begin(what, at string) *Work {
	if m == nil {
		return nil
	}
	w := &Work{meter: m, what: what, at: at}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running = append(m.running, w); len(m.running) > 1 {
		return w
	}
	if now := time.Now(); now.Sub(m.ended) > sameWait { // how long somebody has waited, whatever other clocks say
		m.since = now
	}
	for _, l := range m.hears {
		l.Began(m.since)
	}
	return w
}

// End ends it. It may be called again.
func (w *Work) End() {
	if w == nil {
		return
	}
	m := w.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.running, w)
	if i < 0 {
		return
	}
	if m.running = slices.Delete(m.running, i, i+1); len(m.running) > 0 {
		return
	}
	m.ended = time.Now()
	for _, l := range m.hears {
		l.Ended()
	}
}

// Listen has a listener told of work that begins and ends from now on, until stop is called.
func (m *Meter) Listen(l Listener) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hears = append(m.hears, &l)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.hears = slices.DeleteFunc(m.hears, func(other *Listener) bool { return other == &l })
	}
}

// Add counts things that are done, with their bytes.
func (w *Work) Add(things, bytes int64) {
	if w != nil {
		w.things.Add(things)
		w.bytes.Add(bytes)
	}
}

// Set says how many things of how many are done; of is 0 if nobody knows.
func (w *Work) Set(done, of int64) {
	if w != nil {
		w.things.Store(done)
		w.of.Store(of)
	}
}

// Sized says how many bytes of how many are done; in is 0 if nobody knows.
func (w *Work) Sized(bytes, in int64) {
	if w != nil {
		w.bytes.Store(bytes)
		w.sized.Store(in)
	}
}

// Follow has somebody else count: look gives what he has, and does not wait.
func (w *Work) Follow(look func() (things, bytes int64)) {
	if w != nil {
		w.follow.Store(&look)
	}
}

// Now is how far the work is that was begun last; false: none is being done.
func (m *Meter) Now() (Stand, bool) { return m.find(func(*Work) bool { return true }) }

// At is [Meter.Now] of the work in one directory.
func (m *Meter) At(dir string) (Stand, bool) {
	return m.find(func(w *Work) bool { return w.at == dir })
}

func (m *Meter) find(is func(*Work) bool) (Stand, bool) {
	if m == nil {
		return Stand{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range slices.Backward(m.running) {
		if is(w) {
			s := w.stand()
			s.Since = m.since
			return s, true
		}
	}
	return Stand{}, false
}

func (w *Work) stand() Stand {
	s := Stand{What: w.what, Done: w.things.Load(), Of: w.of.Load(), Bytes: w.bytes.Load(), In: w.sized.Load()}
	if look := w.follow.Load(); look != nil {
		s.Done, s.Bytes = (*look)()
	}
	return s
}

// String is the stand in words: restoring files: 12,300 of 50,000 · 1.2 GiB.
func (s Stand) String() string {
	text, begin := s.What, ": "
	add := func(done, of int64, show func(int64) string) {
		if done <= 0 && of <= 0 {
			return
		}
		text += begin + show(done)
		if begin = " · "; of > 0 {
			text += " of " + show(max(of, done))
		}
	}
	add(s.Done, s.Of, plain.Grouped)
	add(s.Bytes, s.In, plain.Size)
	return text
}
