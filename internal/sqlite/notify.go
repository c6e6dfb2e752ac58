package sqlite

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// notifier tells those who wait of changes that any process made. Whoever commits writes the mark afterwards; a watch on
// that one file is what wakes. It is there while somebody waits, and costs nothing while nothing happens.
type notifier struct {
	store *Store

	mu     sync.Mutex
	last   int
	waits  map[string]*waited // by session
	files  *fsnotify.Watcher  // nil: nobody waits, or the system gives no watch
	closed bool
}

// waited is a session that somebody waits for.
type waited struct {
	chans map[int]chan struct{}
	seen  row
}

// row is what of a session's row, and of its inbox, a change moves.
type row struct{ head, mark, epoch, n int64 }

// Looks for what has changed are this far apart. Over time they take at most a fiftieth of a processor; after a rest some
// may follow each other at once, so that who waits for an answer to several messages has each at once.
const (
	lookPause = time.Millisecond
	lookShare = 50
	lookBurst = 250 * time.Millisecond // what looks may be ahead of their share: 5 ms of work
)

// pace says how far apart looks are.
type pace struct {
	ahead time.Duration // of their share, at the end of the last look
	ended time.Time
}

// pause is how long to wait after a look.
func (p *pace) pause(began, ended time.Time) time.Duration {
	p.ahead = max(0, p.ahead-began.Sub(p.ended)) + lookShare*ended.Sub(began)
	p.ended = ended
	return max(lookPause, p.ahead-lookBurst)
}

// Changes tells of changes of a session; see [store.Notifier].
func (s *Store) Changes(id string) (changed <-chan struct{}, stop func(), ok bool) {
	return s.notifier.add(id)
}

func (n *notifier) add(id string) (<-chan struct{}, func(), bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || !n.watch() {
		return nil, func() {}, false
	}
	w := n.waits[id]
	if w == nil {
		w = &waited{chans: map[int]chan struct{}{}}
		n.waits[id] = w
	}
	n.last++
	me, c := n.last, make(chan struct{}, 1)
	w.chans[me] = c
	c <- struct{}{} // what happened before the watch began is looked for by whoever waits
	return c, sync.OnceFunc(func() { n.remove(id, me) }), true
}

func (n *notifier) remove(id string, me int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	w := n.waits[id]
	if w == nil {
		return
	}
	if delete(w.chans, me); len(w.chans) == 0 {
		delete(n.waits, id)
	}
	if len(n.waits) == 0 {
		n.unwatch()
	}
}

// watch begins to watch the mark, unless that is done already. Holding mu.
func (n *notifier) watch() bool {
	if n.files != nil {
		return true
	}
	files, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	if err := files.Add(filepath.Join(n.store.home, markName)); err != nil {
		_ = files.Close() // It watches nothing.
		return false
	}
	n.files, n.waits = files, map[string]*waited{}
	go n.run(files)
	return true
}

// unwatch ends the watch. Holding mu.
func (n *notifier) unwatch() {
	if n.files != nil {
		_ = n.files.Close() // It was only read.
		n.files = nil
	}
}

// close ends the watch for good and lets those go on who wait.
func (n *notifier) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.unwatch()
	for _, w := range n.waits {
		w.wake()
	}
}

func (n *notifier) run(files *fsnotify.Watcher) {
	var p pace
	for {
		select {
		case _, ok := <-files.Events:
			if !ok {
				return
			}
			began := time.Now()
			n.look()
			<-time.After(p.pause(began, time.Now()))
		case _, ok := <-files.Errors: // some events are lost: whoever waits looks now and then
			if !ok {
				return
			}
		}
	}
}

// look wakes those whose session has changed since the look before. One that cannot be read wakes too: whoever waits
// finds out why.
func (n *notifier) look() {
	n.mu.Lock()
	ids := make([]string, 0, len(n.waits))
	for id := range n.waits {
		ids = append(ids, id)
	}
	n.mu.Unlock()
	now := make(map[string]row, len(ids))
	err := n.store.read(context.Background(), func(c *conn) error {
		for _, id := range ids {
			if _, err := c.one(`SELECT head_seq, mark, epoch, (SELECT ifnull(max(n), 0) FROM inbox WHERE session_no = sno)
				FROM session WHERE id = ?1`, []any{id}, func(v []driver.Value) error {
				now[id] = row{number(v[0]), number(v[1]), number(v[2]), number(v[3])}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, w := range n.waits {
		if r := now[id]; err != nil || r != w.seen {
			w.seen = r
			w.wake()
		}
	}
}

func (w *waited) wake() {
	for _, c := range w.chans {
		select {
		case c <- struct{}{}:
		default: // it is awake
		}
	}
}
