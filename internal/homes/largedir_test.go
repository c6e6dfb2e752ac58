package homes_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/internal/tree"
)

// Goal: a directory with so many names that its tree object is kept in chunks travels like any other, and a sweep keeps
// what it names.
func TestVeryLargeDirectoriesTravelAndAreKept(t *testing.T) {
	const links = 2200
	content := make([]byte, 4<<20) // most of its pack, so that a sweep that misses it gives its room back
	if _, err := rand.NewChaCha8([32]byte{}).Read(content); err != nil {
		t.Fatal(err)
	}
	var entries []tree.Entry
	for i := range links {
		entries = append(entries, forge.Link(fmt.Sprintf("%05d", i), strings.Repeat("t", 4000)))
	}
	entries = append(entries, forge.File("a", content))
	object := forge.Object(entries...)
	if len(object) <= blob.MaxBlob {
		t.Fatalf("the object has only %d bytes", len(object))
	}
	b := forge.OfTrees([][]byte{content}, object).Bytes(t)
	home, dir := capturingHome(t), filepath.Join(t.TempDir(), "first")
	a := received(t, home, b)
	if err := a.Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if made, ok, err := a.Files(t.Context(), dir); err != nil || !ok || made.Links != links || made.Files != 1 {
		t.Fatalf("%+v, %v, %v", made, ok, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if out, err := home.Sweep(t.Context()); err != nil {
		t.Fatalf("%+v, %v", out, err)
	}
	if space, err := home.Space(t.Context()); err != nil || space.Live < int64(len(content)) {
		t.Errorf("%+v, %v", space, err)
	}
	again, out := packed(t, home, "s", homes.BundleOptions{})
	if out.Trees != 1 || out.Blobs != 1 {
		t.Errorf("exported again: %+v", out.Counts)
	}
	other, there := capturingHome(t), filepath.Join(t.TempDir(), "second")
	a = received(t, other, again)
	if err := a.Import(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	if made, ok, err := a.Files(t.Context(), there); err != nil || !ok || made.Links != links || made.Files != 1 {
		t.Errorf("%+v, %v, %v", made, ok, err)
	}
}

// Goal: what several sessions need is counted once in all and for each of them, what one needs alone for it alone, in
// whatever order they are looked at.
func TestSpaceOfManySessions(t *testing.T) {
	content := make([]byte, 300_000)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(content); err != nil {
		t.Fatal(err)
	}
	home, dir := capturingHome(t), filepath.Join(t.TempDir(), "dir")
	b := forge.OfTrees([][]byte{content}, forge.Object(forge.File("a", content))).Bytes(t)
	if err := received(t, home, b).Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"f1", "f2", "f3"} {
		if _, _, err := home.Fork(t.Context(), "s", 0, id, ""); err != nil {
			t.Fatal(err)
		}
	}
	alone := strings.Repeat("x", 1000)
	for i, id := range []string{"f2", "f3"} {
		if _, err := home.KeepArtifact(t.Context(), id, session.Artifact{Name: "note"}, strings.NewReader(alone[:900+100*i])); err != nil {
			t.Fatal(err)
		}
	}
	space, err := home.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]homes.SessionSpace{}
	for _, s := range space.Sessions {
		of[s.ID] = s
	}
	if len(of) != 4 || space.Shared < 300_000 || space.Shared > 310_000 || space.Live != space.Shared+of["f2"].Own+of["f3"].Own {
		t.Errorf("%+v", space)
	}
	for id, s := range of {
		if s.Shared != space.Shared || (s.Own > 0) != (id == "f2" || id == "f3") {
			t.Errorf("%+v", s)
		}
	}
}
