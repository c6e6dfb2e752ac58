package homes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// objects are trees in memory.
type objects map[store.Digest][]byte

func (o objects) Get(d store.Digest) ([]byte, error) {
	if b, ok := o[d]; ok {
		return b, nil
	}
	return nil, blob.ErrMissing
}

func (o objects) put(b []byte) (store.Digest, error) {
	d := store.Sum(b)
	o[d] = b
	return d, nil
}

// dir is a directory of some entries.
func (o objects) dir(t *testing.T, entries ...tree.Entry) store.Digest {
	t.Helper()
	slices.SortFunc(entries, func(a, b tree.Entry) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	b, err := tree.Encode(entries)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := o.put(b)
	return d
}

func fileOf(name, content string, flags tree.Flags) tree.Entry {
	return tree.Entry{Name: name, Kind: tree.File, Flags: flags, Mode: 0o644, Size: int64(len(content)), Digest: store.Sum([]byte(content))}
}

func dirOf(name string, d store.Digest, flags tree.Flags) tree.Entry {
	return tree.Entry{Name: name, Kind: tree.Dir, Flags: flags, Mode: 0o755, Digest: d}
}

// What git ignores, and what a session that came in a bundle does not have, is taken from what it began with, at every
// depth; what git does not ignore stays there, so that it can be told that the session deleted it, and so does what the
// session has, changed or not. An ignored directory that is not as it was goes as a whole.
func TestOnlyIgnoredFilesStayedElsewhere(t *testing.T) {
	o := objects{}
	secret := fileOf("secret", "s", tree.Private)
	plainFile := fileOf("x", "x", 0)
	both := o.dir(t, plainFile, secret)
	only := o.dir(t, plainFile)
	other := o.dir(t, fileOf("y", "y", 0))
	skipped := tree.Entry{Name: "skipped", Kind: tree.Dir, Flags: tree.Skipped, Mode: 0o755}
	began := o.dir(t, fileOf("deleted", "a", 0), fileOf("env", "e", tree.Private), fileOf("env-there", "e", tree.Private),
		dirOf("cache-same", only, tree.Private), dirOf("cache-other", only, tree.Private), dirOf("cache-gone", only, tree.Private),
		dirOf("sub", both, 0), dirOf("sub-gone", both, 0), dirOf("sub-same", both, 0), dirOf("turned", both, 0), skipped)
	now := o.dir(t, fileOf("env-there", "changed", tree.Private), dirOf("cache-same", only, tree.Private), dirOf("cache-other", other, tree.Private),
		dirOf("sub", other, 0), dirOf("sub-same", both, 0), fileOf("turned", "now a file", 0), fileOf("new", "n", 0))
	want := o.dir(t, fileOf("deleted", "a", 0), fileOf("env-there", "e", tree.Private), dirOf("cache-same", only, tree.Private),
		dirOf("sub", only, 0), dirOf("sub-gone", only, 0), dirOf("sub-same", both, 0), dirOf("turned", only, 0), skipped)

	w := without{ctx: t.Context(), trees: o, put: o.put}
	if got, err := w.dir(began, now, 0); err != nil || got != want {
		entries, _ := tree.List(o, got)
		t.Errorf("%v: %+v", err, entries)
	}
	w.put = func([]byte) (store.Digest, error) { t.Error("something was written"); return store.Digest{}, nil }
	for _, same := range []store.Digest{began, {}} {
		if got, err := w.dir(same, same, 0); err != nil || got != same {
			t.Errorf("%v: %v", got, err)
		}
	}
	if got, err := w.dir(store.Digest{}, now, 0); err != nil || !got.IsZero() {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

// What cannot be read, or is too deep, is an error, and so is a call that is given up: half of a tree is none.
func TestWhatStayedElsewhereIsReadWholeOrNotAtAll(t *testing.T) {
	o := objects{}
	failing := errors.New("the disk is full")
	ended, end := context.WithCancel(t.Context())
	end()
	leaf := o.dir(t, fileOf("x", "x", 0))
	lost := store.Sum([]byte("lost"))
	deep := leaf
	for range tree.MaxDepth + 1 {
		deep = o.dir(t, dirOf("d", deep, 0))
	}
	for name, c := range map[string]struct {
		w          without
		began, now store.Digest
		want       error
	}{
		"given up":                {without{ctx: ended, put: o.put}, leaf, store.Digest{}, context.Canceled},
		"what it began with":      {without{ctx: t.Context(), put: o.put}, lost, leaf, blob.ErrMissing},
		"what is there now":       {without{ctx: t.Context(), put: o.put}, leaf, lost, blob.ErrMissing},
		"a directory in it":       {without{ctx: t.Context(), put: o.put}, o.dir(t, dirOf("d", lost, 0)), leaf, blob.ErrMissing},
		"too deep":                {without{ctx: t.Context(), put: o.put}, deep, leaf, tree.ErrTooLarge},
		"cannot be written":       {without{ctx: t.Context(), put: func([]byte) (store.Digest, error) { return store.Digest{}, failing }}, leaf, store.Digest{}, failing},
		"within a directory also": {without{ctx: t.Context(), put: func([]byte) (store.Digest, error) { return store.Digest{}, failing }}, o.dir(t, dirOf("d", leaf, 0)), store.Digest{}, failing},
	} {
		c.w.trees = o
		if _, err := c.w.dir(c.began, c.now, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	w := without{ctx: t.Context(), trees: o, put: o.put}
	if _, err := w.dir(o.dir(t, fileOf("y", "y", 0)), leaf, tree.MaxDepth); err != nil {
		t.Errorf("as deep as can be: %v", err)
	}
}

// Of a session that came in a bundle what git ignores is taken from what it began with, and what is written for that stays
// until it is let go of; of another session nothing is. Where its log cannot be read, that is an error: files would be
// taken for deleted.
func TestWhatStayedElsewhereIsThatOfABundle(t *testing.T) {
	w := newWitness(t)
	b, err := w.h.blobs.Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := objects{}
	now, want := o.dir(t), o.dir(t, fileOf("x", "x", 0))
	began := o.dir(t, fileOf("x", "x", 0), fileOf("env", "e", tree.Private))
	deep := o.dir(t, fileOf("y", "y", 0))
	for range tree.MaxDepth {
		deep = o.dir(t, dirOf("d", deep, 0))
	}
	for d, raw := range o {
		if got, err := b.Put(raw); err != nil || got != d {
			t.Fatal(got, err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	stayed := func() store.Digest {
		t.Helper()
		got, release, err := w.h.stayedElsewhere(t.Context(), "s", began, now)
		if err != nil {
			t.Fatal(err)
		}
		release()
		return got
	}
	if got := stayed(); got != began {
		t.Errorf("a session of this home: %v", got)
	}
	w.logs("s", &session.Imported{From: "/there", Root: w.dir, Cwd: w.dir})
	if got := stayed(); got != want {
		t.Errorf("a session from elsewhere: %v, want %v", got, want)
	}
	if _, release, err := w.h.stayedElsewhere(t.Context(), "s", deep, now); err != nil {
		t.Errorf("as deep as a tree can be: %v", err)
	} else {
		release()
	}
	if _, _, err := w.h.stayedElsewhere(t.Context(), "missing", began, now); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
	lost := store.Sum([]byte("lost"))
	for _, d := range [][2]store.Digest{{lost, now}, {began, lost}} {
		if _, _, err := w.h.stayedElsewhere(t.Context(), "s", d[0], d[1]); !errors.Is(err, blob.ErrMissing) {
			t.Errorf("trees that are gone: %v", err)
		}
	}
	if err := w.h.blobs.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.h.stayedElsewhere(t.Context(), "s", began, now); !errors.Is(err, blob.ErrClosed) {
		t.Errorf("where nothing can be written: %v", err)
	}
}

// A record that cannot be written or taken away is an error, and what is known of the others stays as it is.
func TestRecordsThatCannotBeWrittenAreTold(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	a := &applies{root: root, all: []Applied{{ID: "a"}, {ID: "b"}}}
	if err := os.MkdirAll(filepath.Join(dir, "a.json", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := a.drop("a"); err == nil || len(a.all) != 2 {
		t.Errorf("dropped: %v, %+v", err, a.all)
	}
	if err := a.put(Applied{ID: "a", Stage: ApplyDone}); err == nil || a.all[0].Stage == ApplyDone {
		t.Errorf("put: %v, %+v", err, a.all)
	}
	if err := a.drop("b"); err != nil || len(a.all) != 1 || a.all[0].ID != "a" {
		t.Errorf("one without a file: %v, %+v", err, a.all)
	}
	if err := os.MkdirAll(filepath.Join(dir, "c.json.tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := a.put(Applied{ID: "c"}); err == nil || len(a.all) != 1 {
		t.Errorf("put beside something: %v, %+v", err, a.all)
	}
	if err := a.put(Applied{ID: "d"}); err != nil || len(a.all) != 2 || a.all[1].ID != "d" {
		t.Errorf("put: %v, %+v", err, a.all)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := readApplies(root); err == nil {
		t.Error("records that cannot be listed are none")
	}
	if err := a.sync(); err == nil {
		t.Error("a directory that cannot be opened is durable")
	}
}

// A record is durable before it has its name, and its name is, or is gone, before anybody is told; what could not be made
// durable is an error.
func TestRecordsOfAppliesAreDurable(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	var synced []string
	fails := -1 // the sync that fails
	a := &applies{root: root, disk: func(f *os.File) error {
		if fails--; fails == -1 {
			return errUnread
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		what := "record of " + strconv.FormatInt(info.Size(), 10) + " bytes"
		if info.IsDir() {
			what = "directory"
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		for _, path := range left {
			what += " " + filepath.Base(path)
		}
		synced = append(synced, what)
		return errors.Join(err, f.Sync())
	}}
	r := Applied{ID: "a", Stage: ApplyPlanned}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.put(r), a.drop("a")); err != nil {
		t.Fatal(err)
	}
	if want := []string{fmt.Sprintf("record of %d bytes a.json.tmp", len(b)), "directory a.json", "directory"}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	for at := range 2 {
		if fails = at; !errors.Is(a.put(r), errUnread) || len(a.all) != 0 {
			t.Errorf("sync %d of a record fails, and it is there: %+v", at, a.all)
		}
	}
	if fails = 0; !errors.Is(a.drop("a"), errUnread) {
		t.Error("its end is not durable, and nobody is told")
	}
}
