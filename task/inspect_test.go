package task

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// listenKey turns this test binary into a server that works a little and then waits.
const listenKey = "PERDURE_TEST_LISTEN"

func listenMain() {
	a, err := net.Listen("tcp4", "127.0.0.1:0")
	b, err2 := net.Listen("tcp6", "[::1]:0")
	if err != nil || err2 != nil {
		fmt.Println(err, err2)
		os.Exit(1)
	}
	fmt.Println(a.Addr().(*net.TCPAddr).Port, b.Addr().(*net.TCPAddr).Port)
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		runtime.Gosched()
	}
	fmt.Println("ready")
	_, _ = a.Accept()
}

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
