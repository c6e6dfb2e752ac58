package task

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// Whether a command can be executed is told as its exec stage would find it: by the PATH of its own environment, from
// its own directory, and in words that name the program.
func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o700, "text": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		argv, cwd, path string
		want            string // in the error's text; empty: none
		missing         bool   // it is command.ErrNoProgram
	}{
		{"", dir, "", "", false},
		{"", dir + "/none", "", "not a directory or not reachable", false},
		{"", dir + "/program", "", "not a directory or not reachable", false},
		{"program", "/", dir, "", false},
		{"program", "/", "/none:" + dir, "", false},
		{"program", dir, ".", "program: command not found", true},
		{"text", "/", dir, "text: command not found", true},
		{"./program", dir, "", "", false},
		{"./program", "/", dir, "./program: ", true},
		{"sub/../program", dir, "", "", false},
		{"program/x", dir, "", "program/x: not a directory", true},
		{dir + "/program", "/", "", "", false},
		{dir + "/program/x", "/", "", "not a directory", true},
		{dir + "/none", "/", "", "no such file", true},
		{dir + "/sub", "/", "", "is a directory", false},
		{dir + "/text", "/", "", "it may not be executed", false},
	} {
		var argv []string
		if c.argv != "" {
			argv = []string{c.argv, "argument"}
		}
		err := CheckProgram(argv, c.cwd, []string{"PATH=/none", "PATH=" + c.path})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.Is(err, command.ErrNoProgram) != c.missing {
			t.Errorf("%s in %s by %q: %v", c.argv, c.cwd, c.path, err)
		}
	}
}
