package homes_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
)

// records are the files that say what was applied to a's directory, by their names, the lock apart.
func (a *applied) records() (dir string, names []string) {
	a.t.Helper()
	all, err := filepath.Glob(filepath.Join(a.home, "workspaces", "*", "applies", "*"))
	if err != nil || len(all) == 0 {
		a.t.Fatal(all, err)
	}
	for _, path := range all {
		if name := filepath.Base(path); name != "lock" {
			names = append(names, name)
		}
	}
	return filepath.Dir(all[0]), names
}

// copyOf writes a record like r under another id, made so long before it.
func (a *applied) copyOf(r homes.Applied, id string, before time.Duration) {
	a.t.Helper()
	dir, _ := a.records()
	r.ID, r.Time = id, r.Time-before.Milliseconds()
	b, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, id+".json"), b, 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// Of a directory's applies the newest sixteen of the last thirty days can be taken back; the next apply forgets the others.
// An interrupted one is never forgotten: it is to be settled first.
func TestOldAppliesAreForgotten(t *testing.T) {
	a := newApplied(t)
	a.clock.now = a.clock.now.Truncate(time.Millisecond) // as records have it
	h := a.open("")
	defer a.close(h)
	first := a.apply(h)
	const day = 24 * time.Hour
	a.copyOf(first, "month", 30*day-time.Millisecond)
	a.copyOf(first, "older", 30*day)
	for i := range 12 {
		a.copyOf(first, "day"+string(rune('a'+i)), time.Duration(1+i)*day)
	}
	a.clock.pass(time.Millisecond)
	a.apply(h)
	_, names := a.records()
	if len(names) != 15 || slices.Contains(names, "older.json") || !slices.Contains(names, "month.json") {
		t.Fatalf("after the second apply: %q", names)
	}
	third := a.apply(h)
	if _, names = a.records(); len(names) != 16 || !slices.Contains(names, "month.json") {
		t.Fatalf("after the third apply: %q", names)
	}
	a.apply(h)
	if _, names = a.records(); len(names) != 16 || slices.Contains(names, "month.json") || !slices.Contains(names, "dayl.json") {
		t.Errorf("after the fourth apply: %q", names)
	}
	third.Stage = homes.ApplyBack
	a.copyOf(third, "open", 40*day)
	if r, err := h.OpenApply(t.Context(), a.dir); err != nil || r == nil || r.ID != "open" {
		t.Errorf("interrupted: %+v, %v", r, err)
	}
	b, err := h.Branch(t.Context(), "kid")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if _, err := h.ApplyToDir(t.Context(), &b, a.dir, false); !errors.Is(err, homes.ErrApplyOpen) || !strings.Contains(err.Error(), "the changes of session kid") {
		t.Errorf("beside an interrupted one: %v", err)
	}
}

// An apply that lies exactly a month back can still be taken back, one a millisecond older can't.
func TestAnApplyCanBeTakenBackForAMonth(t *testing.T) {
	a := newApplied(t)
	a.clock.now = a.clock.now.Truncate(time.Millisecond) // as records have it
	h := a.open("")
	defer a.close(h)
	a.apply(h)
	a.clock.pass(30 * 24 * time.Hour)
	last, err := h.LastApply(t.Context(), a.dir)
	if err != nil || last.Session != "kid" {
		t.Fatalf("%+v, %v", last, err)
	}
	a.clock.pass(time.Millisecond)
	if _, err := h.LastApply(t.Context(), a.dir); !errors.Is(err, homes.ErrNotApplied) {
		t.Errorf("a moment later: %v", err)
	}
}

// Only whole records under their own names are read: what else lies there is none (a half-written one, a directory, a
// link), and one that cannot be read, or says that it is another, is an error that names it, for whoever looks and for
// the sweep, which would else take away what an apply needs.
func TestRecordsOfAppliesThatCannotBeReadAreTold(t *testing.T) {
	a := newApplied(t)
	h := a.open("")
	defer a.close(h)
	r := a.apply(h)
	dir, names := a.records()
	whole, err := os.ReadFile(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("half.json.tmp", whole[:9])
	put("notes", []byte("mine"))
	err = errors.Join(os.Mkdir(filepath.Join(dir, "dir.json"), 0o700), os.Symlink(filepath.Join(dir, names[0]), filepath.Join(dir, "link.json")))
	if err != nil {
		t.Fatal(err)
	}
	if last, err := h.LastApply(t.Context(), a.dir); err != nil || last.ID != r.ID {
		t.Errorf("beside what is no record: %+v, %v", last, err)
	}
	for name, b := range map[string][]byte{"another.json": whole, "half.json": whole[:len(whole)-1], "empty.json": nil} {
		put(name, b)
		_, err := h.LastApply(t.Context(), a.dir)
		if err == nil || errors.Is(err, homes.ErrNotApplied) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := h.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: a sweep says %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Sweep(t.Context()); err != nil {
		t.Errorf("a sweep afterwards: %v", err)
	}
}
