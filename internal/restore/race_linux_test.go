package restore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// swapper puts links that lead out in the place of directories, and takes them away again, as fast as it can, until it is
// stopped. It says how often.
func swapper(pairs [][2]string) (stop func() int) {
	done, n := make(chan struct{}), 0
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, p := range pairs {
				if unix.Renameat2(unix.AT_FDCWD, p[0], unix.AT_FDCWD, p[1], unix.RENAME_EXCHANGE) == nil {
					n++
				}
			}
		}
	})
	return func() int {
		close(done)
		running.Wait()
		return n
	}
}

// theirs is a directory outside, with files of the names that are restored, and without directories of such names: the
// swapper itself would move them. Nobody may write to it, or take from it.
func theirs(w *world) (dir string, untouched func()) {
	dir = w.t.TempDir()
	for i := range 20 {
		w.must(os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), []byte("canary"), 0o600))
	}
	before := picture(w.t, dir)
	return dir, func() {
		w.t.Helper()
		same(w.t, "outside", picture(w.t, dir), before)
	}
}

// leaked fails for a file below a directory that has the words from outside.
func leaked(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "canary") {
			t.Errorf("%s has the words from outside: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func raceTime() time.Duration {
	if os.Getenv("PERDURE_SOAK") != "" {
		return 30 * time.Second
	}
	return 2 * time.Second
}

// Goal: while another program swaps directories with links that lead out, as fast as it can, a restore writes and reads
// nothing outside. How it ends is not at issue: its plan was of other files than it finds.
func TestSwapsWhileRestoringLeadNowhere(t *testing.T) {
	w := newWorld(t)
	outside, untouched := theirs(w)
	fill := func(text string) {
		for _, d := range []string{"sub", "sub/in", "other"} {
			for i := range 20 {
				w.write(fmt.Sprintf("%s/f%d", d, i), text)
			}
		}
	}
	fill("one")
	target := w.known()
	fill("two")
	w.write("sub/more", "two").remove("other/f3")
	changed := w.known()
	w.link(outside, "trap1").link(outside, "sub/trap2").link(outside, "trap3")
	pairs := [][2]string{{w.at("sub"), w.at("trap1")}, {w.at("sub/in"), w.at("sub/trap2")}, {w.at("other"), w.at("trap3")}}
	until, rounds, whole := time.Now().Add(raceTime()), 0, 0
	for time.Now().Before(until) {
		now, to := changed, target
		if rounds%2 == 1 {
			now, to = target, changed
		}
		p, err := Make(context.Background(), Input{Root: w.root, Trees: w, Base: now, Now: now, Target: to, Force: rounds%4 > 1})
		w.must(err)
		j, err := Begin(w.dir, w.root, p, w.config(mover{noExchange: rounds%3 == 0}))
		w.must(err)
		stop := swapper(pairs)
		_, err = j.Run(context.Background())
		if stop() == 0 {
			t.Fatal("nothing was swapped")
		}
		if err == nil {
			whole++
			w.must(j.Forget())
		} else {
			w.must(os.RemoveAll(w.dir))
		}
		rounds++
		untouched()
	}
	t.Logf("%d restores, %d of them to their end", rounds, whole)
	leaked(t, w.root)
	if whole == 0 {
		t.Error("no restore came to an end")
	}
}

// Goal: the same of a directory that is made from a tree, in whose place, and in whose unfinished one, links appear.
func TestSwapsWhileMakingLeadNowhere(t *testing.T) {
	w := newWorld(t)
	outside, untouched := theirs(w)
	for _, d := range []string{"sub", "sub/in", "sub/in/deep", "other"} {
		for i := range 20 {
			w.write(fmt.Sprintf("%s/f%d", d, i), "one")
		}
	}
	target := w.known()
	up := t.TempDir()
	to, site := filepath.Join(up, "to"), filepath.Join(up, building+"to")
	for i := range 3 {
		w.must(os.Symlink(outside, filepath.Join(up, fmt.Sprint("trap", i))))
	}
	pairs := [][2]string{
		{site, filepath.Join(up, "trap0")}, {filepath.Join(site, "sub"), filepath.Join(up, "trap1")}, {filepath.Join(site, "sub/in"), filepath.Join(up, "trap2")},
	}
	until, rounds, whole := time.Now().Add(raceTime()), 0, 0
	for time.Now().Before(until) {
		stop := swapper(pairs)
		made, err := Materialise(context.Background(), to, w, target, w.config(mover{}))
		stop()
		if err == nil {
			whole++
			if made.Files == 0 {
				t.Error("nothing is made, and it is no error")
			}
		}
		rounds++
		untouched()
		leaked(t, up)
		w.must(os.RemoveAll(to))
		w.must(os.RemoveAll(site))
		for i := range 3 { // what was swapped in is anywhere now
			trap := filepath.Join(up, fmt.Sprint("trap", i))
			w.must(os.RemoveAll(trap))
			w.must(os.Symlink(outside, trap))
		}
	}
	t.Logf("%d directories, %d of them without an error", rounds, whole)
}
