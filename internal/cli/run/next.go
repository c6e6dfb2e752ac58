package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
)

// GoOn says how to run a session whose wait is over, unless a process runs it or has run it to its turn's end meanwhile.
func GoOn(ctx context.Context, a *app.App, h *homes.Home, id string) {
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return
	}
	calls, again, questions := 0, 0, 0
	for _, w := range pending.Both(st) {
		switch {
		case w.Again:
			again++
		case w.Call.Question != nil:
			questions++
		default:
			calls++
		}
	}
	switch {
	case st.Turn == nil && len(st.Queue) == 0 && info.Holder == nil:
	case info.Holder != nil:
		a.Hint("the process that runs session %s goes on", id)
	case calls+questions > 0:
		a.Hint("%s in it: perdure approvals list %s", stillWait(calls, questions), a.Call(ctx, h, id))
	default:
		if again > 0 {
			a.Hint("%s then: allowed by a rule, or asked", decides(again))
		}
		if gone := (*app.ExitError)(nil); errors.As(whereabouts(a, h, st), &gone) {
			a.Note("%s", gone.Text)
			a.Hint("%s", gone.Hint)
			return
		}
		a.Hint("perdure -p --resume %s goes on", a.Call(ctx, h, id))
	}
}

// ResumeHere runs a session as perdure -p --resume does, unless a process holds it, which then goes on itself.
func ResumeHere(ctx context.Context, a *app.App, id string) error {
	held := false
	err := a.With(ctx, func(h *homes.Home) error {
		info, err := h.Store().Get(ctx, id)
		held = err == nil && info.Holder != nil
		return err
	})
	if err != nil {
		return err
	}
	if held {
		a.Note("session %s goes on in the process that runs it", id)
		return nil
	}
	world := *a
	world.Stdin, world.Terminal = strings.NewReader(""), true // it has no prompt
	world.Asks = false
	return Run(ctx, &world, &Flags{print: true, resume: id, format: output.Text, Changed: func(string) bool { return false }}, nil)
}

// stillWait counts what waits.
func stillWait(calls, questions int) string {
	var things []string
	if calls > 0 {
		things = append(things, display.Count(int64(calls), "call"))
	}
	if questions > 0 {
		things = append(things, display.Count(int64(questions), "question"))
	}
	if calls+questions == 1 {
		return things[0] + " still waits"
	}
	return strings.Join(things, " and ") + " still wait"
}

func decides(calls int) string {
	if calls == 1 {
		return "1 other call is decided again"
	}
	return fmt.Sprintf("%d other calls are decided again", calls)
}
