package capture_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/tree"
)

// What can be made again is named and not kept; what git ignores is kept if it is small, and marked; a repository's own
// files are never looked into.
func TestWhatIsSkippedIsNamed(t *testing.T) {
	w := newWorld(t, func(c *capture.Config) { c.MaxFile = 4 << 20; c.Keep = []string{"vendor"} })
	w.write(".gitignore", "target/\n.env*\n*.big\nvendor/\nlogs/\n")
	w.write(".git/HEAD", "ref: refs/heads/main\n")
	w.write(".git/info/exclude", "private.txt\n")
	w.write("node_modules/x/index.js", "x")
	w.write("target/debug/a.o", "x")
	w.write("sub/target/a.o", "x")
	w.write("src/build/kept.txt", "a directory that people made")
	w.write("vendor/kept.go", "x")
	w.write("logs/today.log", "x")
	w.write(".env", "KEY=1")
	w.write("private.txt", "x")
	w.write("huge.bin", strings.Repeat("x", 5<<20))
	w.write("data.big", strings.Repeat("x", 2<<20))
	w.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
	w.write("cache/thing", "x")
	if err := syscall.Mkfifo(w.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.capture(capture.Walk)
	got := map[string]capture.Why{}
	for _, s := range r.Skipped {
		got[s.Path] = s.Why
	}
	want := map[string]capture.Why{
		"node_modules": capture.WhyRebuildable, "target": capture.WhyRebuildable, "sub/target": capture.WhyRebuildable,
		"huge.bin": capture.WhyLarge, "data.big": capture.WhyIgnored, "cache": capture.WhyRebuildable, "fifo": capture.WhySpecial,
	}
	for path, why := range want {
		if got[path] != why {
			t.Errorf("%s: skipped as %q, want %q", path, got[path], why)
		}
	}
	if len(got) != len(want) {
		t.Errorf("skipped: %v", got)
	}
	flags := map[string]tree.Flags{}
	if err := tree.Walk(w.blobs, r.Tree, func(path string, e tree.Entry) error { flags[path] = e.Flags; return nil }); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]tree.Flags{
		".env": tree.Private, "private.txt": tree.Private, "logs/today.log": tree.Private, "vendor/kept.go": tree.Private,
		".gitignore": 0, "src/build/kept.txt": 0, ".git": tree.Skipped, "node_modules": tree.Skipped, "huge.bin": tree.Skipped,
	} {
		if f, ok := flags[path]; !ok || f != want {
			t.Errorf("%s: in the tree %v with flags %b, want %b", path, ok, f, want)
		}
	}
	for path := range flags {
		if strings.HasPrefix(path, ".git/") || strings.HasPrefix(path, "node_modules/") || strings.HasPrefix(path, "cache/") {
			t.Errorf("%s is in the tree", path)
		}
	}
	if len(r.Repos) != 1 || r.Repos[0] != "" {
		t.Errorf("repositories: %q", r.Repos)
	}
	// The same by another process, and after the rules have changed.
	w.again()
	if again := w.capture(capture.Walk); again.Tree != r.Tree || len(again.Skipped) != len(r.Skipped) {
		t.Errorf("another process: %d skipped, same tree %v", len(again.Skipped), again.Tree == r.Tree)
	}
	w.write(".gitignore", "nothing\n")
	w.remove("cache/CACHEDIR.TAG")
	for _, rung := range []capture.Rung{capture.Hint, capture.Walk} {
		next := w.capture(rung)
		e, err := tree.Find(w.blobs, next.Tree, ".env")
		if err != nil || e.Flags != 0 {
			t.Errorf("%s: .env is no longer ignored: %+v %v", rung, e, err)
		}
		if _, err := tree.Find(w.blobs, next.Tree, "cache/thing"); err != nil {
			t.Errorf("%s: the directory is no cache any more: %v", rung, err)
		}
		if e, err := tree.Find(w.blobs, next.Tree, "target/debug/a.o"); err != nil || e.Flags != 0 {
			t.Errorf("%s: target is people's now: %+v %v", rung, e, err)
		}
	}
}

// The whole file system, the home directory and what it lies in are refused, as is more than was agreed.
func TestWhatIsNoProjectIsRefused(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", home, filepath.Dir(home)} {
		if _, err := capture.Open(dir, capture.Config{UserHome: home}); !errors.Is(err, capture.ErrRefused) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	if _, err := capture.Open(link, capture.Config{UserHome: home}); !errors.Is(err, capture.ErrRefused) {
		t.Errorf("a link to the home directory: %v", err)
	}
	for what, change := range map[string]func(*capture.Config){
		"files": func(c *capture.Config) { c.MaxFiles = 3 }, "bytes": func(c *capture.Config) { c.MaxBytes = 100 },
	} {
		w := newWorld(t, change)
		w.write("a/1", strings.Repeat("x", 40))
		w.write("a/2", strings.Repeat("x", 40))
		w.write("b/3", "x")
		before := w.capture(capture.Walk)
		w.write("b/4", strings.Repeat("x", 40))
		for range 2 {
			if _, err := w.dir.Capture(t.Context(), capture.Hint); !errors.Is(err, capture.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
		}
		w.remove("b/4")
		if after := w.capture(capture.Hint); after.Tree != before.Tree {
			t.Errorf("%s: after a refusal the tree is another one", what)
		}
	}
}

// The home of sessions is never captured, wherever it lies.
func TestOwnHomeIsLeftOut(t *testing.T) {
	var own string
	w := newWorld(t, func(c *capture.Config) {
		own = filepath.Join(t.TempDir(), "home")
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		c.Avoid = []string{own}
	})
	if err := os.Rename(own, w.path("home")); err != nil {
		t.Fatal(err)
	}
	w.write("home/blobs/x", "x")
	w.write("kept", "x")
	r := w.capture(capture.Walk)
	if len(r.Skipped) != 1 || r.Skipped[0].Why != capture.WhyOwn || r.Files != 1 {
		t.Errorf("captured %d files, skipped %v", r.Files, r.Skipped)
	}
}

// A directory that is gone, or that another has taken the place of, is not taken for one that was emptied.
func TestReplacedRootIsNotEmpty(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a", "x")
	w.capture(capture.Walk)
	if err := os.Rename(w.root, w.root+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.dir.Capture(t.Context(), capture.Hint); err == nil || !capture.IsNotThere(err) {
		t.Errorf("the directory is gone, and the capture says %v", err)
	}
	w.write("b", "y")
	r := w.capture(capture.Hint)
	w.same("replaced", w.content(r.Tree), w.plain())
}
