package homes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// document is a text of so many lines that nothing else is like, with one line edited.
func document(kind, edit int) string {
	var b strings.Builder
	for i := range 300 {
		if i == 150 {
			fmt.Fprintf(&b, "edit %d of %d\n", edit, kind)
		}
		fmt.Fprintf(&b, "%x\n", uint64(kind+1)*uint64(i+1)*0x9e3779b97f4a7c15)
	}
	return b.String()
}

// Small edits are kept as what tells them from an earlier content. When captures are thinned by age that content may go
// while what is kept against it still lies in a pack for another's sake: every checkpoint is whole all the same, what
// was thinned is said to be, and the same words written again are kept anew.
func TestCheckpointsOutliveTheBasesOfThinnedCaptures(t *testing.T) {
	clock := newMoved()
	cfg := homes.WithPackSize(homes.Config{Files: &homes.Files{}, Now: clock.Now}, 64<<10)
	h, s, dir := keepingWith(t, cfg)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "doc"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	var thin []int64
	for kind := range 5 {
		for _, step := range []func(){ // each in packs of its own, by what goes again and fills one
			func() { large(t, dir, "junk", 100<<10) },
			func() { write(document(kind, 0)) },
			func() { large(t, dir, "junk", 100<<10) },
			func() { // what is kept lives on, with what it lies beside
				large(t, dir, "junk", 1)
				large(t, dir, fmt.Sprint("kept", kind), 50<<10)
				write(document(kind, 1))
			},
		} {
			step()
			prompt(t, s, "write "+filepath.Join(dir, "made"))
			thin = append(thin, captures(t, h, s.ID())[session.CaptureAct])
			undoNewest(t, s) // nothing goes back to it any more
		}
		name := fmt.Sprint("c", kind)
		want[name] = document(kind+100, 0)
		write(want[name])
		large(t, dir, fmt.Sprint("more", kind), 50<<10)
		if _, err := s.Checkpoint(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	clock.pass(48 * time.Hour)
	swept, err := h.Sweep(t.Context())
	if err != nil || swept.Removed+swept.Rewritten == 0 || swept.Damaged > 0 {
		t.Fatalf("%+v, %v", swept, err)
	}
	if damaged, baseless, err := h.VerifyBlobs(t.Context()); err != nil || damaged > 0 || baseless == 0 {
		t.Fatalf("%d damaged, %d without their bases, %v", damaged, baseless, err)
	}
	check := func(when string) {
		t.Helper()
		for name, text := range want {
			p, err := h.FilesAt(t.Context(), s.ID(), name)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			_, err = s.RestoreFiles(t.Context(), session.RestoreRequested{Target: p.Tree, To: name, Force: true})
			if b, rerr := os.ReadFile(filepath.Join(dir, "doc")); err != nil || rerr != nil || string(b) != text {
				t.Errorf("%s: %s: %v, %v, %d bytes, want %d", when, name, err, rerr, len(b), len(text))
			}
		}
	}
	check("after the sweep")
	said := 0
	for _, seq := range thin { // what lies beside something that lives may be there for longer
		if _, err := h.FilesAt(t.Context(), s.ID(), fmt.Sprint(seq)); errors.Is(err, homes.ErrNoFiles) && strings.Contains(err.Error(), "thinned") {
			said++
		} else if err != nil {
			t.Errorf("event %d: %v", seq, err)
		}
	}
	if said == 0 {
		t.Error("nothing was thinned")
	}
	for kind := range 5 { // the words of what was thinned, again
		name := fmt.Sprint("again", kind)
		want[name] = document(kind, 1)
		write(want[name])
		if _, err := s.Checkpoint(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	check("written again")
	clock.pass(48 * time.Hour)
	if swept, err := h.Sweep(t.Context()); err != nil || swept.Damaged > 0 {
		t.Fatalf("%+v, %v", swept, err)
	}
	check("after another sweep")
	if damaged, _, err := h.VerifyBlobs(t.Context()); err != nil || damaged > 0 {
		t.Errorf("%d damaged, %v", damaged, err)
	}
}
