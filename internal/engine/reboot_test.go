package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// Goal: of a command whose records a power failure took, too, the reboot is told as the reason; within one boot it is
// the missing directory.
func TestRebootTookTheRecords(t *testing.T) {
	for boot, want := range map[string]string{"b": "dir_missing", "c": "reboot"} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true}`), use("b", "Bash", `{"command":"sleep"}`))
			p, se := s.start("go")
			se = restart(t, p, se)
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				synctest.Wait()
				stop()
			}()
			if err := se.Run(ctx); err == nil {
				t.Error("the run ended by itself")
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			cmds.mu.Lock()
			if len(cmds.cmds) != 2 {
				t.Errorf("%d commands", len(cmds.cmds))
			}
			clear(cmds.cmds)
			cmds.mu.Unlock()
			before := s.config
			s.config = func(c *engine.Config) {
				before(c)
				c.BootID = boot
			}
			se = s.process().open(bypass)
			st := run(t, se)
			if got := st.Tasks[0]; got.Status != command.Lost || got.Reason != want {
				t.Errorf("after boot %s the task is %s (%s), want %s", boot, got.Status, got.Reason, want)
			}
			told := st.Settled[len(st.Settled)-1]
			if told.Outcome != session.OutcomeUnknown || told.Reason != "lost: "+want {
				t.Errorf("after boot %s the act is %s (%s), want %s", boot, told.Outcome, told.Reason, want)
			}
			report := ""
			for _, r := range se.Recovered() {
				report += r.Text + "\n"
			}
			if !strings.Contains(report, "is lost ("+want+")") {
				t.Errorf("reported: %s", report)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}
