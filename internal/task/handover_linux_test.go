package task

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// dir is the directory of an act.
func (b *bench) dir(act string) actDir { return actDir(filepath.Join(b.Dir, testSession, act)) }

// stops waits until a process has stopped itself.
func stops(t *testing.T, what string, pid int) {
	t.Helper()
	eventually(t, what, func() bool {
		p, err := readProcess(pid)
		return err == nil && p.State == 'T'
	})
}

// Goal: whoever started a command replaces its dead shim, and finds the stand-in alive that is about to do so as well:
// it leaves the act to it, which holds the command's output and knows how it ends. The stand-in is held up before it
// takes the lock, so that the other one comes first, on any machine.
func TestReplacementLeavesTheActToTheStandIn(t *testing.T) {
	for name, early := range map[string]bool{"of a shim that runs": false, "of a shim that has just begun": true} {
		t.Run(name, func(t *testing.T) { leaveToTheStandIn(t, early) })
	}
}

func leaveToTheStandIn(t *testing.T, early bool) {
	b := newBench(t)
	b.shimEnv = []string{standbyFaultKey + "=wait:begun"}
	if early {
		b.shimEnv = append(b.shimEnv, faultKey+"=kill:gone")
	}
	b.adoptEnv = []string{faultKey + "=stop:adopt-stands-back"}
	started := make(chan error, 1)
	go func() { started <- b.Start(t.Context(), b.script("a", "echo up; "+untilGo+"echo end; exit 42")) }()
	d := b.dir("a")
	var last shimRecord
	eventually(t, "the stand-in is named", func() bool {
		return readRecord(d.path(lockName), &last) == nil && last.Standby > 0 && (early || last.PID > 0 && exists(d.path(runName)))
	})
	if !early {
		if err := syscall.Kill(last.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the stand-in is on its way", func() bool { return exists(d.path("waits")) })
	other := 0 // the replacement that this process has started
	eventually(t, "the replacement stands back, or takes the act", func() bool {
		for _, p := range b.processesOf("a", shimArg) {
			if p.PID != last.Standby && p.State == 'T' {
				other = p.PID
			}
		}
		now, living := d.shim()
		return other > 0 || living && now.PID != last.PID
	})
	if now, living := d.shim(); living {
		t.Fatalf("process %d took the act from the stand-in %d, which is alive", now.PID, last.Standby)
	}
	if held, err := d.held(); held || err != nil {
		t.Fatalf("the lock is held: %v, %v", held, err)
	}
	if err := os.WriteFile(d.path("wake"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stand-in takes over", func() bool {
		now, living := d.shim()
		return living && now.PID == last.Standby
	})
	eventually(t, "every other one leaves", func() bool {
		shims := b.processesOf("a", shimArg)
		for _, p := range shims {
			if p.PID != last.Standby {
				_ = syscall.Kill(p.PID, syscall.SIGCONT) // it stops at each look
			}
		}
		return len(shims) == 1
	})
	if now, living := d.shim(); !living || now.PID != last.Standby {
		t.Errorf("the act is kept by %+v, %v", now, living)
	}
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 42" || b.output("a") != "up\nend\n" || st.MissingAfter != nil {
		t.Errorf("%s, output %q, missing after %v\n%s", code(st), b.output("a"), st.MissingAfter, b.log("a"))
	}
	<-started
}

// Goal: a stand-in that is dead or gone keeps nobody from adopting.
func TestReplacementOfADeadStandIn(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "echo up; "+untilGo+"exit 42"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	d := b.dir("a")
	dead, living := d.shim()
	if !living || dead.Standby == 0 {
		t.Fatalf("shim %+v", dead)
	}
	for _, pid := range []int{dead.Standby, dead.PID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "another one takes over", func() bool {
		now, living := d.shim()
		return living && now.PID != dead.PID
	})
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 42" {
		t.Errorf("%s\n%s", code(st), b.log("a"))
	}
}

// Goal: a stand-in learns that its shim dies before the shim has let go of everything. It waits for the lock then, also
// while the shim still looks alive. Here the shim is stopped for as long as the stand-in looks at it.
func TestStandInWaitsForItsDyingShim(t *testing.T) {
	b := newBench(t)
	b.noRescue = true // nobody else takes over
	b.start(b.script("a", "echo up; "+untilGo+"exit 42"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	d := b.dir("a")
	dying, living := d.shim()
	if !living || dying.Standby != 0 {
		t.Fatalf("shim %+v", dying)
	}
	if err := syscall.Kill(dying.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stops(t, "the shim stands still", dying.PID)
	run, err := d.readRun()
	if err != nil {
		t.Fatal(err)
	}
	next := exec.Command("/proc/self/exe", shimArg, string(d))
	next.Env = append(reexecEnv(adoptArg), bootKey+"="+run.BootID, standbyKey, fmt.Sprintf("%s=%d:%d", ofKey, dying.PID, dying.Ticks), faultKey+"=stop:lock-busy", aloneKey+"=1")
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	stops(t, "the stand-in has found the lock busy", next.Process.Pid)
	if err := syscall.Kill(next.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	// It looks again and again; the shim dies only after it has come back to the same place.
	stops(t, "the stand-in has looked at the living shim and stayed", next.Process.Pid)
	if err := syscall.Kill(dying.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the stand-in takes over", func() bool {
		_ = syscall.Kill(next.Process.Pid, syscall.SIGCONT) // it stops wherever it finds the lock busy
		now, living := d.shim()
		return living && now.PID == next.Process.Pid
	})
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 42" {
		t.Errorf("%s\n%s", code(st), b.log("a"))
	}
	_ = next.Wait()
}
