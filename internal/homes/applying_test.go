package homes_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// applied is a plain directory, and a session "kid" that began with a copy of it and has made "one" in f into "two".
type applied struct {
	t         *testing.T
	home, dir string
	clock     *moved
}

func newApplied(t *testing.T) *applied {
	t.Helper()
	a := &applied{t: t, home: filepath.Join(t.TempDir(), "home"), dir: t.TempDir(), clock: newMoved()}
	write(t, a.dir, "one")
	h := a.open("")
	own, err := h.CreateIsolated(t.Context(), a.spec())
	if err != nil {
		t.Fatal(err)
	}
	write(t, own.Dir, "two")
	large(t, own.Dir, "big", 2<<20)
	a.close(h)
	return a
}

func (a *applied) spec() engine.Spec {
	return engine.Spec{ID: "kid", Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: a.dir}
}

// open opens the home; at a step it dies, as [homes.Home] tells tests.
func (a *applied) open(at string) *homes.Home {
	a.t.Helper()
	cfg := homes.WithCrash(homes.Config{
		Files: &homes.Files{}, Now: a.clock.Now, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
	}, func(step string) {
		if step == at {
			panic(errDies)
		}
	})
	h, err := homes.Open(a.t.Context(), a.home, cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	return h
}

var errDies = errors.New("killed")

func (a *applied) close(h *homes.Home) {
	a.t.Helper()
	if err := h.Close(); err != nil {
		a.t.Fatal(err)
	}
}

// dies calls do in a process that dies at a step.
func (a *applied) dies(at string, do func(h *homes.Home)) {
	a.t.Helper()
	h := a.open(at)
	func() {
		defer func() {
			if cause := recover(); cause != errDies { //nolint:errorlint // it is that very one
				a.t.Fatalf("%s: %v", at, cause)
			}
		}()
		do(h)
		a.t.Errorf("%s was not reached", at)
	}()
	_ = h.Close()
}

func (a *applied) apply(h *homes.Home) homes.Applied { return a.applyOf(h, "kid") }

func (a *applied) applyOf(h *homes.Home, id string) homes.Applied {
	a.t.Helper()
	b, err := h.Branch(a.t.Context(), id)
	if err != nil {
		a.t.Fatal(err)
	}
	defer b.Release()
	r, err := h.ApplyToDir(a.t.Context(), &b, a.dir, false)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (a *applied) unapply(h *homes.Home) {
	a.t.Helper()
	last, err := h.LastApply(a.t.Context(), a.dir)
	if err == nil {
		_, err = h.Unapply(a.t.Context(), last)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// is fails if the directory is not as it was before the apply, or after it.
func (a *applied) is(what string, done bool) {
	a.t.Helper()
	want, names := "one", []string{"f"}
	if done {
		want, names = "two", []string{"big", "f"}
	}
	var got []string
	entries, err := os.ReadDir(a.dir)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || content(a.t, a.dir) != want || !slices.Equal(got, names) {
		a.t.Errorf("%s: %q with %v, want %q with %v (%v)", what, content(a.t, a.dir), got, want, names, err)
	}
}

// Who dies at any step of an apply to a plain directory leaves something that the next one finishes, or that was not
// begun. A sweep in between takes nothing away that this needs, also when the session is gone by then.
func TestAnApplyThatIsKilledIsFinishedOrWasNotBegun(t *testing.T) {
	for _, at := range []string{"apply planned", "apply prepared", "apply started", "apply finished"} {
		a := newApplied(t)
		a.dies(at, func(h *homes.Home) { a.apply(h) })
		h := a.open("")
		begun := at == "apply started" || at == "apply finished"
		if err := h.Delete(t.Context(), "kid"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o, err := h.OpenApply(t.Context(), a.dir); err != nil || o == nil || o.Session != "kid" {
			t.Fatalf("%s: %+v, %v", at, o, err)
		}
		r, err := h.SettleApply(t.Context(), a.dir, false)
		if err != nil || r == nil || (r.Stage == homes.ApplyDone) != begun {
			t.Fatalf("%s: %+v, %v", at, r, err)
		}
		a.is(at, begun)
		if r, err := h.SettleApply(t.Context(), a.dir, false); r != nil || err != nil {
			t.Errorf("%s: settled twice: %+v, %v", at, r, err)
		}
		if begun {
			a.unapply(h)
			a.is(at+", taken back", false)
		}
		a.close(h)
	}
}

// Instead of being finished, an apply that was killed is taken back if that is wanted; killed in that, too, it is taken
// back by the next.
func TestAnApplyThatIsKilledIsTakenBackIfThatIsWanted(t *testing.T) {
	for _, at := range []string{"apply started", "apply finished"} {
		a := newApplied(t)
		a.dies(at, func(h *homes.Home) { a.apply(h) })
		h := a.open("")
		r, err := h.SettleApply(t.Context(), a.dir, true)
		if err != nil || r == nil || r.Stage == homes.ApplyDone {
			t.Errorf("%s: %+v, %v", at, r, err)
		}
		a.is(at, false)
		if _, err := h.LastApply(t.Context(), a.dir); !errors.Is(err, homes.ErrNotApplied) {
			t.Errorf("%s: %v", at, err)
		}
		if r := a.apply(h); r.Modified != 1 || r.Added != 1 {
			t.Errorf("%s, again: %+v", at, r)
		}
		a.close(h)
	}
}

// Who dies while an apply is taken back leaves something that the next one goes on with, to the same end.
func TestATakingBackThatIsKilledIsFinished(t *testing.T) {
	for _, at := range []string{"apply planned", "apply started", "apply finished", "apply forgotten"} {
		a := newApplied(t)
		h := a.open("")
		a.apply(h)
		a.is("applied", true)
		a.close(h)
		a.dies(at, a.unapply)
		h = a.open("")
		if _, err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := h.SettleApply(t.Context(), a.dir, true); err != nil || r == nil || r.Undo == "" {
			t.Errorf("%s: %+v, %v", at, r, err)
		}
		a.is(at, at == "apply planned")
		if _, err := h.LastApply(t.Context(), a.dir); errors.Is(err, homes.ErrNotApplied) == (at == "apply planned") {
			t.Errorf("%s: %v", at, err)
		}
		a.close(h)
	}
}

// What an apply needs to be taken back is kept for a month, whatever becomes of its session, and then no longer.
func TestWhatAnApplyNeedsIsKeptForAMonth(t *testing.T) {
	a := newApplied(t)
	large(t, a.dir, "mine", 4<<20)
	h := a.open("")
	defer a.close(h)
	a.apply(h)
	if err := h.Delete(t.Context(), "kid"); err != nil {
		t.Fatal(err)
	}
	a.clock.pass(29 * 24 * time.Hour)
	if _, err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, err := h.LastApply(t.Context(), a.dir)
	if err != nil {
		t.Fatalf("after 29 days: %v", err)
	}
	plan, err := h.PlanUnapply(t.Context(), last)
	if err != nil || plan.Nothing() {
		t.Fatalf("after 29 days: %v", err)
	}
	plan.Release()
	a.clock.pass(2 * 24 * time.Hour)
	got, err := h.Sweep(t.Context())
	if err != nil || got.Freed < 1<<20 {
		t.Errorf("after a month a sweep freed %d: %v", got.Freed, err)
	}
	if _, err := h.LastApply(t.Context(), a.dir); !errors.Is(err, homes.ErrNotApplied) {
		t.Errorf("after a month: %v", err)
	}
}
