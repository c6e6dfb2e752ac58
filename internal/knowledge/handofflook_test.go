package knowledge

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/test/needs"
)

// Goal: what a handoff names is looked at where it is said to lie, commits in the repository; what nobody can look at is
// not called gone.
func TestLookAtWhatIsNamed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		needs.Not(t, "git is not installed")
	}
	w := newWorld(t)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = w.cfg.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD")
	cmd.Dir = w.cfg.Dir
	head, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	hash := strings.TrimSpace(string(head))
	for name, when := range map[string]time.Time{"sub/old.go": testTime.Add(-time.Hour), "sub/new.go": testTime.Add(time.Hour)} {
		at := filepath.Join(w.cfg.Dir, name)
		w.write(at, "x")
		if err := os.Chtimes(at, when, when); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(w.cfg.Dir, "HANDOFF.md")
	w.write(at, "## Done\n- commit "+hash+" of sub/old.go, sub/new.go, sub/gone.go and "+w.cfg.Dir+"/sub, commit 0123abc\n- "+filepath.Join(w.cfg.Dir, "sub/old.go/below.go")+"\n")
	if err := os.Chtimes(at, testTime, testTime); err != nil {
		t.Fatal(err)
	}
	h := w.open().Handoffs()
	look := func() []string {
		f, ok, err := h.Read()
		if err != nil || !ok {
			t.Fatal(err)
		}
		d, stale, err := h.Look(t.Context(), f, testTime.Add(3*time.Hour))
		if err != nil || stale.Age != "3 hours old" || d.Directory != w.cfg.Dir {
			t.Fatalf("%+v, %v", stale, err)
		}
		var out []string
		for _, s := range stale.Things {
			out = append(out, strings.TrimPrefix(s.Name, w.cfg.Dir+"/")+" "+s.Change)
		}
		return out
	}
	want := []string{"sub/new.go " + handoff.Changed, "sub/gone.go " + handoff.Gone, "sub/old.go/below.go " + handoff.Gone, "0123abc " + handoff.Gone}
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(w.cfg.Dir, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if got := look(); !slices.Equal(got, want[:3]) {
		t.Errorf("without a repository that can be read: %q", got)
	}
}
