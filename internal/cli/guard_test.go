package cli_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/permission"
	"github.com/spf13/cobra"
)

// What counts as reading is a command of this version, so that no word of a prompt is taken for one.
func TestReadingCommandsExist(t *testing.T) {
	w := clitest.New(t)
	root := cli.Root(w.App)
	root.InitDefaultHelpCmd()
	for _, path := range append(permission.ReadingCommands(), cli.InsideReads...) {
		if strings.HasPrefix(path, "__complete") {
			continue // cobra adds them when they are called
		}
		c, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 || c.CommandPath() != "perdure "+path {
			t.Errorf("%s is no command: %v", path, err)
		}
	}
}

// Goal: a command whose first argument is a session, or a task, completes it.
func TestSessionsAndTasksComplete(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		first, _, _ := strings.Cut(strings.TrimPrefix(c.Use, c.Name()+" "), " ")
		if strings.Contains(first, "ID") || strings.Contains(first, "SESSION") {
			if seen++; c.ValidArgsFunction == nil {
				t.Errorf("%s completes nothing: package complete does not know it", c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cli.Root(clitest.New(t).App))
	if seen < 25 {
		t.Errorf("%d commands were looked at", seen)
	}
}
