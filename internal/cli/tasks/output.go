package tasks

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

const outputHelp = `Writes what is kept of a task's output to stdout, byte for byte; what is no longer kept is told by a line
[N bytes omitted] in its place. Without SESSION, TASK is the id or the name of the one task of this home that has it.

On a terminal only text, newlines, carriage returns and colours are shown, so that a task cannot steer it; --raw, a file
or a pipe get the bytes as they are.

With --new it writes what this reader has not seen, and remembers how far that was once it is written. Each reader has
its own place, and the model's is another one. A terminal is a reader of its own, named tty:DEVICE; without a terminal
the name is cli. --reader NAME is for programs, and for people who move between terminals.

--tail takes the last lines, and --filter chooses among the lines that are read; with --new, the others count as seen.`

func outputCommand(a *app.App) *cobra.Command {
	o := &outputOptions{}
	c := &cobra.Command{
		Use: "output [SESSION] TASK", Short: "Write what a task printed: all of it, its end, or what is new", Args: app.RangeArgs(1, 2, "a session and a task"),
		Long: outputHelp,
		Example: "  perdure task output web --follow --tail 20\n  perdure task output ID bash_2 --new\n" +
			"  perdure task output ID bash_2 --filter 'error|warn'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				t, err := namedTask(ctx, a, h, args)
				if err != nil {
					return err
				}
				if h.Commands() == nil {
					return errors.New("this program cannot read outputs of commands")
				}
				if o.follow {
					return a.WhileRead(ctx, func(ctx context.Context) error { return outputOf(ctx, a, h, t, o) })
				}
				return outputOf(ctx, a, h, t, o)
			})
		},
	}
	o.register(c)
	return c
}

// outputOptions say what of an output is wanted, and how.
type outputOptions struct {
	raw, follow, news, json bool
	reader                  string
	tail                    int // lines; negative: all
	filter                  string
	attempt                 int
	match                   *regexp.Regexp
}

func (o *outputOptions) register(c *cobra.Command) {
	fs := c.Flags()
	fs.BoolVar(&o.news, "new", false, "only what this reader has not seen")
	fs.StringVar(&o.reader, "reader", "", "whose place --new reads from and moves; implies it")
	fs.BoolVarP(&o.follow, "follow", "f", false, "go on until the task ends")
	fs.IntVarP(&o.tail, "tail", "n", -1, "only the last `N` lines")
	fs.StringVar(&o.filter, "filter", "", "only lines that match this RE2 `EXPRESSION`")
	fs.BoolVar(&o.raw, "raw", false, "every byte as it is, on a terminal too; omitted ones are told on stderr only")
	fs.BoolVar(&o.json, "json", false, "one JSON object for each piece: offset, omitted, text or base64")
	fs.IntVar(&o.attempt, "attempt", 0, "of this attempt, `N` from 1; left out: the newest")
}

func (o *outputOptions) check(changed func(string) bool) (err error) {
	o.news = o.news || changed("reader")
	switch {
	case changed("tail") && o.tail < 0:
		return app.UsageError("--tail %d: want a number of lines", o.tail)
	case o.news && o.attempt != 0:
		return app.UsageError("--new reads the newest attempt: leave out --attempt")
	}
	if o.filter != "" {
		if o.match, err = regexp.Compile(o.filter); err != nil {
			return app.UsageError("--filter: %v", err)
		}
	}
	return nil
}

// chooseAttempt makes a view of an earlier attempt of the task. They are kept under the same id.
func chooseAttempt(t view.Task, attempt int) (view.Task, error) {
	first := t.Attempt - len(t.Attempts)
	switch {
	case attempt == 0 || attempt == t.Attempt:
		return t, nil
	case attempt < first || attempt > t.Attempt:
		return t, &app.ExitError{
			Code: app.ExitMissing, Text: fmt.Sprintf("task %s has no attempt %d that is kept", t.ID, attempt),
			Hint: fmt.Sprintf("there are %d to %d", first, t.Attempt),
		}
	}
	t.Act = t.Attempts[attempt-first].Act
	return t, nil
}

// over tells that nothing more will be printed.
func over(st command.State) bool {
	return st.Status != command.Running && st.Stragglers == 0
}
