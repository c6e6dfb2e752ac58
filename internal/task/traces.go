//go:build linux || darwin

package task

import (
	"bytes"
	"os"
	"time"
)

// traces is the family of a shim that took over from a dead one. The kernel has given the processes to somebody else,
// so they are found by what they carry: the command's identity, their ancestors, the session of the dead shim, and the
// act's path in the environment that all of them inherited. Only a process that shed all of it gets away.
type traces struct {
	dir  actDir // absolute
	run  runRecord
	wake func() // nil when nobody is to be woken

	command processHandle // opened before the command's end, if it could be
	held    bool          // command is open
	end     *ending
	known   map[int]process
	foreign map[int]uint64 // start ticks of processes that belong to others
	table   func() ([]process, error)
}

// findTraces is for looking only.
func findTraces(dir actDir, run runRecord) *traces {
	return &traces{dir: dir, run: run, known: map[int]process{}, foreign: map[int]uint64{}, table: processes}
}

// watchTraces watches the family. given is a handle of the command, if there is one already. wake is called from other
// goroutines whenever a process of the family ended.
func watchTraces(dir actDir, run runRecord, given *processHandle, wake func()) *traces {
	t := findTraces(dir, run)
	t.wake = wake
	k := &keeper{command: given}
	k.hold(".")
	if k.fifo != nil {
		k.fifo.Close()
	}
	if k.command != nil {
		t.command, t.held = *k.command, true
		go func() { t.command.waitEnd(run.PID, run.StartTicks); wake() }()
	}
	return t
}

func (t *traces) reap() (*ending, bool) {
	if t.end == nil {
		if t.held && !t.command.ended(t.run.PID, t.run.StartTicks) {
			return nil, true
		}
		t.end = t.ending()
	}
	// A look at a process table that changes can miss a process that was just born, or that is just executing another
	// program: only several empty ones in a row mean that nothing is left.
	for range emptyLooks {
		if len(t.living()) > 0 {
			return t.end, true
		}
		<-time.After(emptyPause)
	}
	return t.end, false
}

const (
	emptyLooks = 4
	emptyPause = 2 * time.Millisecond
)

// ending finds out how the command ended: from the shim that saw it and died, or from the kernel.
func (t *traces) ending() *ending {
	if status, ok := actDir(".").endNote(); ok {
		return &ending{status: status}
	}
	if t.held {
		if status, ok := t.command.exitStatus(t.run.PID, t.run.StartTicks); ok {
			return &ending{status: status}
		}
	}
	return &ending{lost: true}
}

func (t *traces) living() []process {
	all, err := t.table()
	if err != nil {
		return nil
	}
	below := make(map[int][]process, len(all))
	var queue, found []process
	reused := t.sessionReused(all)
	for _, p := range all {
		below[p.PPID] = append(below[p.PPID], p)
		if !p.dead() && p.Ticks >= t.run.StartTicks && t.belongs(p, reused) {
			queue = append(queue, p)
		}
	}
	seen := map[int]process{}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		if _, ok := seen[p.PID]; ok || p.dead() || p.PID == os.Getpid() {
			continue
		}
		seen[p.PID], found = p, append(found, p)
		queue = append(queue, below[p.PID]...)
		if was, ok := t.known[p.PID]; !ok || was.Ticks != p.Ticks {
			t.watch(p)
		}
	}
	t.known = seen
	return found
}

// watch wakes the shim when p ends.
func (t *traces) watch(p process) {
	if t.wake == nil {
		return
	}
	h, err := openProcess(p.PID)
	if err != nil {
		return // it has ended: the next look finds its children, which the caller takes before it waits
	}
	go func() {
		h.waitEnd(p.PID, p.Ticks)
		h.close()
		t.wake()
	}()
}

// sessionReused says whether the number of the dead shim's session belongs to somebody else by now.
func (t *traces) sessionReused(all []process) bool {
	for _, p := range all {
		if p.PID == t.run.SID && !p.dead() {
			return true
		}
	}
	return t.run.SID <= 0
}

func (t *traces) belongs(p process, reused bool) bool {
	if p.PID == t.run.PID && p.Ticks == t.run.StartTicks {
		return true
	}
	if was, ok := t.known[p.PID]; ok && was.Ticks == p.Ticks {
		return true
	}
	if ticks, ok := t.foreign[p.PID]; ok && ticks == p.Ticks {
		return false
	}
	env := environ(p.PID)
	own, other := t.marked(env)
	if own || !other && !reused && p.SID == t.run.SID {
		return true
	}
	if len(env) > 0 { // empty it may only be for the moment of an exec
		t.foreign[p.PID] = p.Ticks
	}
	return false
}

// marked says whether an environment names this act, or another one.
func (t *traces) marked(env []byte) (own, other bool) {
	value, ok := actOf(env)
	own = ok && value == string(t.dir)
	return own, ok && !own
}

// actOf returns the path of the act that an environment names.
func actOf(env []byte) (string, bool) {
	const key = "\x00" + actKey + "="
	env = append([]byte{0}, env...)
	i := bytes.LastIndex(env, []byte(key))
	if i < 0 {
		return "", false
	}
	value, _, _ := bytes.Cut(env[i+len(key):], []byte{0})
	return string(value), true
}
