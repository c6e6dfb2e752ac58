package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// Goal: a restore whose directory was replaced before it was finished keeps no later restore of that session there from
// being done, and touches neither directory.
func TestARestoreOfADirectoryThatWasReplacedBlocksNothing(t *testing.T) {
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := workspace.New(workspace.Config{Dir: t.TempDir(), Blobs: blobs})
	dir := filepath.Join(t.TempDir(), "w")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	captured := func() store.Digest {
		t.Helper()
		got, err := s.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(got.Release)
		return got.Body.Tree
	}
	write("one")
	one := captured()
	write("two, longer")
	r := engine.RestoreRequest{Session: "s", ID: "restore.1", Dir: dir, Base: captured(), Target: one}
	p, err := s.Prepare(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Release()

	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	write("another")
	if _, err := s.Finish(t.Context(), r); !errors.Is(err, restore.ErrMoved) {
		t.Fatalf("finished: %v", err)
	}
	if err := s.Abandon(t.Context(), r); !errors.Is(err, restore.ErrMoved) {
		t.Fatalf("taken back: %v", err)
	}
	r.ID, r.Base = "restore.2", captured()
	if p, err = s.Prepare(t.Context(), r, nil); err != nil {
		t.Fatalf("the next restore: %v", err)
	}
	p.Release()
	done, err := s.Finish(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	done.Release()
	for at, want := range map[string]string{dir: "one", dir + ".away": "two, longer"} {
		if b, err := os.ReadFile(filepath.Join(at, "f")); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v; want %q", at, b, err, want)
		}
	}
}

// That what a restore leaves is not durably gone is told to whoever takes it back, and to the session's next restore,
// which is not made then.
func TestAJournalThatIsNotDurablyGoneIsTold(t *testing.T) {
	b, fails := newBench(t), ""
	broken := errors.New("the disk is broken")
	b.cfg.Sync = func(what string, do func() error) error {
		if what == fails {
			return broken
		}
		return do()
	}
	b.set = b.another()
	b.write("f", "one")
	one := b.tree()
	b.write("f", "two, longer")
	r := engine.RestoreRequest{Session: "s", ID: "r1", Dir: b.dir, Base: b.tree(), Target: one}
	for what, leave := range map[string]func() error{
		"taken back":   func() error { return b.set.Abandon(t.Context(), r) },
		"the next one": func() error { _, err := b.set.Prepare(t.Context(), r, nil); return err },
	} {
		fails = ""
		p, err := b.set.Prepare(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
		if _, err := b.set.Finish(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		b.has(what, "f", "one")
		b.write("f", "two, longer")
		fails = "journals"
		if err := leave(); !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
