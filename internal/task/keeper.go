//go:build linux || darwin

package task

import (
	"os"
	"sync"
)

// keeper is what a process that minds a command holds on to, so that nothing gets lost between the death of a shim and
// its replacement: the FIFO, whose content would go with its last opener, and a handle of the command, through which
// newer kernels tell how it ended even after it was reaped. The zero value holds nothing. It costs two descriptors.
type keeper struct {
	mu      sync.Mutex
	fifo    *os.File
	command *processHandle
	closed  bool
}

// hold takes hold of what is there by now. It may be repeated.
func (k *keeper) hold(d actDir) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if k.fifo == nil {
		if fd, err := openRetry(d.path(fifoName), fifoOpenFlags, 0); err == nil { // blocking, so that nobody polls it: see arrival
			k.fifo = os.NewFile(uintptr(fd), fifoName)
		}
	}
	if k.command != nil {
		return
	}
	run, err := d.readRun()
	if err != nil {
		return
	}
	h, err := openProcess(run.PID)
	if err != nil {
		return
	}
	if p, err := readProcess(run.PID); err != nil || p.Ticks != run.StartTicks {
		h.close()
		return
	}
	k.command = &h
}

// close lets go of everything, for good.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.fifo.Close() // or nothing
	if k.command != nil {
		k.command.close()
	}
	k.fifo, k.command = nil, nil
}

// files are the descriptors to hand to a replacement shim, and the environment that names them.
func (k *keeper) files() ([]uintptr, []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.command != nil {
		if fd, ok := k.command.descriptor(); ok {
			return []uintptr{fd}, []string{handleKey}
		}
	}
	return nil, nil
}

// commandFD is where a replacement shim finds the handle, if handleKey is in its environment.
const (
	commandFD = 4
	handleKey = "PERDURE_HANDLE=4"
)
