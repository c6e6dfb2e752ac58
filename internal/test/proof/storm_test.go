package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// Many agents are started on one dead agent's session at the same time. Each one finishes the turn, finds it finished,
// or is turned away; what there was to do is done once.
func TestStorm(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "storm", say("slow", slow), say("again", slow), say("done"))
	k.start(t, k.first(bypass)...).diesAt(t, k, "begin")
	agents := make([]*agent, 6)
	for i := range agents {
		agents[i] = k.start(t, k.again(bypass)...)
	}
	codes := map[int]int{}
	for _, a := range agents {
		code, err := a.wait()
		if err != nil {
			t.Fatal(err)
		}
		codes[code]++
		if code != 0 && code != 5 {
			t.Errorf("exit code %d: %s", code, &a.stderr)
		}
	}
	if codes[0] == 0 {
		t.Errorf("nobody got in: %v", codes)
	}
	k.run(t, 0, k.again(bypass)...)
	if st := k.sound(t, "begin end begin end"); st.Turns != 1 || st.LastTurn.Stop != session.TurnEndTurn {
		t.Errorf("%d turns, %+v", st.Turns, st.LastTurn)
	}
}

// The commands of a human are killed in their middle too, as they enter a system call. Given again, they do what they
// should, once.
func TestVerbsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	killed := 0
	for i, at := range []struct {
		call string
		n    int
	}{{"fdatasync,fsync", 1}, {"fdatasync,fsync", 2}, {"pwrite64", 3}, {"pwrite64", 7}, {"pwrite64", 15}, {"flock", 4}, {"openat", 12}, {"close", 6}} {
		k := newTalk(t, p, fmt.Sprintf("verb-%d", i), say("may I", "echo a >> %LOG"), say("done"))
		r := k.run(t, 3, k.first()...)
		strace := []string{"strace", "-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", "trace=" + at.call, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", at.call, at.n)}
		code, err := k.under(t, strace, "approvals", "allow", r.Waiting[0].ID).wait()
		if err != nil {
			t.Fatal(err)
		}
		if code < 0 {
			killed++
		}
		// A second answer is refused if the first one counted: the session has it, or had accepted it already.
		a := k.start(t, "approvals", "allow", r.Waiting[0].ID)
		if code, err = a.wait(); err != nil || code != 0 && code != 4 && !strings.Contains(a.stderr.String(), "no approval is asked for") {
			t.Errorf("%v: given again: exit code %d, %v: %s", at, code, err, &a.stderr)
		}
		if r := k.run(t, 0, k.again()...); r.Result != "done" {
			t.Errorf("%v: %+v", at, r)
		}
		k.sound(t, "a")
		if n := k.kinds(t, k.id, session.KindApprovalAnswered); n != 1 {
			t.Errorf("%v: %d answers", at, n)
		}
	}
	if killed < 3 {
		t.Errorf("only %d were killed", killed)
	}
}
