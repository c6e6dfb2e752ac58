package homes_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Who dies while a session's own directory is made leaves no session, no directory and no worktree: the next opening of
// the home removes what there is, and the same id can be used again.
func TestACreationThatIsKilledLeavesNoDirectory(t *testing.T) {
	for _, at := range []string{"plan", "planned", "worktrees", "built"} {
		project, dir := t.TempDir(), filepath.Join(t.TempDir(), "home")
		write(t, project, "one")
		inside := filepath.Join(project, "inside")
		if err := os.Mkdir(inside, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, inside, "two")
		git(t, inside, "init", "-q")
		git(t, inside, "add", "-A")
		git(t, inside, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first")
		git(t, project, "init", "-q")
		git(t, project, "add", "-A")
		git(t, project, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first")
		open := func(crash func(string)) *homes.Home {
			h, err := homes.Open(t.Context(), dir, homes.WithCrash(homes.Config{
				Files: &homes.Files{}, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
			}, crash))
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		spec := engine.Spec{ID: "s", Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: project}
		h := open(func(step string) {
			if step == at {
				panic(at)
			}
		})
		func() {
			defer func() {
				if recover() == nil {
					t.Fatalf("%s was not reached", at)
				}
			}()
			_, _ = h.CreateIsolated(t.Context(), spec)
		}()
		_ = h.Close()
		h = open(nil)
		if _, err := h.Store().Get(t.Context(), "s"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("killed at %s: %v", at, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "isolated", "s")); err == nil {
			t.Errorf("killed at %s: its directory is there", at)
		}
		for _, dir := range []string{project, inside} {
			if list := git(t, dir, "worktree", "list"); strings.Contains(list, "isolated") {
				t.Errorf("killed at %s: %s", at, list)
			}
		}
		own, err := h.CreateIsolated(t.Context(), spec)
		if err != nil || content(t, own.Dir) != "one" || !own.Worktree || h.ProjectOf(own.Dir) != project {
			t.Errorf("killed at %s, again: %+v, %v", at, own, err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A session in a directory of a repository has the whole of it around its own, so that what it builds on is there.
func TestAnIsolatedSessionBelowARepositoryHasTheRepository(t *testing.T) {
	top := t.TempDir()
	project := filepath.Join(top, "sub")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, top, "above")
	write(t, project, "below")
	git(t, top, "init", "-q")
	git(t, top, "add", "-A")
	git(t, top, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first")
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		Files: &homes.Files{}, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	own, err := h.CreateIsolated(t.Context(), engine.Spec{Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: project})
	if err != nil {
		t.Fatal(err)
	}
	if content(t, own.Dir) != "below" || content(t, filepath.Dir(own.Dir)) != "above" || git(t, own.Dir, "status", "--short") != "" {
		t.Errorf("%+v: %s", own, git(t, own.Dir, "status", "--short"))
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
