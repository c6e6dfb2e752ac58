package instructions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/instructions"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start reads what a session begins with, which must not take for ever.
func start(t *testing.T, root, dir string) []instructions.File {
	t.Helper()
	done := make(chan []instructions.File, 1)
	go func() { done <- instructions.Reader{}.Start(root, dir) }()
	select {
	case files := <-done:
		return files
	case <-time.After(20 * time.Second):
		t.Fatal("reading instructions does not end")
		return nil
	}
}

// The end of a long file is cut off, and neither the model nor its user sees that a rule is missing. What is left out is
// said in the text, with its size; what is given is valid text.
func TestWhatIsCutOffIsSaid(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "AGENTS.md"), strings.Repeat("ä", instructions.MaxFile)+" the last rule")
	got := start(t, root, root)
	if len(got) != 1 || !strings.Contains(got[0].Text, fmt.Sprintf("[%d more bytes of this file are left out here.", instructions.MaxFile+14)) ||
		strings.Contains(got[0].Text, "the last rule") || !utf8.ValidString(got[0].Text) || len(got[0].Text) > instructions.MaxFile+200 {
		t.Errorf("%d files, the end: %q", len(got), got[0].Text[len(got[0].Text)-200:])
	}
}

// A file that cannot be instructions (a pipe, which never ends, a binary, a link that leads out of the project, a
// directory) harms no session: it is named with what is wrong, and nothing of it is read.
func TestWhatIsNoInstructions(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, "a secret of somebody else")
	for name, plant := range map[string]func(path string) error{
		"no regular file":  func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"no regular file ": func(path string) error { return os.Mkdir(path, 0o700) },
		"no text":          func(path string) error { return os.WriteFile(path, []byte("\x7fELF\x00\x01"), 0o600) },
		"escapes":          func(path string) error { return os.Symlink(outside, path) },
	} {
		root := t.TempDir()
		if err := plant(filepath.Join(root, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "CLAUDE.md"), "never read beside AGENTS.md")
		got := start(t, root, root)
		if len(got) != 1 || !got[0].Digest.IsZero() || !strings.Contains(got[0].Text, "could not be read") || !strings.Contains(got[0].Text, strings.TrimSpace(name)) ||
			strings.Contains(got[0].Text, "secret of") || strings.Contains(got[0].Text, "never read") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What is allowed: a link that stays in the project, CLAUDE.md where there is no AGENTS.md, bytes that are no UTF-8.
func TestWhatIsRead(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "docs", "rules.md"), "LINKED-RULE \xff\xfe.")
	if err := os.Symlink("docs/rules.md", filepath.Join(root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "CLAUDE.md"), "never read beside AGENTS.md")
	write(t, filepath.Join(root, "pkg", "CLAUDE.md"), "PACKAGE-RULE")
	got := start(t, root, filepath.Join(root, "pkg"))
	if len(got) != 2 || !strings.Contains(got[0].Text, "LINKED-RULE \uFFFD") || got[1].Text != "PACKAGE-RULE" || !utf8.ValidString(got[0].Text) {
		t.Errorf("%+v", got)
	}
	if instructions.Gone(got[1].Path) {
		t.Error("it is there")
	}
	if err := os.Remove(got[1].Path); err != nil || !instructions.Gone(got[1].Path) {
		t.Errorf("it is gone: %v", err)
	}
}

// Fifty directories with a file each: all are read as long as there is room, from the root on, and those that are left
// out are named.
func TestFiftyDirectories(t *testing.T) {
	root := t.TempDir()
	dir := root
	for i := range 50 {
		dir = filepath.Join(dir, "d")
		write(t, filepath.Join(dir, "AGENTS.md"), fmt.Sprintf("RULE-%d\n", i)+strings.Repeat("x", 4000))
	}
	got := start(t, root, dir)
	size, left := 0, 0
	for i, f := range got {
		size += len(f.Text)
		if strings.Contains(f.Text, "left out") {
			left++
		} else if !strings.HasPrefix(f.Text, fmt.Sprintf("RULE-%d\n", i)) {
			t.Errorf("%d: %.40s", i, f.Text)
		}
	}
	if len(got) != 50 || left == 0 || left > 25 || size > instructions.MaxTotal+50*200 {
		t.Errorf("%d files, %d left out, %d bytes", len(got), left, size)
	}
}
