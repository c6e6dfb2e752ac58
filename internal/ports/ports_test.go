package ports

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func take(t *testing.T, tab Table, id string, idle bool) Range {
	t.Helper()
	r, err := tab.Take(id, idle)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Goal: a session keeps its range, whoever asks and how often; no other gets it; it is the same after its file is lost,
// and free for others once it is dropped.
func TestTake(t *testing.T) {
	tab := Table{Dir: filepath.Join(t.TempDir(), "ports"), First: 20000, Ranges: 7, Free: func(int) bool { return true }}
	got := map[Range]string{}
	for i := range 7 {
		id := fmt.Sprintf("s%d", i)
		r := take(t, tab, id, true)
		if other := got[r]; other != "" || r.Last-r.First != Size-1 || r.First < 20000 || r.Last > 20069 {
			t.Errorf("%s has %v, which %q has too", id, r, other)
		}
		got[r] = id
		if again := take(t, tab, id, false); again != r {
			t.Errorf("%s has %v and then %v", id, r, again)
		}
	}
	if _, err := tab.Take("one-too-many", true); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	for r, id := range got {
		if err := tab.Drop(id); err != nil {
			t.Fatal(err)
		}
		if now := take(t, tab, id, true); now != r {
			t.Errorf("%s had %v and has %v", id, r, now)
		}
	}
	if err := tab.Drop("s0"); err != nil {
		t.Fatal(err)
	}
	take(t, tab, "one-too-many", true)
	for _, id := range []string{"", ".lock", "../x", "a/b"} {
		if _, err := tab.Take(id, true); err == nil {
			t.Errorf("%q is taken for a session", id)
		}
	}
	if err := tab.Drop("nobody"); err != nil {
		t.Error(err)
	}
}

// Goal: ports that somebody else uses are left alone; those that the session itself may be using are not.
func TestTakenPorts(t *testing.T) {
	busy := map[int]bool{}
	tab := Table{Dir: t.TempDir(), First: 20000, Ranges: 50, Free: func(p int) bool { return !busy[p] }}
	first := take(t, tab, "s", true)
	busy[first.Last] = true
	if r := take(t, tab, "s", false); r != first {
		t.Errorf("its own server moved it to %v", r)
	}
	second := take(t, tab, "s", true)
	if second == first {
		t.Error("a stranger's server did not")
	}
	busy = map[int]bool{}
	if r := take(t, tab, "s", true); r != second {
		t.Errorf("then it moves to %v", r)
	}
	if err := os.WriteFile(filepath.Join(tab.Dir, "s"), []byte("22\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := take(t, tab, "s", true); r != first {
		t.Errorf("a damaged file gives %v", r)
	}
}

// Goal: when all ranges are taken, the one goes that was used longest ago by a session that lives no more.
func TestEvict(t *testing.T) {
	live := map[string]bool{"s0": true}
	busy := map[int]bool{}
	tab := Table{Dir: t.TempDir(), First: 20000, Ranges: 3, Now: time.Now, Live: func(id string) bool { return live[id] }, Free: func(p int) bool { return !busy[p] }}
	got := map[string]Range{}
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		got[id] = take(t, tab, id, true)
		old := time.Now().Add(time.Duration(i-50) * time.Hour)
		if err := os.Chtimes(filepath.Join(tab.Dir, id), old, old); err != nil {
			t.Fatal(err)
		}
	}
	take(t, tab, "s1", false) // is used again
	if r := take(t, tab, "new", true); r != got["s2"] {
		t.Errorf("%v was given away, not that of s2 in %v", r, got)
	}
	live["new"], busy[got["s1"].First] = true, true
	if r, err := tab.Take("newer", true); !errors.Is(err, ErrNone) {
		t.Errorf("%v was given away, %v", r, err)
	}
}

// Goal: many processes at once never get the same range. Each goroutine is as good as a process here: what keeps them
// apart is a lock on a descriptor of its own.
func TestTakeAtOnce(t *testing.T) {
	tab := Table{Dir: t.TempDir(), First: 20000, Ranges: 40, Free: func(int) bool { return true }}
	var mu sync.Mutex
	got := map[Range]string{}
	var wg sync.WaitGroup
	for i := range 60 {
		id := fmt.Sprintf("s%d", i%30)
		wg.Go(func() {
			r, err := tab.Take(id, true)
			mu.Lock()
			defer mu.Unlock()
			if other := got[r]; err != nil || other != "" && other != id {
				t.Errorf("%s and %s have %v, %v", id, other, r, err)
			}
			got[r] = id
		})
	}
	wg.Wait()
	if len(got) != 30 {
		t.Errorf("%d ranges for 30 sessions", len(got))
	}
}

// Goal: a listener of any kind makes a port used, and nothing is left behind by looking.
func TestFree(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Logf("%s: %v", addr, err) // a machine without IPv6
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		if free(port) {
			t.Errorf("%s: port %d counts as free", addr, port)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if !free(port) {
				t.Errorf("%s: port %d counts as used after all", addr, port)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct{ low, high, want int }{
		{32768, 60999, 20000}, {49152, 65535, 20000}, {1024, 65535, 20000}, {15000, 25000, 33000}, {25000, 65000, 10000},
	} {
		if got := window(c.low, c.high); got != c.want {
			t.Errorf("%d-%d: %d, want %d", c.low, c.high, got, c.want)
		}
	}
}
