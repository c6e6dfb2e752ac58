package homes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
)

// Goal: a directory to work in that is not there is refused when it is given, with its name and the remedy, and nothing is
// made or moved. A session whose own directory has gone since is opened and told to as before.
func TestDirectoriesThatAreNotThere(t *testing.T) {
	h, _ := doorHome(t)
	ctx := t.Context()
	dir := t.TempDir()
	file, gone := filepath.Join(dir, "file"), filepath.Join(dir, "gone")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(gone, 0o700)); err != nil {
		t.Fatal(err)
	}
	refused := func(what, named string, err error) {
		t.Helper()
		if !errors.Is(err, homes.ErrNoDir) || !strings.Contains(err.Error(), named) || !strings.Contains(err.Error(), "make it, or name another one") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, cwd := range map[string]string{"nothing": filepath.Join(dir, "none"), "a file": file, "below a file": filepath.Join(file, "x")} {
		_, err := h.Create(ctx, homes.Spec{ID: "bad", Cwd: cwd})
		refused("a session in "+what, cwd, err)
		if _, err := h.State(ctx, "bad"); err == nil {
			t.Errorf("in %s: the session is there", what)
		}
	}
	if _, err := h.Create(ctx, homes.Spec{ID: "s", Cwd: gone}); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none")
	open := func(opt homes.Options, then ...homes.Options) error {
		s, err := h.Hold(ctx, "s", homes.HoldOptions{Options: opt, Still: true})
		if err != nil {
			return err
		}
		for _, o := range then {
			err = errors.Join(err, s.Configure(ctx, o))
		}
		return errors.Join(err, s.Close())
	}
	for what, opt := range map[string]homes.Options{"runs in": {Cwd: none}, "belongs to": {Root: none}, "both": {Root: dir, Cwd: none}} {
		refused(what, none, open(opt))
		refused(what+", held", none, open(homes.Options{}, opt))
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []homes.Options{{}, {Root: gone, Cwd: gone}, {Root: dir, Cwd: dir}} {
		if err := open(opt); err != nil {
			t.Errorf("its directory is gone, opened with %q: %v", opt.Cwd, err)
		}
	}
	if st, err := h.State(ctx, "s"); err != nil || st.Cwd != dir || st.Config.Root != dir {
		t.Errorf("it works in %v, %v", st, err)
	}
}
