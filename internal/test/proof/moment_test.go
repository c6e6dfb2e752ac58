package proof_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// The ways to choose the moment of a kill.
const (
	byDelay   = "after a delay"
	byEvent   = "at an event"
	byStall   = "in mid-stream"
	byCommand = "in mid-command"
	byCall    = "at a system call"
)

// choose picks the kind of moment at which the next agent dies.
func (r *round) choose(kill bool) string {
	if !kill {
		return ""
	}
	return []string{byDelay, byDelay, byEvent, byEvent, byStall, byCommand, byCall, byCall}[r.rng.IntN(8)]
}

// calls are the system calls at which an agent is killed, with a bound of how many it is let make before.
var calls = []struct {
	name string
	most int
}{
	{"fdatasync,fsync", 12},
	{"pwrite64", 60},
	{"write", 40},
	{"openat", 40},
	{"clone,vfork,clone3", 6},
	{"flock", 20},
	{"renameat,renameat2,rename", 4},
	{"linkat,link", 4},
	{"unlinkat,unlink", 6},
	{"connect", 3},
	{"read", 60},
	{"close", 40},
}

// wrap is the program through which the agent is started: strace, which kills it as it enters a system call for the
// nth time. It lets go of the shims when they are executed.
func (r *round) wrap(how string) []string {
	if how != byCall {
		return nil
	}
	c := calls[r.rng.IntN(len(calls))]
	n := 1 + r.rng.IntN(c.most)
	return []string{
		"strace", "-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", "trace=" + c.name, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", c.name, n),
	}
}

// strike kills an agent at some moment, and reports whether it was still alive.
func (r *round) strike(ctx context.Context, a *agent, how string) (bool, error) {
	timer := time.NewTimer(time.Duration(r.rng.Int64N(int64(1500 * time.Millisecond))))
	defer timer.Stop()
	hit := make(chan struct{})
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	switch {
	case how == byCall:
		timer.Reset(8 * time.Second) // an agent that is watched is slow
	case how != byDelay:
		// The delay stays as a bound: the moment may never come.
		timer.Reset(2500 * time.Millisecond)
		go r.moment(waiting, a, how, r.rng.IntN(40)+1, hit)
	}
	select {
	case <-timer.C:
		how = byDelay
	case <-hit:
	case <-a.out:
	case <-ctx.Done():
	}
	killed, err := a.kill()
	if killed {
		r.kills[how]++
	}
	return killed, errors.Join(err, ctx.Err())
}

// moment closes hit when the marked moment has come.
func (r *round) moment(ctx context.Context, a *agent, how string, n int, hit chan<- struct{}) {
	switch how {
	case byEvent:
		if a.printed(n) {
			close(hit)
		}
	case byStall:
		for _, name := range r.plan.stalls {
			go func() {
				if r.server.WaitStalled(ctx, name, 1) == nil {
					select {
					case hit <- struct{}{}:
					case <-ctx.Done():
					}
				}
			}()
		}
	case byCommand:
		if r.commandRuns(ctx) {
			close(hit)
		}
	}
}

// commandRuns waits until a command that has not begun yet begins.
func (r *round) commandRuns(ctx context.Context) bool {
	begun := func() int {
		b, _ := os.ReadFile(r.plan.log) // it may not be there yet
		return strings.Count(string(b), "begin-")
	}
	before := begun()
	return until(ctx, "a command", func() bool { return begun() > before }) == nil
}
