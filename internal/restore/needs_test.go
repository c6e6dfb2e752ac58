package restore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// joining is a world in which one file is brought together and another one is just restored, with what came of the one.
func joining(t *testing.T) (w *world, target, joined store.Digest, join func(*Input)) {
	t.Helper()
	w = newWorld(t)
	w.write("f", "one").write("g", "one")
	target = w.known()
	w.write("f", "two").write("g", "two")
	w.known()
	w.write("f", "three")
	joined = w.keep([]byte("one and three"))
	return w, target, joined, func(in *Input) {
		in.Join = func(_, mine, _ *tree.Entry) (*tree.Entry, error) {
			out := *mine
			out.Digest, out.Size = joined, 13
			return &out, nil
		}
	}
}

// What no tree has and a restore under way needs is found by its journal, as long as that is there: only texts that were
// brought together. A journal that was never whole needs nothing; one that cannot be read is an error, since a sweep would
// take away what it needs.
func TestWhatRestoresNeed(t *testing.T) {
	w, target, joined, join := joining(t)
	needs := func(what string, want ...store.Digest) {
		t.Helper()
		if got, err := Needs(w.dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	needs("no directory")
	j := w.start(w.plan(target, join), w.config(mover{}))
	w.must(j.Close())
	needs("begun", joined)
	torn := filepath.Join(w.dir, strings.Repeat("2", 16)+journalEnd)
	whole, err := os.ReadFile(filepath.Join(w.dir, j.ID+journalEnd))
	w.must(err)
	w.must(os.WriteFile(torn, whole[:len(whole)/3], 0o600))
	needs("beside one that was never whole", joined)
	w.must(os.Remove(torn))
	w.must(os.Symlink(filepath.Join(w.dir, j.ID+journalEnd), torn))
	if _, err := Needs(w.dir); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "2222") {
		t.Errorf("a link in a journal's place: %v", err)
	}
	w.must(os.Remove(torn))
	again := w.again(w.config(mover{}))
	_, err = again.Run(t.Context())
	w.must(err)
	w.has("f", "one and three")
	w.has("g", "one")
	needs("done, until it is forgotten", joined)
	w.must(again.Forget())
	needs("over")
}

// Texts are brought together only where all three versions are whole files, and where it is known that nobody but the
// session and the one who made the newest has changed them; else the newest stays as it is.
func TestWhatIsNotBroughtTogether(t *testing.T) {
	failing := errors.New("cannot be read")
	for what, c := range map[string]struct {
		change func(w *world, in *Input)
		joins  bool
	}{
		"all are files":      {func(*world, *Input) {}, true},
		"unsure":             {func(_ *world, in *Input) { in.Unsure = true }, false},
		"others":             {func(_ *world, in *Input) { in.Others = func(string) Others { return Mixed } }, false},
		"its own":            {func(_ *world, in *Input) { in.Others = func(string) Others { return Own } }, true},
		"nobody brings them": {func(_ *world, in *Input) { in.Join = nil }, false},
		"a conflict": {func(_ *world, in *Input) {
			in.Join = func(_, _, _ *tree.Entry) (*tree.Entry, error) { return nil, nil }
		}, false}, //nolint:nilnil // it is one
		"a link now": {func(w *world, in *Input) { w.remove("f").link("x", "f"); in.Now = w.capture() }, false},
		"gone now":   {func(w *world, in *Input) { w.remove("f"); in.Now = w.capture() }, false},
	} {
		w, target, _, join := joining(t)
		p := w.plan(target, join, func(in *Input) { c.change(w, in) })
		if joins := slices.ContainsFunc(p.ops, func(o op) bool { return o.Path == "f" && o.joined }); joins != c.joins {
			t.Errorf("%s: joined %t", what, joins)
		}
	}
	w, target, _, _ := joining(t)
	in := Input{Root: w.root, Trees: w, Base: w.base, Now: w.capture(), Target: target, Join: func(_, _, _ *tree.Entry) (*tree.Entry, error) { return nil, failing }}
	if _, err := Make(t.Context(), in); !errors.Is(err, failing) {
		t.Errorf("one that cannot be read: %v", err)
	}
}
