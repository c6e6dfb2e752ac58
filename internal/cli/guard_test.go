package cli_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/permission"
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
