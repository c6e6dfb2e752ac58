//go:build linux || darwin

package task

import (
	"os"
	"sync"
)

// guard tells at once when an act's shim or its command dies, without looking at anything meanwhile: the kernel wakes
// it. It costs two descriptors and no thread.
type guard struct {
	woke  chan struct{} // closed by the first death
	once  sync.Once
	files [2]*os.File
}

// guard watches the processes of a running act. It returns nil where that cannot be done: they are not known yet, one of
// them is gone, descriptors have run out, the system has no such handles, or its processes are numbered differently
// here. Then one has to look now and then.
func (d actDir) guard() *guard {
	shim, ok := d.shim()
	run, err := d.readRun()
	if !ok || err != nil {
		return nil
	}
	g := &guard{woke: make(chan struct{})}
	for i, p := range []process{{PID: shim.PID, Ticks: shim.Ticks}, {PID: run.PID, Ticks: run.StartTicks}} {
		if g.files[i] = openEnd(p.PID, p.Ticks); g.files[i] == nil {
			g.close()
			return nil
		}
	}
	for _, f := range g.files {
		go func() {
			if awaitEnd(f) {
				g.once.Do(func() { close(g.woke) })
			}
		}()
	}
	return g
}

// close ends the watch. A nil guard has none.
func (g *guard) close() {
	if g == nil {
		return
	}
	for _, f := range g.files {
		f.Close() // or nothing
	}
}

// standing is the guard as long as it has something to tell, else nil.
func (g *guard) standing() *guard {
	if g == nil {
		return nil
	}
	select {
	case <-g.woke:
		g.close()
		return nil
	default:
		return g
	}
}

// death is closed at the first death; of a nil guard it never is.
func (g *guard) death() <-chan struct{} {
	if g == nil {
		return nil
	}
	return g.woke
}
