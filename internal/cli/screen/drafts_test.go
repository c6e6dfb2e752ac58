package screen_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/composer"
)

// A draft is there again as it was written, with what is attached, in a file for its owner alone; one of a session that is
// not made yet, of one that is held and of one that is looked at are kept apart. It goes with its session.
func TestDraftsAreKept(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h, other := w.Open(words("hello", `{"text":"Good day."}`)), w.Open("{}")
	defer w.Close(h)
	defer w.Close(other)
	draft := composer.Draft{Parts: []composer.Part{
		composer.Text("look "),
		composer.Pasted{Text: strings.Repeat("x\n", 300), Lines: 300},
		composer.Text("and "),
		composer.Image{Name: "shot.png", Media: "image/png", Data: []byte{0x89, 'P', 0, 0xff}},
	}}
	keeps := func(d *desk, draft composer.Draft) {
		t.Helper()
		if err := d.KeepDraft(t.Context(), draft); err != nil {
			t.Error(err)
		}
	}
	fresh := sits(t, w, h, nil)
	keeps(fresh, written("for a new one"))
	fresh.leaves()
	d := sits(t, w, h, held("s"))
	if got := d.Written(); !got.Empty() {
		t.Errorf("of another session: %+v", got)
	}
	keeps(d, draft)
	looks := sits(t, w, other, attached("s"))
	if got := looks.Written(); !got.Empty() {
		t.Errorf("what somebody else writes: %+v", got)
	}
	keeps(looks, written("mine"))
	looks.leaves()
	d.leaves()
	d = sits(t, w, h, held("s"))
	if got := d.Written(); !reflect.DeepEqual(got, draft) {
		t.Errorf("%+v", got)
	}
	var files []string
	err := filepath.WalkDir(filepath.Join(w.Home, "drafts"), func(path string, e os.DirEntry, err error) error {
		info, ierr := e.Info()
		if err != nil || ierr != nil {
			return errors.Join(err, ierr)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if !e.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) != 3 {
		t.Errorf("%q %v", files, err)
	}
	keeps(d, composer.Draft{})
	if got := d.Written(); !got.Empty() {
		t.Errorf("forgotten: %+v", got)
	}
	d.leaves()
	fresh = sits(t, w, h, nil)
	if got := fresh.Written(); got.String() != "for a new one" {
		t.Errorf("%+v", got)
	}
	fresh.leaves()
	if err := h.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Home, "drafts", "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the session: %v", err)
	}
}

// A secret that Perdure knows is never written down in a draft, and what stands in the place of a file is not followed.
func TestADraftHoldsNoSecret(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=sk-ant-0123456789abcdef")
	h := w.Open("{}")
	defer w.Close(h)
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	if err := d.KeepDraft(t.Context(), written("fine")); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepDraft(t.Context(), written("my key is sk-ant-0123456789abcdef")); !errors.Is(err, homes.ErrSecret) {
		t.Errorf("%v", err)
	}
	if got := d.Written(); !got.Empty() {
		t.Errorf("%+v", got)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	clitest.WriteFile(t, outside, `[{"text":"theirs"}]`)
	file := filepath.Join(w.Home, "drafts", "s", "draft.json")
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	if got := d.Written(); !got.Empty() {
		t.Errorf("behind a link: %+v", got)
	}
	if err := d.KeepDraft(t.Context(), written("mine")); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != `[{"text":"theirs"}]` {
		t.Errorf("%s %v", b, err)
	}
}
