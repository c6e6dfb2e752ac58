package homes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/needs"
	"github.com/perdure/perdure/modelapi"
)

// mending is a session in a worktree of its own, with a repository within, of both of which git knows nothing any more.
type mending struct {
	h                 *homes.Home
	project, own, top string
}

func newMending(t *testing.T) *mending {
	t.Helper()
	needs.Program(t, "git")
	m := &mending{project: filepath.Join(t.TempDir(), "p")}
	for _, dir := range []string{m.project, filepath.Join(m.project, "deps/lib")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "-q")
		write(t, dir, "one")
		git(t, dir, "add", "f")
		git(t, dir, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "first")
	}
	var err error
	m.h, err = homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		Files: &homes.Files{}, Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.h.Close() })
	own, err := m.h.CreateIsolated(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: m.project})
	if err != nil {
		t.Fatal(err)
	}
	m.own, m.top = own.Dir, filepath.Dir(own.Dir)
	for _, dir := range []string{m.project, filepath.Join(m.project, "deps/lib")} {
		if err := os.RemoveAll(filepath.Join(dir, ".git/worktrees")); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// mended mends, and has git work in both directories and the repositories know of nothing else.
func (m *mending) mended(t *testing.T) {
	t.Helper()
	got, err := m.h.MendTrees(t.Context(), "s")
	if err != nil || len(got.Broken) > 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	for rel, in := range map[string]string{m.project: m.own, filepath.Join(m.project, "deps/lib"): filepath.Join(m.own, "deps/lib")} {
		if said := git(t, in, "status", "--short", "--untracked-files=no"); said != "" {
			t.Errorf("git says in %s: %s", in, said)
		}
		if list := git(t, rel, "worktree", "list"); strings.Count(list, "\n") != 2 || !strings.Contains(list, in+" ") {
			t.Errorf("%s knows\n%s", rel, list)
		}
	}
	if _, err := os.Lstat(filepath.Join(m.top, ".stage")); err == nil {
		t.Error("the stage is left")
	}
}

// Wherever mending is killed, the next one does it, and the repository knows of nothing that is not there.
func TestMendingThatWasKilledIsDoneAgain(t *testing.T) {
	for name, killed := range map[string]func(t *testing.T, m *mending, stage string){
		"made beside": func(t *testing.T, m *mending, _ string) {
			if err := os.Remove(filepath.Join(m.own, ".git")); err != nil {
				t.Fatal(err)
			}
		},
		"not moved yet": func(t *testing.T, m *mending, stage string) {
			if err := errors.Join(os.Remove(filepath.Join(m.own, ".git")), os.RemoveAll(stage)); err != nil {
				t.Fatal(err)
			}
		},
		"its link empty": func(t *testing.T, m *mending, stage string) {
			git(t, m.project, "worktree", "remove", "--force", stage)
			if err := os.WriteFile(filepath.Join(m.own, ".git"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMending(t)
			stage := filepath.Join(m.top, ".stage", filepath.Base(m.own))
			git(t, m.project, "worktree", "add", "-q", "--detach", "--no-checkout", stage)
			killed(t, m, stage)
			m.mended(t)
		})
	}
}

// Where the session has put a link in the place of a directory, no .git is written behind it.
func TestMendingFollowsNoLinkOutOfTheSessionsDirectory(t *testing.T) {
	m := newMending(t)
	elsewhere := t.TempDir()
	if err := os.Mkdir(filepath.Join(elsewhere, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	deps := filepath.Join(m.own, "deps")
	if err := os.Rename(deps, deps+"-was"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, deps); err != nil {
		t.Fatal(err)
	}
	got, err := m.h.MendTrees(t.Context(), "s")
	if err != nil || len(got.Dirs) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if left, err := os.ReadDir(filepath.Join(elsewhere, "lib")); err != nil || len(left) > 0 {
		t.Errorf("somebody else's directory has %v, %v", left, err)
	}
}

// Git gives the name of a worktree that it has forgotten to the next one. The directory of the first then leads to what is
// the other's: a commit in the one would move the other. That is a worktree that is broken, and is mended.
func TestAWorktreeWhosePlaceAnotherHasTakenIsBroken(t *testing.T) {
	m := newMending(t)
	other, err := m.h.CreateIsolated(t.Context(), engine.Spec{ID: "other", Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: m.project})
	if err != nil {
		t.Fatal(err)
	}
	if broken := m.h.BrokenTrees("other"); len(broken) > 0 {
		t.Errorf("the other's: %v", broken)
	}
	if broken := m.h.BrokenTrees("s"); len(broken) != 2 {
		t.Errorf("broken: %v", broken)
	}
	if got, err := m.h.MendTrees(t.Context(), "s"); err != nil || len(got.Dirs) != 2 || len(m.h.BrokenTrees("s")) > 0 {
		t.Errorf("%+v, %v, broken: %v", got, err, m.h.BrokenTrees("s"))
	}
	was := git(t, other.Dir, "rev-parse", "HEAD")
	git(t, m.own, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "mine")
	if now := git(t, other.Dir, "rev-parse", "HEAD"); now != was {
		t.Errorf("a commit in the one has moved the other to %s", now)
	}
}

// A damaged record of what a session's directory was made from leads to no other place.
func TestADamagedOriginLeadsNowhereElse(t *testing.T) {
	m := newMending(t)
	elsewhere := filepath.Join(m.top, "..", "lib")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(m.project, "deps/lib")
	for _, text := range []string{
		`{"from":"` + m.project + `","name":"p","inner":[{"rel":"../../lib","repo":"` + lib + `"}]}`,
		`{"from":"` + m.project + `","name":"../lib","repo":"` + lib + `"}`,
	} {
		if err := os.WriteFile(filepath.Join(m.top, ".origin"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := m.h.MendTrees(t.Context(), "s")
		if left, _ := os.ReadDir(elsewhere); err != nil || len(got.Dirs) > 0 || len(left) > 0 {
			t.Errorf("%s: %+v, %v, %v", text, got, err, left)
		}
	}
}

// A record that is empty, as after a loss of power, is one that is not there: nothing fails.
func TestAnEmptyOriginIsNone(t *testing.T) {
	m := newMending(t)
	if err := os.WriteFile(filepath.Join(m.top, ".origin"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := m.h.MendTrees(t.Context(), "s"); err != nil || len(got.Dirs) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := m.h.Delete(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(m.top); err == nil {
		t.Error("its directory is left")
	}
}
