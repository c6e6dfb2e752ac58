package ignore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/ignore"
	"github.com/perdure/perdure/internal/test/needs"
)

// What is ignored here is what git ignores, for what people write in ignore files.
func TestRulesAgreeWithGit(t *testing.T) {
	needs.Program(t, "git")
	dir := t.TempDir()
	run(t, dir, "init", "-q", ".")
	outer := "# a comment\n*.log\n!keep.log\n/build/\ntmp/\n.env*\n!.env.example\ndocs/**/private\na/*/c\nnames[0-9]\ntrailing  \n{brace}\n\\!bang\n"
	inner := "*.txt\n!/this.txt\nlocal\n"
	write(t, filepath.Join(dir, ".gitignore"), outer)
	write(t, filepath.Join(dir, "sub", ".gitignore"), inner)
	paths := []string{
		"x.log", "keep.log", "sub/y.log", "sub/keep.log", "build/out.o", "sub/build/out.o", "tmp/a", "sub/tmp/a", ".env", ".env.local",
		".env.example", "docs/private", "docs/a/b/private", "a/b/c", "a/c", "names1", "namesx", "trailing", "{brace}", "brace", "!bang",
		"sub/a.txt", "sub/this.txt", "sub/deep/this.txt", "sub/local", "local", "a.txt",
	}
	for _, p := range paths {
		write(t, filepath.Join(dir, p), "x")
	}
	top := (*ignore.Rules)(nil).Add("", []byte(outer))
	below := top.Add("sub", []byte(inner))
	for _, p := range paths {
		got := false
		parts := strings.Split(p, "/")
		for i := range parts { // who walks does not go into what is ignored
			rules := top
			if i > 0 && parts[0] == "sub" {
				rules = below
			}
			got = got || rules.Ignored(strings.Join(parts[:i+1], "/"), i < len(parts)-1)
		}
		cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "check-ignore", "-q", p)
		if want := cmd.Run() == nil; got != want {
			t.Errorf("%s: ignored %v, git says %v", p, got, want)
		}
	}
	if ignore.Within("a", "ab") || !ignore.Within("a", "a/b") || !ignore.Within("", "x") || below.For("other") != top {
		t.Error("an inner file's rules hold outside of its directory")
	}
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
