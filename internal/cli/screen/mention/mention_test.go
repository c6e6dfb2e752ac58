package mention_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/screen/mention"
	"github.com/perdure/perdure/internal/test/needs"
	"github.com/perdure/perdure/internal/ui/composer"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, l *mention.FileList, words string) string {
	t.Helper()
	list, err := l.Files(t.Context(), words, 50)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range list {
		if f.Dir {
			f.Path += "/"
		}
		out = append(out, f.Path)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Goal: in a repository, what it ignores is left out, and so is what is gone; elsewhere all is offered but what tools fill.
// No link is followed.
func TestFileList(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "")
	for _, name := range []string{"main.go", "docs/a b.md", "out/x.o", "node_modules/left/pad.js", ".git-not/x"} {
		write(t, filepath.Join(dir, name), "")
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := mention.NewFileList(dir, func() time.Time { return clock })
	l.GitFor(time.Minute)
	if got := names(t, l, ""); got != ".git-not/ .git-not/x docs/ docs/a b.md link main.go out/ out/x.o" {
		t.Errorf("without a repository: %s", got)
	}
	if _, err := exec.LookPath("git"); err != nil {
		needs.Not(t, "git is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, filepath.Join(dir, ".gitignore"), "out/\nnode_modules\n")
	if got := names(t, l, "main"); got != "main.go" {
		t.Errorf("%s", got)
	}
	clock = clock.Add(time.Minute)
	if got := names(t, l, ""); got != ".git-not/ .git-not/x .gitignore docs/ docs/a b.md link main.go" {
		t.Errorf("in a repository: %s", got)
	}
	if err := os.Remove(filepath.Join(dir, "main.go")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, l, "main"); got != "" {
		t.Errorf("what is gone: %s", got)
	}
	clock = clock.Add(time.Minute)
	typed, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Files(typed, "doc", 9); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
	if got := names(t, l, "notes"); got != "" || l.Kept() != 6 {
		t.Errorf("a question that was given up spoils the list: %d names", l.Kept())
	}
	if _, err := mention.NewFileList(filepath.Join(dir, "none"), time.Now).Files(t.Context(), "", 1); err == nil {
		t.Error("a directory that is not there has files")
	}
}

// Goal: a walk ends with its time.
func TestWalkIsBounded(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x", "b/x", "c/x", "top"} {
		write(t, filepath.Join(dir, name), "")
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := mention.NewFileList(dir, func() time.Time { now = now.Add(mention.WalkFor/2 + 1); return now })
	if got := names(t, l, ""); got != "a/ b/ c/ top" {
		t.Errorf("%s", got)
	}
}

// Goal: the bytes of a file say whether it is an image, and which one.
func TestImages(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"a.png": "\x89PNG\r\n\x1a\nrest", "b.png": "\xff\xd8\xffrest", "c.gif": "GIF89a...", "d.webp": "RIFF\x00\x00\x00\x00WEBPVP8 ",
		"e.png": "#!/bin/sh\n", "f.png": "", "g.png": "\x89PNG\r\n\x1a\n" + strings.Repeat("x", composer.MaxImage),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(home, "h.png"), "\x89PNG\r\n\x1a\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.png"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	i := mention.Images{Dir: dir, UserHome: home}
	for path, media := range map[string]string{"a.png": "image/png", "./b.png": "image/jpeg", filepath.Join(dir, "c.gif"): "image/gif", "d.webp": "image/webp", "~/h.png": "image/png"} {
		img, err := i.Image(t.Context(), path)
		if err != nil || img.Media != media || img.Name != filepath.Base(path) || len(img.Data) == 0 {
			t.Errorf("%s: %+.40v, %v", path, img, err)
		}
	}
	for path, words := range map[string]string{"e.png": "no PNG", "f.png": "no PNG", "g.png": "5.0 MB, more than 5 MB"} {
		if img, err := i.Image(t.Context(), path); err == nil || errors.Is(err, composer.ErrNoFile) || !strings.Contains(err.Error(), words) || img.Data != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"none.png", "pipe.png", "dir.png", "a.png/b.png"} {
		if _, err := i.Image(t.Context(), path); !errors.Is(err, composer.ErrNoFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
