//go:build linux || darwin

package task

import (
	"context"
	"os/exec"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// copyOf is a Runner on a copy of all that b keeps, as a backup or a snapshot of a home is.
func (b *bench) copyOf() *bench {
	b.t.Helper()
	dir := b.t.TempDir()
	if out, err := exec.Command("cp", "-a", b.Dir+"/.", dir).CombinedOutput(); err != nil {
		b.t.Fatalf("copy: %v: %s", err, out)
	}
	return &bench{Runner: &Runner{Dir: dir, Grace: b.Grace}, t: b.t, cwd: b.cwd}
}

// What is done to a copy of a directory reaches nobody who runs under the original: not by a kill, nor by what makes
// way for a deletion, whether the shim lives or not.
func TestACopyReachesNobody(t *testing.T) {
	for _, tc := range []struct {
		name string
		shim bool
	}{{"shim lives", true}, {"shim died", false}} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t)
			b.noRescue = !tc.shim
			b.start(b.script("a", "echo before; "+untilGo+"echo after; exit 42"))
			eventually(t, "it prints", func() bool { return b.output("a") != "" })
			if !tc.shim {
				b.killShim("a")
			}
			c := b.copyOf()
			if st := c.look("a"); code(st) != "lost copied" {
				t.Errorf("in the copy: %s, want lost copied", code(st))
			}
			if err := c.Kill(context.Background(), testSession, "a", "user"); err != nil {
				t.Error(err)
			}
			if err := c.Remove(testSession, "a"); err != nil {
				t.Error(err)
			}
			if st := b.look("a"); st.Status != command.Running {
				t.Fatalf("the original: %s", code(st))
			}
			b.touch("go")
			if st := b.wait("a"); code(st) != "exited 42" || b.output("a") != "before\nafter\n" {
				t.Errorf("the original: %s, output %q", code(st), b.output("a"))
			}
		})
	}
}

// A copy of a command that is over, but has left a process behind, does not reach that process.
func TestACopyReachesNoStraggler(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "(until [ -e go ]; do sleep 0.01; done) & exit 3"))
	eventually(t, "it left a process", func() bool { return b.look("a").Stragglers > 0 })
	c := b.copyOf()
	if st := c.look("a"); code(st) != "exited 3" || st.Stragglers != 0 {
		t.Errorf("in the copy: %s, %d stragglers", code(st), st.Stragglers)
	}
	if err := c.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Error(err)
	}
	if st := b.look("a"); st.Stragglers == 0 {
		t.Error("the original's straggler is gone")
	}
	b.touch("go")
	b.left("a")
}

// A directory that was moved is no copy: whoever looks there reaches the command.
func TestAMovedDirectoryReachesItsCommand(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", untilGo))
	eventually(t, "it runs", func() bool { return b.state("a").PID > 0 })
	moved := t.TempDir() + "/moved"
	if out, err := exec.Command("mv", b.Dir, moved).CombinedOutput(); err != nil {
		t.Fatalf("move: %v: %s", err, out)
	}
	b.Dir = moved
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Fatal(err)
	}
	if st := b.state("a"); code(st) != "killed SIGTERM by user" {
		t.Errorf("state %s", code(st))
	}
}
