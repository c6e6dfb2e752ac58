package restore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// spoilt hands out contents with something wrong.
type spoilt struct {
	*world
	bad  store.Digest
	with func(b []byte) (io.ReadCloser, int64, error)
}

func (s spoilt) Open(d store.Digest) (io.ReadCloser, int64, error) {
	if d == s.bad {
		return s.with(s.blobs[d])
	}
	return s.world.Open(d)
}

// What is missing or damaged in the store is found before the first change: the error says of which file, nothing was
// touched, and the restore can be undone or run again when the content is back.
//
// A peer's restore failed in the middle and was reported as done; another one reported success and restored nothing.
func TestAMissingContentIsFoundBeforeTheFirstChange(t *testing.T) {
	give := func(b []byte, size int64) (io.ReadCloser, int64, error) {
		return io.NopCloser(bytes.NewReader(b)), size, nil
	}
	for name, with := range map[string]func(b []byte) (io.ReadCloser, int64, error){
		"missing": func([]byte) (io.ReadCloser, int64, error) { return nil, 0, errors.New("no such blob") },
		"other":   func(b []byte) (io.ReadCloser, int64, error) { return give(bytes.ToUpper(b), int64(len(b))) },
		"short":   func(b []byte) (io.ReadCloser, int64, error) { return give(b[:1], int64(len(b))) },
		"long": func(b []byte) (io.ReadCloser, int64, error) {
			return give(append(b[:len(b):len(b)], 'x'), int64(len(b)))
		},
		"endless": func(b []byte) (io.ReadCloser, int64, error) { return io.NopCloser(endless{}), int64(len(b)), nil },
		"size":    func(b []byte) (io.ReadCloser, int64, error) { return give(b, 1<<40) },
		"damaged": func(b []byte) (io.ReadCloser, int64, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(b), broken{})), int64(len(b)), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, target := scene(t)
			before := w.picture()
			cfg := w.config(mover{})
			cfg.Content = spoilt{w, store.Sum([]byte(strings.Repeat("deep ", 5000))), with}
			j := w.start(w.plan(target), cfg)
			_, err := j.Run(context.Background())
			if !errors.Is(err, ErrContent) || !strings.Contains(err.Error(), "sub/deep/b.txt") {
				t.Fatalf("%v", err)
			}
			if _, done := j.Done(); done {
				t.Error("it is said to be done")
			}
			same(t, "after it", w.picture(), before)
			if names, _ := os.ReadDir(w.at(stagingPrefix + j.ID)); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
			if err := j.Forget(); !errors.Is(err, ErrPending) {
				t.Errorf("forgotten: %v", err)
			}
			w.must(j.Close())
			j = w.again(w.config(mover{})) // now it is there
			_, err = j.Run(context.Background())
			w.must(err)
			w.has("sub/deep/b.txt", strings.Repeat("deep ", 5000))
			w.must(j.Forget())
			w.clean()
		})
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("damaged") }

// A disk without room is told before the first step, with the figures.
func TestAFullDiskIsToldFirst(t *testing.T) {
	w, target := scene(t)
	before := w.picture()
	p := w.plan(target)
	cfg := w.config(mover{})
	cfg.Spare, cfg.Free = 1000, func(string) int64 { return p.Need + 999 }
	j := w.start(p, cfg)
	_, err := j.Run(context.Background())
	if !errors.Is(err, ErrNoSpace) {
		t.Fatalf("%v", err)
	}
	same(t, "after it", w.picture(), before)
	j.cfg.Free = func(string) int64 { return p.Need + 1000 }
	if _, err = j.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.must(j.Forget())
	w.clean()
}

// A disk that fills up in the middle stops the restore at any sync: the journal stays, what was staged gives its room
// back as long as nothing was changed, and the next run finishes.
func TestADiskThatFillsUpStopsItAndTheNextRunFinishes(t *testing.T) {
	want, target := scene(t)
	want.restore(target)
	for n := 0; ; n++ {
		w, target := scene(t)
		cfg, seen, failed := w.config(mover{}), 0, ""
		var one sync.Mutex
		cfg.Sync = func(what string, do func() error) error {
			one.Lock()
			defer one.Unlock()
			if seen++; seen-1 == n {
				failed = what
				return unix.ENOSPC
			}
			return nil
		}
		before := w.picture()
		p := w.plan(target)
		j, err := Begin(w.dir, w.root, p, cfg)
		if failed == "journal" || failed == "journals" {
			if err == nil || len(must(Pending(w.dir))) > 0 {
				t.Fatalf("begun all the same: %v", err)
			}
			continue
		}
		w.must(err)
		_, err = j.Run(context.Background())
		if failed == "" {
			w.must(err)
			if n < 20 {
				t.Errorf("only %d syncs", n)
			}
			return
		}
		if !errors.Is(err, ErrNoSpace) {
			t.Fatalf("%s: %v", failed, err)
		}
		if failed == "content" {
			same(t, failed, w.picture(), before)
			if _, err := os.Lstat(w.at(stagingPrefix + j.ID)); err == nil {
				t.Fatal("what was staged is still there")
			}
		}
		w.must(j.Close())
		j = w.again(w.config(mover{}))
		_, err = j.Run(context.Background())
		w.must(err)
		same(t, failed, timeless(w.picture()), timeless(want.picture()))
		w.must(j.Forget())
		w.clean()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Everything is synced before it is relied on: the plan before the first step, each content before anything is replaced,
// every directory and the root before the journal says done.
func TestWhatIsReliedOnIsDurable(t *testing.T) {
	w, target := scene(t)
	cfg, log := w.config(mover{}), []string{}
	var one sync.Mutex
	cfg.Sync = func(what string, do func() error) error {
		one.Lock()
		defer one.Unlock()
		log = append(log, what)
		return do()
	}
	cfg.Fault = func(step, _ string) error {
		log = append(log, "<"+step+">")
		return nil
	}
	p := w.plan(target)
	contents := 0
	for i := range p.ops {
		if p.ops[i].stages() && p.ops[i].To.Kind == 1 {
			contents++
		}
	}
	j := w.start(p, cfg)
	_, err := j.Run(context.Background())
	w.must(err)
	all := strings.Join(log, " ")
	at := func(what string) int { return strings.Index(all, what) }
	last := func(what string) int { return strings.LastIndex(all, what) }
	order := []int{at("journal"), at("journals"), at("<open>"), last("content"), at("<remove>"), last("<mode-done>"), at("directory"), last("directory"), at("<done>"), last("note")}
	if r := at("root"); r < last("<mode-done>") || r > at("<done>") {
		t.Errorf("the root is synced at %d", r)
	}
	for i, n := range order {
		if n < 0 || i > 0 && n < order[i-1] {
			t.Errorf("at %d of the order: %v in %s", i, order, all)
		}
	}
	if n := strings.Count(all, "content"); n != contents {
		t.Errorf("%d contents were synced, want %d", n, contents)
	}
}

// A little is restored on a disk that is nearly full: what stays free is in proportion to what is written.
func TestALittleNeedsLittleRoom(t *testing.T) {
	w := newWorld(t)
	w.write("a", "first")
	target := w.known()
	w.write("a", "second")
	w.known()
	p := w.plan(target)
	cfg := w.config(mover{})
	cfg.Spare, cfg.Free = 64<<20, func(string) int64 { return 2 << 20 }
	j := w.start(p, cfg)
	if _, err := j.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.has("a", "first")
	w.must(j.Forget())
	for need, want := range map[int64]int64{100: 100 + 1<<20, 5 << 20: 10 << 20, 100 << 20: 164 << 20} {
		free := want - 1
		cfg.Free = func(string) int64 { return free }
		if err := cfg.enough("", need); !errors.Is(err, ErrNoSpace) {
			t.Errorf("%d bytes with %d free: %v", need, free, err)
		}
		if free++; cfg.enough("", need) != nil {
			t.Errorf("%d bytes with %d free are refused", need, free)
		}
	}
}
