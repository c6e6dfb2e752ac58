package run_test

import (
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A terminal that takes nothing any more, as that of a connection that hangs, holds no session: a signal ends the
// screen on it all the same, and the terminal's modes are put back.
func TestASignalEndsAScreenWhoseTerminalTakesNothing(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	ann := w.Sit(200, 60, "-r", "s")
	ann.Sees("what is to be done?")
	ann.Deaf()
	if err := ann.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ann.Left(128 + int(syscall.SIGTERM))
}
