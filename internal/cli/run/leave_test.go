package run_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

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
		if o.Code != 0 || !strings.Contains(o.Stdout, "done") || !strings.Contains(all, "the handoff is written without its words") {
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
