package repo_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/test/needs"
)

func statIn(dir string) repo.Stat {
	return func(path string) (int64, int64, bool) {
		info, err := os.Lstat(filepath.Join(dir, path))
		if err != nil {
			return 0, 0, false
		}
		return info.Size(), info.ModTime().UnixNano(), true
	}
}

// What a repository says of itself is read from its files, in every version of an index that git writes; nothing is run
// and nothing changes.
func TestFactsOfARepository(t *testing.T) {
	needs.Program(t, "git")
	for _, setting := range []string{"index.version=2", "index.version=4", "init.defaultObjectFormat=sha256"} {
		t.Run(setting, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				args = append([]string{"-C", dir, "-c", setting, "-c", "user.name=x", "-c", "user.email=x@y"}, args...)
				if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
			}
			if _, err := repo.LookClose(dir, statIn(dir)); !errors.Is(err, repo.ErrNone) {
				t.Errorf("no repository: %v", err)
			}
			git("init", "-q", "-b", "trunk", ".")
			for _, name := range []string{"a", "dir/b", "dir/bb", "dir/sub/c", "long-name-of-a-file-that-is-tracked"} {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git("add", "-A")
			git("commit", "-q", "-m", "x")
			clean, err := repo.LookClose(dir, statIn(dir))
			if err != nil || clean.Branch != "trunk" || clean.Commit == "" || clean.Index.IsZero() || clean.Modified {
				t.Fatalf("clean: %+v %v", clean, err)
			}
			if err := os.WriteFile(filepath.Join(dir, "dir/sub/c"), []byte("another"), 0o600); err != nil {
				t.Fatal(err)
			}
			if f, err := repo.LookClose(dir, statIn(dir)); err != nil || !f.Modified || f.Index != clean.Index {
				t.Errorf("a file was written: %+v %v", f, err)
			}
			git("add", "-A")
			if f, err := repo.LookClose(dir, statIn(dir)); err != nil || f.Modified || f.Index == clean.Index {
				t.Errorf("added: %+v %v", f, err)
			}
			if err := os.Chtimes(filepath.Join(dir, "a"), time.Time{}, time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			if f, err := repo.LookClose(dir, statIn(dir)); err != nil || !f.Modified {
				t.Errorf("another time: %+v %v", f, err)
			}
			if err := os.Remove(filepath.Join(dir, "a")); err != nil {
				t.Fatal(err)
			}
			if f, err := repo.LookClose(dir, statIn(dir)); err != nil || !f.Modified {
				t.Errorf("removed: %+v %v", f, err)
			}
			if _, err := repo.LookClose(filepath.Join(dir, "dir"), statIn(dir)); !errors.Is(err, repo.ErrNone) {
				t.Errorf("a directory in it: %v", err)
			}
		})
	}
}

// Whatever an index holds, reading it ends with an answer.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + string(make([]byte, 80))))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + string(make([]byte, 200))))
	f.Fuzz(func(t *testing.T, index []byte) {
		dir := t.TempDir()
		git := filepath.Join(dir, ".git")
		if err := os.Mkdir(git, 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/x\n"), 0o600)
		_ = os.WriteFile(filepath.Join(git, "index"), index, 0o600)
		if facts, err := repo.LookClose(dir, statIn(dir)); err != nil && facts.Modified {
			t.Error("an index that cannot be read says that something was modified")
		}
	})
}
