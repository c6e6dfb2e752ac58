package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// holders is the directory in which every open store keeps one locked file. The lock says who lives: the kernel
// drops it when the process ends, however it ends.
type holders struct {
	dir      string
	identity *identity
}

// holder is this store's own entry.
type holder struct {
	id   string
	file *os.File
}

// identity is what a holder's record says about the process and its machine.
type identity struct {
	host      string
	machine   string // of the installation; empty when unknown
	boot      string // of the running kernel, the same in all its containers
	namespace string // in which pid means something
	pid       int
	ticks     uint64 // when the process started, so that a pid used again is not taken for it
}

// maxRecord bounds what is read of a record.
const maxRecord = 64 << 10

// enter creates the entry: the file is locked and written under another name first, so that nobody ever sees it
// unlocked or half written.
func (h *holders) enter(id string, now int64) (*holder, error) {
	me := h.identity
	record, err := json.Marshal(store.Holder{
		ID: id, Host: me.host, PID: me.pid, Since: now, Alive: store.Alive,
		Machine: me.machine, BootID: me.boot, Ticks: me.ticks, Namespace: me.namespace,
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(h.dir, id)
	for range 100 {
		f, err := openPrivate(path + ".tmp")
		if err != nil {
			return nil, err
		}
		if err := flock(f, sys.Exclusive); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !linked(f) { // Somebody swept it away before it was locked.
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := f.WriteAt(record, 0); err != nil {
			return nil, errors.Join(err, os.Remove(path+".tmp"), f.Close())
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &holder{id: id, file: f}, nil
	}
	return nil, fmt.Errorf("holder %s: its file is swept away again and again", id)
}

func (h *holders) leave(me *holder) error {
	return errors.Join(os.Remove(filepath.Join(h.dir, me.id)), me.file.Close())
}

// find tells what is known of a holder. A record that is gone was swept when its process was dead; one that cannot be
// read and is not locked was cut short by a power loss.
func (h *holders) find(id string) store.Holder {
	gone := store.Holder{ID: id, Alive: store.Dead}
	f, err := openOwn(filepath.Join(h.dir, filepath.Base(id)), os.O_RDONLY)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			gone.Alive = store.Unknown
		}
		return gone
	}
	defer func() { _ = f.Close() }()
	free, err := tryLock(f, sys.Shared)
	buf := make([]byte, maxRecord)
	n, _ := f.ReadAt(buf, 0)
	found := store.Holder{}
	if json.Unmarshal(buf[:n], &found) != nil {
		found = store.Holder{}
	}
	found.ID = id
	switch {
	case err != nil:
		found.Alive = store.Unknown
	case !free:
		found.Alive = store.Alive
	default:
		found.Alive = h.afterLife(found)
	}
	return found
}

// afterLife judges a holder whose lock is free. Under the same kernel the lock alone decides. After a reboot of the
// same machine nothing can have survived. Anything else may run where its lock is not seen.
func (h *holders) afterLife(r store.Holder) store.Life {
	me := h.identity
	switch {
	case r.BootID == "" || r.BootID == me.boot:
		return store.Dead
	case r.Machine != "" && r.Machine == me.machine:
		return store.Dead
	}
	return store.Unknown
}

// going tells that a holder whose lock is busy has ended all the same, or is about to: its process is gone or killed.
// It decides nothing, the lock does; it only says that waiting for the lock is worth it.
func (h *holders) going(r store.Holder) bool {
	me := h.identity
	return r.Alive == store.Alive && r.PID > 0 && r.BootID != "" && r.BootID == me.boot && r.Namespace == me.namespace &&
		ended(r.PID, r.Ticks)
}

// sweep removes files that are not locked and that no session names, a bounded number at a time. Losing a race here
// only means that a file stays until the next open.
func (h *holders) sweep(self string, named func(id string) bool) {
	d, err := os.Open(h.dir)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }()
	entries, _ := d.ReadDir(256)
	for _, e := range entries {
		if e.Name() == self || e.IsDir() || named(e.Name()) {
			continue
		}
		h.sweepOne(filepath.Join(h.dir, e.Name()))
	}
}

func (h *holders) sweepOne(path string) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if free, err := tryLock(f, sys.Exclusive); err != nil || !free {
		return
	}
	_ = os.Remove(path)
}

func linked(f *os.File) bool {
	n, err := sys.Names(f)
	return err == nil && n > 0
}
