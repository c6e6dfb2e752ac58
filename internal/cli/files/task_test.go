package files_test

import (
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// What a command in the background did after its turn had ended, and nobody looked, is undone with the turn: it is no
// change of somebody else's. Peers' undo knew only what edit tools had done.
func TestWhatATaskDidAfterItsTurnIsUndone(t *testing.T) {
	p := newProject(t)
	p.write("f", "1\n")
	p.write("gone", "1\n")
	start := p.files()
	m := p.Scripted(`{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":` +
		`"while [ ! -e ../go ]; do sleep 0.05; done; echo 2 > f; rm gone; echo 1 > made","run_in_background":true}}]},{"text":"done"}]}]}`)
	p.run(m, "go")
	p.same("the task waits", start)
	clitest.WriteFile(t, p.Dir+"/go", "")
	p.AwaitTask("s", "bash_1", "exited")
	p.OK("undo", "s", "--yes")
	p.same("the task's doing is undone", start)
}
