package attack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A project's own directory stands first in PATH, as with npm, venv and direnv. A command that only reads runs unasked as
// long as the system's program is meant; one that the project, or the agent itself, put there is asked about.
func TestProgramsOfTheProjectAsk(t *testing.T) {
	for name, last := range map[string]struct {
		command string
		code    int
	}{"another": {"cat README", 0}, "planted": {"ls", 3}, "by a wrapper": {"timeout 9 ls", 3}, "piped": {"cat README | ls", 3}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			bin := filepath.Join(w.work, "node_modules", ".bin")
			w.write(filepath.Join(bin, "keep"), "")
			w.write(filepath.Join(w.work, "README"), "hello\n")
			w.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
			w.write(filepath.Join(bin, "ls"), "#!/bin/sh\ntouch PWNED\n")
			if err := os.Chmod(filepath.Join(bin, "ls"), 0o755); err != nil {
				t.Fatal(err)
			}
			// Nothing is wrong with the world: the shell does run it.
			shell := exec.Command("bash", "--noprofile", "--norc", "-c", "ls")
			shell.Dir, shell.Env = w.work, w.environ()
			if err := shell.Run(); err != nil || !exists(filepath.Join(w.work, "PWNED")) {
				t.Fatalf("the shell does not run the planted program: %v", err)
			}
			if err := os.Remove(filepath.Join(w.work, "PWNED")); err != nil {
				t.Fatal(err)
			}
			w.want(last.code, run1("s", w.model(calls(bash(last.command))))...)
			if exists(filepath.Join(w.work, "PWNED")) {
				t.Error("a program of the project ran")
			}
		})
	}
}

// A library that the project ships is in the linker's list: then no program is the system's.
func TestLibrariesOfTheProjectAsk(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"LD_LIBRARY_PATH=" + filepath.Join(w.work, "lib")}
	w.want(3, run1("s", w.model(calls(bash("ls"))))...)
}
