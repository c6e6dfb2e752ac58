package proof_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// slow is a command that leaves two marks.
const slow = "echo begin >> %LOG; sleep 0.7; echo end >> %LOG; echo said; exit 9"

// SIGTERM and a closed terminal park: the turn stays open, the command runs on with nobody there, and its result
// arrives in the next process.
func TestParkAndResume(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newTalk(t, newPlace(t), "park-"+name, say("running", slow), say("done"))
			a := k.start(t, k.first(bypass)...)
			k.marked(t, "begin")
			if err := a.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			r := a.end(t, 128+int(sig))
			if r.StopReason != session.TurnParked || k.marks() != "begin" {
				t.Errorf("%+v, marks %q", r, k.marks())
			}
			k.marked(t, "end")
			if r = k.run(t, 0, k.again(bypass)...); r.StopReason != session.TurnEndTurn || r.Result != "done" {
				t.Errorf("%+v", r)
			}
			k.sound(t, "begin end")
			if got := k.results(t, k.id); len(got) != 1 || got[0] != "said\nexit code 9" {
				t.Errorf("results %q", got)
			}
			if n := k.kinds(t, k.id, session.KindModelLost); n != 0 {
				t.Errorf("%d calls were lost", n)
			}
		})
	}
}

// SIGINT cancels: the command dies with all its children, the call is answered, and the next prompt works.
func TestCancelAndGoOn(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "cancel", say("running", "echo begin >> %LOG; (sleep 40; echo child >> %LOG) & sleep 30; echo end >> %LOG"), say("as you wish"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r := a.end(t, 130); r.StopReason != session.TurnCancelled {
		t.Errorf("%+v", r)
	}
	k.nothingLeft()
	if r := k.run(t, 0, k.again(bypass, "something else")...); r.StopReason != session.TurnEndTurn || r.Result != "as you wish" || r.Turn != 2 {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin")
	if got := k.results(t, k.id); len(got) != 1 || !strings.Contains(got[0], "ancelled by user") || strings.Contains(got[0], "exit code") {
		t.Errorf("results %q", got)
	}
}

// SIGINT and then SIGKILL: what was asked for before the crash still holds after it.
func TestCancelSurvivesKill(t *testing.T) {
	t.Parallel()
	k := newTalk(t, newPlace(t), "cancel-kill", say("running", "trap '' TERM; echo begin >> %LOG; sleep 30; sleep 30; echo end >> %LOG"), say("never mind"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := until(t.Context(), "the cancel to be in the log", func() bool { return k.kinds(t, k.id, session.KindCancelRequested) == 1 })
	if err != nil {
		t.Fatal(err)
	}
	a.dies(t)
	r := k.run(t, 130, k.again(bypass)...)
	if r.StopReason != session.TurnCancelled {
		t.Errorf("%+v", r)
	}
	k.nothingLeft()
	if r := k.run(t, 0, k.again(bypass, "next")...); r.Result != "never mind" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin")
}
