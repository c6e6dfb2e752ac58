package bench

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// bareWalk lists and stats everything below root with some workers and does nothing with it: the floor of every walk.
func bareWalk(t *testing.T, root string, workers int) time.Duration {
	t.Helper()
	start := time.Now()
	w := walker{queue: []string{root}}
	w.wake.L = &w.mu
	var wg sync.WaitGroup
	for range workers {
		wg.Go(w.work)
	}
	wg.Wait()
	if w.err != nil {
		t.Fatal(w.err)
	}
	return time.Since(start)
}

type walker struct {
	mu      sync.Mutex
	wake    sync.Cond
	queue   []string
	working int
	err     error
}

func (w *walker) work() {
	buf := make([]byte, 64<<10)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 && w.working > 0 {
			w.wake.Wait()
		}
		if len(w.queue) == 0 {
			return
		}
		dir := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.working++
		w.mu.Unlock()
		below, err := look(dir, buf)
		w.mu.Lock()
		w.working--
		w.queue = append(w.queue, below...)
		if err != nil {
			w.err = err
		}
		w.wake.Broadcast()
	}
}

func look(dir string, buf []byte) (below []string, err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
	for _, name := range names {
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			below = append(below, filepath.Join(dir, name))
		}
	}
	return below, nil
}
