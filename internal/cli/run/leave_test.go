package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: who cancels a turn is not kept waiting for the words of a handoff, and pays for none; the handoff is there, by
// rule.
func TestCancelledTurnAsksForNoHandoffWords(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[knowledge]\nmin_session = \"0s\"\n")
	mark := filepath.Join(w.Dir, "mark")
	model := w.Scripted(`{"turns":[{"steps":[{"tools":[{"name":"Bash","input":{"command":"touch mark; sleep 60"}}]},{"text":"done"}]}]}`)
	r, wait := w.Start("-p", "--session-id", "s", "--model", model, "--allowed-tools", "Bash", "go")
	clitest.Until(t, "the command runs", func() bool {
		_, err := os.Stat(mark)
		return err == nil
	})
	w.Signals <- syscall.SIGINT
	wait()
	o := r.Read()
	if o.Code != 130 || strings.Contains(o.Stderr, "writes a handoff") {
		t.Errorf("%+v", o)
	}
	log := w.OK("log", "s")
	if strings.Contains(log, "handoff.requested") || !strings.Contains(log, "handoff.written") {
		t.Errorf("%s", log)
	}
}

// Goal: while the words of a handoff are asked for nothing is said to be compacted, and of a call that failed no next try
// is promised, since there is none.
func TestHandoffWordsThatDoNotCome(t *testing.T) {
	for _, screen := range []bool{false, true} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nmin_session = \"0s\"\n")
		w.App.Screen, w.App.Terminal = screen, screen
		model := w.Scripted(`{"turns":[{"steps":[{"text":"done"}]}],"summary":{"fail":[{"class":"server","status":500,"message":"no room"}],"text":"late"}}`)
		o := w.Run("-p", "--session-id", "s", "--model", model, "go")
		all := o.Stdout + o.Stderr
		if o.Code != 0 || !strings.Contains(o.Stdout, "done") || !strings.Contains(all, "the handoff is written from the log") {
			t.Errorf("%+v", o)
		}
		if strings.Contains(all, "next try") || strings.Contains(all, "compacting") {
			t.Errorf("%+v", o)
		}
		if log := w.OK("log", "s"); !strings.Contains(log, "end, by rule") {
			t.Errorf("%s", log)
		}
	}
}
