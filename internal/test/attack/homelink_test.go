package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: a symbolic link in the place of one of the home's directories leads nothing that perdure writes, changes or
// deletes out of the home; and doctor tells it.
func TestLinksInTheHomeAreNotFollowed(t *testing.T) {
	for _, name := range []string{"acts", "outputs", "streams", "tmp", "ports", "deleting", "holders", "drafts", "moving", "blobs", "workspaces", "building"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			long := bash("head -c 400000 /dev/zero | tr '\\0' x")
			w.want(0, run1("first", w.model(calls(long), step{Text: "ok"}), bypass)...)
			at, elsewhere := filepath.Join(w.home, name), filepath.Join(w.root, "elsewhere")
			if err := os.Mkdir(elsewhere, 0o755); err != nil {
				t.Fatal(err)
			}
			w.write(filepath.Join(elsewhere, "first", "mine"), "x\n")
			w.write(filepath.Join(elsewhere, "plain"), "x\n")
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, at); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{run1("s", w.model(calls(long), step{Text: "ok"}), bypass), {"delete", "--yes", "s"}, {"delete", "--yes", "first"}} {
				w.perdure(args...) // it may refuse, or go on without
			}
			found := ""
			_ = filepath.WalkDir(elsewhere, func(path string, _ os.DirEntry, _ error) error {
				found += " " + strings.TrimPrefix(path, elsewhere)
				return nil
			})
			if info, err := os.Stat(elsewhere); found != "  /first /first/mine /plain" || err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("behind the link are now%s (%v)", found, info)
			}
			if o := w.perdure("doctor"); o.code != 1 || !strings.Contains(o.out, at+" is a symbolic link") {
				t.Errorf("doctor: %s", o)
			}
		})
	}
}
