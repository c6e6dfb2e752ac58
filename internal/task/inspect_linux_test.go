package task

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A command's tree, what it uses and where it listens are seen, also by the shim's successor; nobody else's.
func TestInspect(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	spec := b.script("a", "")
	spec.Argv = []string{"sh", "-c", `setsid sleep 60 & "$0" & wait`, self}
	spec.Env = append(spec.Env, listenKey+"=1")
	b.start(spec)
	eventually(t, "the server listens", func() bool { return strings.Contains(b.output("a"), "ready") })
	var want []int
	for f := range strings.FieldsSeq(strings.TrimSuffix(b.output("a"), "ready\n")) {
		n := 0
		for _, c := range f {
			n = 10*n + int(c-'0')
		}
		want = append(want, n)
	}
	slices.Sort(want)
	for _, adopted := range []bool{false, true} {
		begin := time.Now()
		in, err := b.Inspect(testSession, "a")
		t.Logf("%+v, %v, %v", in, time.Since(begin), err)
		if err != nil || len(in.PIDs) != 3 || !slices.Contains(in.PIDs, b.state("a").PID) || !slices.Equal(in.Ports, want) ||
			in.CPU == 0 || in.RSS < 1<<20 || in.PSS == 0 || in.PSS > in.RSS || in.Age <= 0 || in.Age > time.Minute {
			t.Errorf("adopted %v: %+v, %v; ports %v", adopted, in, err, want)
		}
		byTable := []int(nil)
		sockets := map[uint64]bool{}
		for _, pid := range in.PIDs {
			addSockets(pid, sockets)
		}
		for _, table := range []string{"net/tcp", "net/tcp6"} {
			readListening(procPath(os.Getpid(), table), sockets, &byTable)
		}
		if slices.Sort(byTable); !slices.Equal(byTable, want) {
			t.Errorf("by the table of all sockets: %v", byTable)
		}
		if !adopted {
			b.killShim("a")
			b.look("a")
		}
	}
	b.Kill(context.Background(), testSession, "a", "user")
	if in, err := b.Inspect(testSession, "a"); err != nil || len(in.PIDs) != 0 {
		t.Errorf("after the end: %+v, %v", in, err)
	}
	if _, err := b.Inspect(testSession, "none"); !errors.Is(err, ErrMissing) {
		t.Errorf("unknown: %v", err)
	}
}
