package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/live"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// tellCalls prints the tool calls that finished after a seq, with what the model was told.
func (s *story) tellCalls(ctx context.Context, since int64) error {
	var calls live.Calls
	for ev, err := range s.Home.Events(ctx, s.ID, 1, 0) {
		if err != nil {
			return err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		calls.See(body, ev.Time)
		if b, ok := body.(*session.ToolFinished); ok && ev.Seq > since {
			s.tellCall(calls.Of(b.Act).Tool, b)
		}
	}
	return nil
}

func (s *story) tellCall(tool string, b *session.ToolFinished) {
	mark := ""
	if b.Collected {
		mark = "  <- of the command that was interrupted"
	}
	const most = 7
	lines := live.Result(b.Content, most)
	s.say("   %-10s %s%s", tool, lines[0], mark)
	for _, l := range lines[1:] {
		s.say("   %-10s %s", "", l)
	}
}

// check proves what the story claims.
func (s *story) check(ctx context.Context) error {
	runs, err := os.ReadFile(filepath.Join(s.dir, "runs.log"))
	if err != nil {
		return err
	}
	n := strings.Count(string(runs), "\n")
	before, after := s.before.Task("bash_1"), s.after.Task("bash_1")
	if before == nil || after == nil || before.PID != after.PID || after.Status != command.Running {
		return fmt.Errorf("the dev server should still run as bash_1 under the same pid: %+v, %+v", before, after)
	}
	live, err := s.Home.Commands().State(s.ID, after.Act)
	if err != nil {
		return err
	}
	switch {
	case n != 2:
		return fmt.Errorf("the checks should have run twice, once for each time they were asked for, not %d times", n)
	case live.Status != command.Running:
		return fmt.Errorf("the dev server is %s", live.Status)
	case len(s.after.Permissions.Grants) != 1:
		return errors.New("the grant should be back")
	case after.Position <= before.Position:
		return errors.New("new output of the server should have been read")
	case s.after.Total().Output <= s.before.Total().Output:
		return errors.New("usage should go on from where it was")
	}
	s.say("5. What held:")
	s.say("   the killed command ran once, and its real exit code 3 and full output arrived")
	s.say("   the server: still bash_1, pid %d; the second BashOutput showed only bytes %d to %d", after.PID, before.Position, after.Position)
	s.say("   the grant for %q was used again without asking; the plan: %d of %d steps done", checks, done(s.after.Plan), len(s.after.Plan))
	u, v := s.before.Total(), s.after.Total()
	s.say("   usage went on: %d input and %d output tokens before the kill, %d and %d at the end", u.Input, u.Output, v.Input, v.Output)
	return nil
}

func done(plan []session.Step) (n int) {
	for _, p := range plan {
		if p.Status == session.StepDone {
			n++
		}
	}
	return n
}

// audit prints the log and verifies it.
func (s *story) audit(ctx context.Context) error {
	s.say("6. The audit trail from the approval on (%d events in all, each chained to the one before):", s.after.Head.Seq)
	for ev, err := range s.Home.Events(ctx, s.ID, s.asked, 0) {
		if err != nil {
			return err
		}
		if isLandmark(ev.Kind) {
			s.say("   %4d  %s  %-18s %-6s %s", ev.Seq, time.UnixMilli(ev.Time).Format("15:04:05.000"), ev.Kind, ev.Actor.Type, ev.Hash.String()[:12])
		}
	}
	faults, err := s.Home.Verify(ctx, s.ID)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("verify: %s", strings.Join(faults, "; "))
	}
	s.say("   perdure verify %s: ok\n", s.ID)
	return nil
}

func isLandmark(k store.Kind) bool {
	switch k {
	case session.KindOpened, session.KindResumed, session.KindTurnStarted, session.KindTurnEnded, session.KindApprovalRequested,
		session.KindApprovalAnswered, session.KindTaskStarted, session.KindToolStarted, session.KindToolFinished:
		return true
	default:
		return false
	}
}

// farewell names what is left.
func (s *story) farewell(context.Context) error {
	t := s.after.Task("bash_1")
	s.say("Done in %.1f s. Left behind:", time.Since(s.started).Seconds())
	s.say("   the dev server, pid %d. End it with: kill %d", t.PID, t.PID)
	s.say("   the project in %s", s.dir)
	s.say("   the session in %s. Look at it with: PERDURE_HOME=%s perdure show %s", s.Home.Dir(), s.Home.Dir(), s.ID)
	return nil
}
