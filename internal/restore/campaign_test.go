package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/perdure/perdure/store"
)

// stamp is a time in a picture.
var stamp = regexp.MustCompile(`1[5-9][0-9]{17}`)

var errStop = errors.New("stop here")

// killAt gives a fault that kills at the nth step, counted from 0, and says how many were seen.
func killAt(n int) (fault func(step, at string) error, seen *int) {
	seen = new(int)
	return func(string, string) error {
		*seen++
		if *seen-1 == n {
			return errStop
		}
		return nil
	}, seen
}

// movers are the abilities of file systems.
var movers = map[string]mover{
	"swaps": {}, "no swap": {noExchange: true}, "no refusal": {noExchange: true, noNew: true}, "no links": {noExchange: true, noNew: true, noLink: true},
}

// scene is a directory after second, with somebody's edits since, and the tree of first as the target.
func scene(t testing.TB) (w *world, target store.Digest) {
	w = fastWorld(t)
	first(w)
	w.write("theirs", "v1").write("lost", "v1")
	target = w.known()
	second(w)
	w.write("theirs", "v2").write("lost", "v2")
	w.known()
	w.write("theirs", "edited").remove("lost").write("own", "new")
	return w, target
}

// start begins the restore of a scene.
func (w *world) start(p *Plan, cfg Config) *Journal {
	w.t.Helper()
	j, err := Begin(w.dir, w.root, p, cfg)
	w.must(err)
	return j
}

// again opens the one journal that is pending, as the next process does.
func (w *world) again(cfg Config) *Journal {
	w.t.Helper()
	ids, err := Pending(w.dir)
	w.must(err)
	if len(ids) != 1 {
		w.t.Fatalf("pending: %q", ids)
	}
	j, err := Open(w.dir, ids[0], cfg)
	w.must(err)
	return j
}

// killed runs a journal until a fault kills it.
func (w *world) killed(j *Journal, run func(context.Context) (Report, error)) {
	w.t.Helper()
	if _, err := run(context.Background()); !errors.Is(err, errStop) {
		w.t.Fatalf("was not killed: %v", err)
	}
	w.must(j.Close())
}

// Killed at every step of the way, the next run ends exactly where an uninterrupted one does.
func TestKilledAnywhereTheNextRunFinishes(t *testing.T) {
	for name, m := range movers {
		t.Run(name, func(t *testing.T) {
			w, target := scene(t)
			cfg := w.config(m)
			fault, steps := killAt(-1)
			counted := cfg
			counted.Fault = fault
			j := w.start(w.plan(target), counted)
			whole, err := j.Run(context.Background())
			w.must(err)
			want := w.picture()
			if *steps < 100 {
				t.Fatalf("only %d steps", *steps)
			}
			for n := 0; n < *steps; n += stride(name) {
				w, target := scene(t)
				cfg := w.config(m)
				kill := cfg
				kill.Fault, _ = killAt(n)
				w.killed(first2(w.start(w.plan(target), kill)))
				j := w.again(cfg)
				r, err := j.Run(context.Background())
				w.must(err)
				same(t, fmt.Sprintf("killed at %d of %d", n, *steps), timeless(w.picture()), timeless(want))
				if keptPaths(r.Kept) != keptPaths(whole.Kept) || r.Added != whole.Added || r.Modified != whole.Modified || r.Deleted != whole.Deleted {
					t.Errorf("killed at %d: %+v\nwant %+v", n, r, whole)
				}
				w.must(j.Forget())
				w.clean()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// stride leaves some kills of the rarer file systems out.
func stride(name string) int {
	if name == "swaps" {
		return 1
	}
	return 5
}

func first2(j *Journal) (*Journal, func(context.Context) (Report, error)) { return j, j.Run }

// timeless leaves the times of what no restore touches out: each scene is made anew.
func timeless(p map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range p {
		if k != "." {
			out[k] = stamp.ReplaceAllString(v, "")
		}
	}
	return out
}

// Killed at every step, an undo brings back exactly what was before, times included.
func TestKilledAnywhereUndoBringsBackWhatWas(t *testing.T) {
	for name, m := range movers {
		t.Run(name, func(t *testing.T) {
			for n, last := 0, false; !last; n += stride(name) {
				w, target := scene(t)
				cfg := w.config(m)
				p, before := w.plan(target), w.picture()
				kill := cfg
				kill.Fault, _ = killAt(n)
				j := w.start(p, kill)
				_, err := j.Run(context.Background())
				if last = err == nil; !last && !errors.Is(err, errStop) {
					t.Fatal(err)
				}
				w.must(j.Close())
				j = w.again(cfg)
				r, err := j.Undo(context.Background())
				w.must(err)
				same(t, fmt.Sprintf("killed at %d", n), w.picture(), before)
				if !r.Undone || len(r.Kept) > 0 {
					t.Errorf("killed at %d: %+v", n, r)
				}
				w.must(j.Forget())
				w.clean()
				if t.Failed() {
					return
				}
			}
		})
	}
}

// Killed on the way there and again at every step of the way back, the next run goes on going back.
func TestKilledWhileUndoingTheNextRunGoesOn(t *testing.T) {
	w, target := scene(t)
	cfg := w.config(mover{})
	var steps *int
	cfg.Fault, steps = killAt(-1)
	_, err := w.start(w.plan(target), cfg).Run(context.Background())
	w.must(err)
	for _, half := range []int{*steps / 3, *steps / 2, *steps - 2} {
		for n, last := 0, false; !last; n += 2 {
			w, target := scene(t)
			p, before := w.plan(target), w.picture()
			kill := w.config(mover{})
			kill.Fault, _ = killAt(half)
			w.killed(first2(w.start(p, kill)))
			kill.Fault, _ = killAt(n)
			j := w.again(kill)
			_, err := j.Undo(context.Background())
			if last = err == nil; !last && !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			w.must(j.Close())
			j = w.again(w.config(mover{}))
			if !j.Undoing() {
				t.Fatal("the direction is forgotten")
			}
			_, err = j.Run(context.Background())
			w.must(err)
			same(t, fmt.Sprintf("killed at %d and %d", half, n), w.picture(), before)
			w.must(j.Forget())
			w.clean()
			if t.Failed() {
				return
			}
		}
	}
}

// A person who stops a restore leaves it pending; it goes on from there, or back.
func TestAStoppedRestoreGoesOn(t *testing.T) {
	want, target := scene(t)
	want.restore(target)
	for n := 0; n < 150; n += 30 {
		w, target := scene(t)
		ctx, stop := context.WithCancel(t.Context())
		cfg, seen := w.config(mover{}), 0
		cfg.Fault = func(string, string) error {
			if seen++; seen > n {
				stop()
			}
			return nil
		}
		j := w.start(w.plan(target), cfg)
		if _, err := j.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: %v", n, err)
		}
		if _, err := j.Run(t.Context()); err != nil {
			t.Fatalf("stopped at %d: %v", n, err)
		}
		same(t, fmt.Sprintf("stopped at %d", n), timeless(w.picture()), timeless(want.picture()))
		w.must(j.Forget())
		w.clean()
	}
}

// A restore that was done is undone as exactly, as long as its journal is there.
func TestAFinishedRestoreIsUndone(t *testing.T) {
	w, target := scene(t)
	p, before := w.plan(target), w.picture()
	j := w.start(p, w.config(mover{}))
	_, err := j.Run(context.Background())
	w.must(err)
	w.must(j.Close())
	j = w.again(w.config(mover{}))
	if _, done := j.Done(); !done {
		t.Error("it is not known to be done")
	}
	if _, err := j.Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", w.picture(), before)
	w.must(j.Forget())
	w.clean()
}

// Killed between the restore and what the caller makes of it, the report is still there, and nothing is done twice.
func TestTheReportOutlivesItsProcess(t *testing.T) {
	w, target := scene(t)
	j := w.start(w.plan(target), w.config(mover{}))
	want, err := j.Run(context.Background())
	w.must(err)
	w.must(j.Close())
	w.write("a.txt", "edited after it")
	j = w.again(w.config(mover{}))
	got, err := j.Run(context.Background())
	w.must(err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, it was %+v", got, want)
	}
	w.has("a.txt", "edited after it")
	w.must(j.Forget())
	if _, err := os.Stat(w.dir); err != nil {
		t.Error(err)
	}
	w.clean()
}
