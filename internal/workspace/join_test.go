package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// planned is the plan of a restore of a file whose first line the session has changed and whose last line somebody else
// has.
func planned(t *testing.T, text string) *workspace.Planned {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := workspace.New(workspace.Config{Dir: t.TempDir(), Blobs: blobs})
	p, err := s.Plan(t.Context(), joinedRestore(t, s, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

// joinedRestore is a restore of such a file, in a directory of its own.
func joinedRestore(t *testing.T, s *workspace.Set, text string) engine.RestoreRequest {
	t.Helper()
	dir := t.TempDir()
	captured := func(text string) store.Digest {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.Capture(t.Context(), engine.CaptureRequest{Session: "s", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(got.Release)
		return got.Body.Tree
	}
	one := captured(text)
	two := captured("of the session\n" + text)
	captured("of the session\n" + text + "of somebody else\n")
	return engine.RestoreRequest{ID: "r1", Session: "s", Dir: dir, Base: two, Target: one}
}

// Where what was joined cannot be kept, a restore is not prepared: it would need contents that nobody has.
func TestNothingIsPreparedWithoutWhatWasJoined(t *testing.T) {
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	joining := func() {}
	s := workspace.New(workspace.Config{Dir: t.TempDir(), Blobs: blobs, Now: func() time.Time { joining(); return time.Now() }})
	r := joinedRestore(t, s, "1\n2\n3\n")
	p, err := s.Prepare(t.Context(), r, nil)
	if err != nil || p.Counts.Modified != 1 {
		t.Fatalf("%+v, %v", p.Counts, err)
	}
	p.Release()
	joining = func() { _ = blobs.Close() } // from then on nothing is added to them
	if p, err := s.Prepare(t.Context(), r, nil); !errors.Is(err, blob.ErrClosed) {
		t.Errorf("%+v, %v", p.Counts, err)
	}
}

// A text of very many lines takes far more memory to compare than it has bytes: such a file is a conflict.
func TestATextOfVeryManyLinesIsAConflict(t *testing.T) {
	if p := planned(t, strings.Repeat("\n", 100_000)); len(p.Changes) != 1 || !p.Changes[0].Joined || len(p.Kept) != 0 {
		t.Errorf("many lines: %+v, kept %+v", p.Changes, p.Kept)
	}
	if p := planned(t, strings.Repeat("\n", 1_000_000)); len(p.Changes) != 0 || len(p.Kept) != 1 {
		t.Errorf("very many lines: %+v, kept %+v", p.Changes, p.Kept)
	}
}

// A file that somebody's file manager has left among the journals keeps nothing from being swept.
func TestAStrayFileAmongJournalsNeedsNothing(t *testing.T) {
	dir := t.TempDir()
	restores := filepath.Join(dir, "place", "restores")
	if err := os.MkdirAll(filepath.Join(restores, "0011223344556677"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, restores, filepath.Join(restores, "0011223344556677")} {
		if err := os.WriteFile(filepath.Join(at, ".DS_Store"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if need, err := workspace.Needs(dir); err != nil || len(need) > 0 {
		t.Errorf("%v, %v", need, err)
	}
}

// Paths of a directory are those below it, relative to it: not that of the directory, nor of one whose name begins like
// its.
func TestPathsBelowADirectory(t *testing.T) {
	got := workspace.Below("/w/d", "/w/d/f", "/w/d", "/w/dx/f", "/w/f", "/w/d/e/f")
	if !slices.Equal(got, []string{"f", "e/f"}) {
		t.Errorf("%q", got)
	}
}

// What a side alone has done to a file's mode is joined with the other's lines; two modes, a zero byte, and a version of
// which nothing is kept are conflicts, and no error.
func TestWhatIsJoined(t *testing.T) {
	const base, mine, theirs = "1\n2\n3\n", "one\n2\n3\n", "1\n2\nthree\n"
	for name, c := range map[string]struct {
		base, mine, theirs string
		modes              [3]uint32
		joined             string // "": it is a conflict
		mode               uint32
	}{
		"lines":                      {base, mine, theirs, [3]uint32{0o644, 0o644, 0o644}, "one\n2\nthree\n", 0o644},
		"my mode":                    {base, mine, theirs, [3]uint32{0o644, 0o600, 0o644}, "one\n2\nthree\n", 0o600},
		"their mode":                 {base, mine, theirs, [3]uint32{0o644, 0o644, 0o755}, "one\n2\nthree\n", 0o755},
		"the same mode":              {base, mine, theirs, [3]uint32{0o644, 0o755, 0o755}, "one\n2\nthree\n", 0o755},
		"two modes":                  {base, mine, theirs, [3]uint32{0o644, 0o755, 0o600}, "", 0},
		"the same line":              {base, mine, "eins\n2\n3\n", [3]uint32{0o644, 0o644, 0o644}, "", 0},
		"a zero byte":                {base, mine, "1\n2\nthree\x00\n", [3]uint32{0o644, 0o644, 0o644}, "", 0},
		"a zero byte first":          {base, theirs, "\x00\n2\n3\n", [3]uint32{0o644, 0o644, 0o644}, "", 0},
		"nothing is kept of it":      {base, mine, "gone", [3]uint32{0o644, 0o644, 0o644}, "", 0},
		"of the largest size":        {base, mine, "1\n2\n3" + strings.Repeat("x", 4<<20-6) + "\n", [3]uint32{0o644, 0o644, 0o644}, "one\n2\n3" + strings.Repeat("x", 4<<20-6) + "\n", 0o644},
		"a byte over that":           {base, mine, "1\n2\n3" + strings.Repeat("x", 4<<20-5) + "\n", [3]uint32{0o644, 0o644, 0o644}, "", 0},
		"as many lines as there are": {"1\n2\n", "one\n2\n", "1\n2\n" + strings.Repeat("\n", 200_000-2), [3]uint32{0o644, 0o644, 0o644}, "one\n2\n" + strings.Repeat("\n", 200_000-2), 0o644},
		"a line over that":           {"1\n2\n", "one\n2\n", "1\n2\n" + strings.Repeat("\n", 200_000-1), [3]uint32{0o644, 0o644, 0o644}, "", 0},
	} {
		b := newBench(t)
		batch, err := b.blobs.Batch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var entries [3]*tree.Entry
		for i, text := range []string{c.base, c.mine, c.theirs} {
			d := store.Sum([]byte(text))
			if text != "gone" {
				if d, err = batch.Put([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			entries[i] = &tree.Entry{Name: "f", Kind: tree.File, Mode: c.modes[i], Size: int64(len(text)), Digest: d}
		}
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
		got, content, err := b.set.Join(t.Context(), entries[0], entries[1], entries[2])
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.joined == "" && got != nil:
			t.Errorf("%s: %+v", name, got)
		case c.joined != "" && (got == nil || string(content) != c.joined || got.Mode != c.mode || got.Size != int64(len(c.joined)) || got.MTime == 0):
			t.Errorf("%s: %+v, %d bytes", name, got, len(content))
		}
		_ = batch.Close()
	}
}
