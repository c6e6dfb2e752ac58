package proof_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// The shim of a command is killed, with its agent alive and with its agent dead: the command runs on and ends, once,
// and nothing runs again. Its real code and its output arrive all the same, or, where the kernel does not tell a stranger
// how a process ended, the model is told that the outcome is unknown. No code is guessed.
func TestShimKilled(t *testing.T) {
	t.Parallel()
	for _, dead := range []bool{false, true} {
		t.Run("agent dead "+strconv.FormatBool(dead), func(t *testing.T) {
			t.Parallel()
			k := newTalk(t, newPlace(t), "shim", say("slow", slow), say("done"))
			a := k.start(t, k.first(bypass)...)
			k.marked(t, "begin")
			if dead {
				a.dies(t)
			}
			// Its stand-in looks like the shim itself until it has renamed itself.
			if n := k.killShims(); n != 1 && n != 2 {
				t.Fatalf("%d shims", n)
			}
			if dead {
				a = k.start(t, k.again(bypass)...)
			}
			if r := a.end(t, 0); r.Result != "done" {
				t.Errorf("%+v", r)
			}
			k.sound(t, "begin end")
			if told := k.told(t); told != "said\nexit code 9" && !unknown(told) {
				t.Errorf("the model is told %q", told)
			}
		})
	}
}

// told is what the model was told of the one command there was.
func (k *talk) told(t *testing.T) string {
	t.Helper()
	told := strings.Join(k.results(t, k.id), "")
	for ev, err := range k.home.Events(t.Context(), k.id, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := body.(*session.ToolUnknown); ok {
			told += model.Text(u.Content)
		}
	}
	return told
}

// unknown tells that these words admit not to know, and guess nothing.
func unknown(told string) bool {
	return strings.Contains(told, "outcome unknown") && !strings.Contains(told, "exit code")
}

// Everything is killed at once, as by the end of a container: agent, shim and command. The command is not run again, and
// no code is made up for it: at most it is known that it was killed.
func TestEverythingKilled(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "all", say("slow", slow), say("done"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	k.endAll()
	if code, err := a.wait(); err != nil || code != -int(syscall.SIGKILL) {
		t.Fatalf("%d, %v", code, err)
	}
	k.nothingLeft()
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin")
	if told := k.told(t); strings.Contains(told, "exit code") || !unknown(told) && !strings.Contains(told, "killed by SIGKILL") {
		t.Errorf("the model is told %q", told)
	}
}

// The records of the commands are removed while no agent lives. What ran can't be known any more, and is told so.
func TestActsRemoved(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "removed", say("slow", slow), say("done"))
	k.start(t, k.first(bypass)...).diesAt(t, k, "begin")
	k.marked(t, "end")
	k.nothingLeft()
	if err := os.RemoveAll(filepath.Join(k.place.dir, "acts", k.id)); err != nil {
		t.Fatal(err)
	}
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin end")
	if told := k.told(t); !unknown(told) {
		t.Errorf("the model is told %q", told)
	}
}

// A command that somebody kills is told as killed, with no exit code; the agent may be dead at the time.
func TestCommandKilled(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "killed", say("slow", "echo $$ > pid; echo said; echo begin >> %LOG; sleep 30; echo end >> %LOG"), say("done"))
	k.start(t, k.first(bypass)...).diesAt(t, k, "begin")
	b, err := os.ReadFile(filepath.Join(k.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r := k.run(t, 0, k.again(bypass)...)
	got := k.results(t, k.id)
	if r.Result != "done" || len(got) != 1 || !strings.HasPrefix(got[0], "said\nkilled by SIGKILL") || strings.Contains(got[0], "exit code") {
		t.Errorf("%+v, results %q", r, got)
	}
	k.endAll() // the command's own children
	k.sound(t, "begin")
}

// killShims kills the shims of the place and counts them.
func (p *place) killShims() (n int) {
	for _, pid := range pids(p.root) {
		cmdline, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // it may just have ended
		if strings.Contains(string(cmdline), "__perdure-shim") && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}
