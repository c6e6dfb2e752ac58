package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// planned is the plan of a restore of a file whose first line the session has changed and whose last line somebody else has.
func planned(t *testing.T, text string) *workspace.Planned {
	t.Helper()
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s, dir := workspace.New(workspace.Config{Dir: t.TempDir(), Blobs: blobs}), t.TempDir()
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
	p, err := s.Plan(t.Context(), engine.RestoreRequest{Session: "s", Dir: dir, Base: two, Target: one}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
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
