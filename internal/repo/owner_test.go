package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// A repository of another user, as in a container whose directory is the host's, is asked only if its user has told git
// that it is safe, in a configuration of their own; the repository cannot say so of itself. Whoever has not is told
// how.
func TestARepositoryOfAnotherUser(t *testing.T) {
	w := newWork(t)
	hash := w.commit(1)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	w.git("config", "safe.directory", "*")
	err := filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	})
	if err != nil {
		needs.Not(t, "files cannot be given to another user: %v", err)
	}
	r := Repo{Root: w.dir, Commit: hash}
	if have, err := r.Have(t.Context(), []string{hash}); err == nil || !strings.Contains(err.Error(), "git config --global --add safe.directory "+w.dir) {
		t.Errorf("%v, %v", have, err)
	}
	for text, safe := range map[string]bool{
		"directory = *": true, "directory = " + w.dir: true, "directory = /elsewhere": false, "directory = *\n directory =": false,
		"directory = " + filepath.Dir(w.dir) + "/*": true, "directory = " + w.dir + "x": false,
	} {
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[safe]\n "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if have, err := r.Have(t.Context(), []string{hash}); (err == nil && have[hash]) != safe {
			t.Errorf("%q: %v, %v", text, have, err)
		}
	}
}
