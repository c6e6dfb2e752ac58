package tasks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// taskWait is what task wait was asked for.
type taskWait struct {
	line    string
	timeout time.Duration
	json    bool
	pattern *regexp.Regexp
}

func waitCommand(a *app.App) *cobra.Command {
	w := &taskWait{}
	c := &cobra.Command{
		Use: "wait [SESSION] TASK", Short: "Wait until a task ends, or prints a line",
		Args: app.RangeArgs(1, 2, "a task, or a session and a task"),
		Long: "Waits until a task has ended, with all that it left behind, and prints how; or with --for-line until it has\n" +
			"printed a line that matches, and prints that line. It needs no model, and holds no session: whoever does goes\n" +
			"on. Without SESSION, TASK is an id or a name that one task of this home has, or only one that runs. Lines of the\n" +
			"present attempt count from the beginning of what is kept.\n\n" +
			"Exit codes: the task's own, 128 and the signal's number if one ended it, 1 where nobody knows. With --for-line: 0\n" +
			"the line is there; 1 it ended without such a line. 6: the timeout is over; --json tells it from a task's own 6.",
		Example: "  perdure task wait build --timeout 10m && deploy\n" +
			"  perdure task wait web --for-line 'listening on' && curl localhost:8080",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cmd.Flags().Changed("for-line") {
				if w.pattern, err = regexp.Compile(w.line); err != nil {
					return app.UsageError("--for-line: %v", err)
				}
			}
			if cmd.Flags().Changed("timeout") && w.timeout <= 0 {
				return app.UsageError("--timeout must be more than 0, as in 30s or 10m")
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				t, err := namedTask(ctx, a, h, args)
				if err != nil {
					return err
				}
				return waitTask(ctx, a, h, w, t)
			})
		},
	}
	c.Flags().StringVar(&w.line, "for-line", "", "wait for a line that matches this RE2 `PATTERN`, not for the end")
	c.Flags().DurationVar(&w.timeout, "timeout", 0, "give up after this `TIME`, as in 30s or 10m; exit 6")
	c.Flags().BoolVar(&w.json, "json", false, "print one JSON object")
	return c
}

func waitTask(ctx context.Context, a *app.App, h *homes.Home, w *taskWait, t view.Task) error {
	limited := ctx
	if w.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	news, err := h.Tasks().Wait(limited, t.SessionID, t.ID, w.pattern)
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if err != nil && !late {
		return err
	}
	if w.json {
		if err := a.JSON(struct {
			view.TaskNews
			TimedOut bool `json:"timed_out"`
		}{news, late}); err != nil {
			return err
		}
	}
	return tellNews(a, w, news, late)
}

// tellNews words what a task was waited for came to.
func tellNews(a *app.App, w *taskWait, news view.TaskNews, late bool) error {
	status := fmt.Sprintf("%s %s", news.Task.ID, display.TaskStatus(news.Task))
	if news.Gap > 0 {
		a.Note("%d bytes of its output were dropped before they could be looked at", news.Gap)
	}
	switch {
	case late:
		a.Note("after %s: %s", w.timeout, status)
		return app.Exit(app.ExitLimit)
	case w.pattern == nil:
		if !w.json {
			a.Linef("%s", status)
		}
		return app.Exit(taskCode(command.Status(news.Task.Status), news.Task.ExitCode, news.Task.Signal))
	case news.Line == nil:
		a.Note("%s, and no line matched", status)
		return app.Exit(app.ExitFailed)
	case !w.json:
		a.Linef("%s", display.Safe(*news.Line))
	}
	return nil
}

// taskCode is the exit code of a command that ends as a task did.
func taskCode(status command.Status, code *int, signal string) int {
	switch {
	case status == command.Exited && code != nil:
		return *code
	case status == command.Killed:
		return 128 + int(unix.SignalNum(signal))
	}
	return app.ExitFailed
}
