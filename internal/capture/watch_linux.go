package capture

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher has the kernel tell in which directories something changed (inotify, see inotify(7)). Events of a local file
// system are in the queue before the call that caused them returns. What it does not tell of: stores through a memory
// map before they are written back, and other machines' changes of a shared file system.
//
// A watcher that cannot watch everything is off: then nothing can be said by hint. Nil is off.
//
// The watches of a user are few, and other programs want some: one watcher takes at most an eighth of them.
type watcher struct {
	mu    sync.Mutex
	most  int
	fd    int
	off   bool
	paths map[int32]string // by watch
	of    map[string]watch
	buf   [64 << 10]byte
}

type watch struct {
	id  int32
	ino uint64 // of the directory
}

// watched are the events that a capture could see.
const watched = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_CLOSE_WRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

func newWatcher() *watcher {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	return &watcher{fd: fd, most: share(), paths: map[int32]string{}, of: map[string]watch{}}
}

// share is how many watches one watcher takes: an eighth of what the user may have, see inotify(7).
func share() int {
	b, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, convErr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || convErr != nil {
		n = 8192 // the least that kernels begin with
	}
	return n / 8
}

// add watches an open directory, by its descriptor: whatever becomes of its name, it is this one.
func (w *watcher) add(dir int, path string, ino uint64) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, ok := w.of[path]; w.off || ok && was.ino == ino && w.paths[was.id] == path {
		return
	}
	if len(w.paths) >= w.most {
		w.off = true
		return
	}
	id, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(dir)+"/.", watched&^unix.IN_DONT_FOLLOW)
	if err != nil { // no more watches are to be had, or there is no /proc
		w.off = true
		return
	}
	wd := int32(id) //nolint:gosec // the kernel gives an int
	if was, ok := w.paths[wd]; ok && was != path {
		delete(w.of, was) // it was renamed
	}
	w.paths[wd], w.of[path] = path, watch{wd, ino}
}

// remove ends the watch of a directory that is gone.
func (w *watcher) remove(path string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	was, ok := w.of[path]
	if !ok {
		return
	}
	delete(w.of, path)
	if w.paths[was.id] == path {
		delete(w.paths, was.id)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(was.id)) //nolint:gosec // one that the kernel gave; it may be gone with its directory
	}
}

// drain gives the directories in which something changed since the last time. All: it is not known which.
func (w *watcher) drain() (paths []string, all bool) {
	if w == nil {
		return nil, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		n, err := unix.Read(w.fd, w.buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return paths, all || w.off
		case err != nil || n <= 0:
			w.off = true
			return nil, true
		}
		for b := w.buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(b)) //nolint:gosec // an int32
			mask := binary.NativeEndian.Uint32(b[4:])
			b = b[unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])):]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				all = true
			}
			path, ok := w.paths[wd]
			if mask&unix.IN_IGNORED != 0 { // the watch is gone
				delete(w.paths, wd)
				if ok && w.of[path].id == wd {
					delete(w.of, path)
				}
			}
			if ok && (len(paths) == 0 || paths[len(paths)-1] != path) {
				paths = append(paths, path)
			}
		}
	}
}

func (w *watcher) close() {
	if w != nil {
		_ = unix.Close(w.fd)
	}
}
