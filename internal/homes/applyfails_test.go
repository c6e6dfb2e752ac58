package homes_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/modelapi"
)

// failing applies the changes with something done at a step, and gives the error.
func (a *applied) failing(ctx context.Context, at string, do func()) (homes.Applied, error) {
	a.t.Helper()
	h, err := homes.Open(a.t.Context(), a.home, homes.WithCrash(homes.Config{
		Files: &homes.Files{}, Now: a.clock.Now, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
	}, func(step string) {
		if step == at {
			do()
		}
	}))
	if err != nil {
		a.t.Fatal(err)
	}
	defer a.close(h)
	b, err := h.Branch(a.t.Context(), "kid")
	if err != nil {
		a.t.Fatal(err)
	}
	defer b.Release()
	return h.ApplyToDir(ctx, &b, a.dir, false)
}

// An apply of which something cannot be read any more once it has begun is taken back by itself, and says so; nothing is
// open then, and there is nothing to take back.
func TestAnApplyThatCannotBeFinishedIsTakenBack(t *testing.T) {
	a := newApplied(t)
	_, err := a.failing(t.Context(), "apply started", func() {
		err := filepath.WalkDir(filepath.Join(a.home, "blobs"), func(path string, d fs.DirEntry, err error) error {
			if info, infoErr := d.Info(); err == nil && infoErr == nil && info.Size() > 2<<20 {
				err = os.WriteFile(path, make([]byte, info.Size()), 0o600) // the pack that has the large file
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "the files are as they were") {
		t.Errorf("%v", err)
	}
	a.is("taken back by itself", false)
	h := a.open("")
	defer a.close(h)
	if o, err := h.OpenApply(t.Context(), a.dir); o != nil || err != nil {
		t.Errorf("it is open: %+v, %v", o, err)
	}
	if _, err := h.LastApply(t.Context(), a.dir); !errors.Is(err, homes.ErrNotApplied) {
		t.Errorf("it can be taken back: %v", err)
	}
}

// Who gives an apply up once it has begun leaves it open; the next one finishes it.
func TestAnApplyThatIsGivenUpStaysOpen(t *testing.T) {
	a := newApplied(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := a.failing(ctx, "apply started", cancel); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	h := a.open("")
	defer a.close(h)
	if o, err := h.OpenApply(t.Context(), a.dir); err != nil || o == nil || o.Stage != homes.ApplyStarted || o.Undo != "" {
		t.Fatalf("%+v, %v", o, err)
	}
	if r, err := h.SettleApply(t.Context(), a.dir, false); err != nil || r == nil || r.Stage != homes.ApplyDone {
		t.Fatalf("%+v, %v", r, err)
	}
	a.is("finished by the next", true)
}

// A directory that is no more the one that was looked at is left alone, and so is the one that it was; what can neither be
// finished nor taken back is told once, and then bars nothing.
func TestAnApplyToADirectoryThatWasReplacedIsToldOnce(t *testing.T) {
	a := newApplied(t)
	away := a.dir + ".away"
	_, err := a.failing(t.Context(), "apply started", func() {
		if err := errors.Join(os.Rename(a.dir, away), os.Mkdir(a.dir, 0o700)); err != nil {
			t.Error(err)
		}
		write(t, a.dir, "another")
	})
	if err == nil || !strings.Contains(err.Error(), "could not be taken back") {
		t.Errorf("%v", err)
	}
	h := a.open("")
	defer a.close(h)
	if r, err := h.SettleApply(t.Context(), a.dir, false); r == nil || err == nil || !strings.Contains(err.Error(), "can be neither finished nor taken back") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := h.SettleApply(t.Context(), a.dir, false); r != nil || err != nil {
		t.Errorf("told twice: %+v, %v", r, err)
	}
	if content(t, a.dir) != "another" || content(t, away) != "one" {
		t.Errorf("the directories hold %q and %q", content(t, a.dir), content(t, away))
	}
}

// What is taken back is what was applied last, as the log of the directory has it: no other, and none of elsewhere.
func TestOnlyTheLastApplyIsTakenBack(t *testing.T) {
	a := newApplied(t)
	h := a.open("")
	defer a.close(h)
	if _, err := h.Unapply(t.Context(), homes.Applied{ID: "x", Dir: a.dir}); !errors.Is(err, homes.ErrNotApplied) {
		t.Errorf("nothing was applied: %v", err)
	}
	first := a.apply(h)
	second := a.apply(h)
	if _, err := h.Unapply(t.Context(), first); !errors.Is(err, homes.ErrNotApplied) {
		t.Errorf("the first of two: %v", err)
	}
	for _, r := range []homes.Applied{second, first} {
		if _, err := h.Unapply(t.Context(), r); err != nil {
			t.Errorf("the newest: %v", err)
		}
	}
	a.is("both are taken back", false)
	off := homes.Config{Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil }}
	plain, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), off)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close(plain)
	if _, err := plain.LastApply(t.Context(), a.dir); err == nil || !strings.Contains(err.Error(), "files.capture") {
		t.Errorf("where nothing is captured: %v", err)
	}
}
