package attack_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A clone brings symbolic links along. Under a rule for the program, and in bypass, a command that names one asks as if
// it named what the link leads to.
func TestLinksOfTheProjectAsk(t *testing.T) {
	for name, c := range map[string]struct {
		command, made string
		flags         []string
		code          int
	}{
		"hooks":          {"cp evil d/post-commit", "work/.git/hooks/post-commit", []string{"--allowed-tools", "Bash(cp:*)"}, 3},
		"hooks, bypass":  {"cp evil d/post-commit", "work/.git/hooks/post-commit", []string{bypass}, 3},
		"back up":        {"cp evil d/../config", "work/.git/config", []string{bypass}, 3},
		"a pattern":      {"cp evil ?/post-commit", "work/.git/hooks/post-commit", []string{"--allowed-tools", "Bash(cp:*)"}, 3},
		"the user":       {"echo x >> up/.bashrc", "user/.bashrc", []string{bypass}, 3},
		"ordinary":       {"cp evil src/x", "work/other/x", []string{"--allowed-tools", "Bash(cp:*)"}, 0},
		"denied":         {"cat e", "", []string{"--allowed-tools", "Bash(cat:*)", "--disallowed-tools", "Read(.env)"}, 3},
		"denied, bypass": {"cat e", "", []string{bypass, "--disallowed-tools", "Read(.env)"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.work, "evil"), "#!/bin/sh\n")
			w.write(filepath.Join(w.work, ".env"), "TOKEN=abc\n")
			for _, dir := range []string{".git/hooks", "other"} {
				if err := os.MkdirAll(filepath.Join(w.work, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for link, target := range map[string]string{"d": ".git/hooks", "e": ".env", "src": "other", "up": "../user"} {
				if err := os.Symlink(target, filepath.Join(w.work, link)); err != nil {
					t.Fatal(err)
				}
			}
			w.want(c.code, run1("s", w.model(calls(bash(c.command))), c.flags...)...)
			if c.made != "" && exists(filepath.Join(w.root, c.made)) != (c.code == 0) {
				t.Errorf("%s: %s is there: %t", c.command, c.made, c.code != 0)
			}
		})
	}
}

// The session's own directory for temporary files, which is not protected, is no way around: links lead out of it.
func TestLinksInTheTemporaryDirectoryAsk(t *testing.T) {
	w := newWorld(t)
	w.want(3, run1("s", w.model(calls(bash(`ln -s ~ "$TMPDIR/l"; echo x >"$TMPDIR/own"`)), calls(bash(`cat "$TMPDIR/own"; echo x >>"$TMPDIR/own"`)),
		calls(bash(`echo x >> "$TMPDIR/l/.bashrc"`))), bypass)...)
	if got := w.results("s"); len(got) != 2 || exists(filepath.Join(w.user, ".bashrc")) {
		t.Errorf("results %q; a start-up file was written: %t", got, exists(filepath.Join(w.user, ".bashrc")))
	}
}

// A link that a command puts in the place of the temporary directory is taken away before the next command.
func TestTemporaryDirectoryReplaced(t *testing.T) {
	w := newWorld(t)
	w.want(0, run1("s", w.model(calls(bash(`rmdir "$TMPDIR" && ln -s "$PWD" "$TMPDIR"`)), calls(bash(`cd "$TMPDIR" && touch made`))), bypass)...)
	if exists(filepath.Join(w.work, "made")) || !exists(filepath.Join(w.home, "tmp", "s", "made")) {
		t.Error("the next command's temporary files are where the link led")
	}
}
