package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Each command that is to be paged is there, and is.
func TestPagedCommands(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	for _, text := range []string{"a", "b", "c", "d"} {
		w.OK("memory", "add", text)
		w.OK("journal", "add", text)
	}
	root := cli.Root(w.App)
	for _, path := range cli.PagedCommands {
		if c, rest, err := root.Find(strings.Fields(path)); err != nil || len(rest) > 0 || c.RunE == nil {
			t.Errorf("%s: %v %v", path, rest, err)
		}
	}
	w.App.Screen, w.App.Size = true, func() (int, int) { return 80, 3 }
	seen := w.Dir + "/seen"
	w.App.Environ = append(w.App.Environ, "PERDURE_PAGER=cat >"+seen)
	for _, args := range []string{"memory list", "memory log", "journal", "permissions list one", "usage"} {
		if o := w.Run(strings.Fields(args)...); o.Code != 0 || o.Stdout != "" {
			t.Errorf("%s: %+v", args, o)
		}
		if b, err := os.ReadFile(seen); err != nil || len(b) == 0 {
			t.Errorf("%s: the pager got nothing: %v", args, err)
		}
		_ = os.Remove(seen)
	}
	if o := w.Run("memory", "list", "--json"); strings.Count(o.Stdout, "\n") < 4 {
		t.Errorf("what programs read was paged: %+v", o)
	}
}

// A verb that is missing is named, its nearest ones too, and it is never a prompt: nothing is made.
func TestMissingVerbIsNoPrompt(t *testing.T) {
	w := clitest.New(t)
	for line, hint := range map[string]string{
		"fix the bug": "a prompt goes with -p", "lst": "nearest: list", "exprot one": "nearest: export", "shwo one": "nearest: show", "explain this": "a prompt goes with -p",
	} {
		o := w.Run(strings.Fields(line)...)
		word, _, _ := strings.Cut(line, " ")
		if o.Code != app.ExitUsage || !strings.Contains(o.Stderr, "no such command: "+word+"\n") || !strings.Contains(o.Stderr, hint) {
			t.Errorf("%s: %+v", line, o)
		}
	}
	if out := w.OK("list", "--json"); out != "" {
		t.Errorf("a session was made: %s", out)
	}
}
