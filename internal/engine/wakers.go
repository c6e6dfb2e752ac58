package engine

import "sync"

// wakers are the sessions that this engine holds, for those in the same process who send them something or wait for
// it to be taken: they need not wait for the next look at the inbox.
type wakers struct {
	mu   sync.Mutex
	held map[string]*waker
}

type waker struct {
	woken chan struct{} // an item was sent
	taken chan struct{} // closed at the next look at the inbox that took something
}

func (w *wakers) hold(id string) *waker {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := &waker{woken: make(chan struct{}, 1), taken: make(chan struct{})}
	if w.held == nil {
		w.held = map[string]*waker{}
	}
	w.held[id] = k
	return k
}

// drop forgets a session that was given back, and lets those go on who wait for it.
func (w *wakers) drop(id string, k *waker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held[id] == k {
		delete(w.held, id)
	}
	close(k.taken) // for good: nothing is taken any more
}

// took tells those who wait that the inbox was looked at.
func (w *wakers) took(k *waker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(k.taken)
	k.taken = make(chan struct{})
}

// Wake lets the session look at its inbox at once, if this engine holds it. Whoever puts something into a store's inbox
// beside the engine calls it.
func (e *Engine) Wake(id string) {
	e.wakers.mu.Lock()
	defer e.wakers.mu.Unlock()
	if k := e.wakers.held[id]; k != nil {
		select {
		case k.woken <- struct{}{}:
		default: // it is awake
		}
	}
}

// Taken returns a channel that is closed when the session next takes something from its inbox, or is given back; nil if
// this engine does not hold it.
func (e *Engine) Taken(id string) <-chan struct{} {
	e.wakers.mu.Lock()
	defer e.wakers.mu.Unlock()
	if k := e.wakers.held[id]; k != nil {
		return k.taken
	}
	return nil
}
