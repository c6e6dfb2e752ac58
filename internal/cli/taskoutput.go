package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

const outputHelp = `Writes what is kept of a task's output to stdout, byte for byte; what is no longer kept is told by a line
[N bytes omitted] in its place. Without SESSION, TASK is the id or the name of the one task of this home that has it.

On a terminal only text, newlines, carriage returns and colours are shown, so that a task cannot steer it; --raw, a file
or a pipe get the bytes as they are.

With --new it writes what this reader has not seen, and remembers how far that was once it is written. Each reader has
its own place, and the model's is another one. A terminal is a reader of its own, named tty:DEVICE; without a terminal
the name is cli. --reader NAME is for programs, and for people who move between terminals.

--tail takes the last lines, and --filter chooses among the lines that are read; with --new, the others count as seen.`

func (a *App) taskOutputCommand() *cobra.Command {
	o := &outputOptions{}
	c := &cobra.Command{
		Use: "output [SESSION] TASK", Short: "Write what a task printed: all of it, its end, or what is new", Args: rangeArgs(1, 2, "a session and a task"),
		Long: outputHelp, ValidArgsFunction: a.completeSession,
		Example: "  perdure task output web --follow --tail 20\n  perdure task output ID bash_2 --new\n" +
			"  perdure task output ID bash_2 --filter 'error|warn'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				t, err := a.namedTask(ctx, h, args)
				if err != nil {
					return err
				}
				if h.Commands() == nil {
					return errors.New("this program cannot read outputs of commands")
				}
				return a.outputOf(ctx, h, t, o)
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
		return usageError("--tail %d: want a number of lines", o.tail)
	case o.news && o.attempt != 0:
		return usageError("--new reads the newest attempt: leave out --attempt")
	case changed("reader") && o.reader == "":
		return usageError("--reader needs a name")
	}
	if o.filter != "" {
		if o.match, err = regexp.Compile(o.filter); err != nil {
			return usageError("--filter: %v", err)
		}
	}
	return nil
}

// chooseAttempt makes a view of an earlier attempt of the task. They are kept under the same id.
func chooseAttempt(t perdure.TaskView, attempt int) (perdure.TaskView, error) {
	first := t.Attempt - len(t.Attempts)
	switch {
	case attempt == 0 || attempt == t.Attempt:
		return t, nil
	case attempt < first || attempt > t.Attempt:
		return t, &exitError{
			code: exitMissing, text: fmt.Sprintf("task %s has no attempt %d that is kept", t.ID, attempt),
			hint: fmt.Sprintf("there are %d to %d", first, t.Attempt),
		}
	}
	t.Act = t.Attempts[attempt-first].Act
	return t, nil
}

// namedTask finds a task by session and id, or by an id or a name that one task of the home has.
func (a *App) namedTask(ctx context.Context, h *perdure.Home, args []string) (perdure.TaskView, error) {
	if len(args) == 2 {
		id, err := resolve(ctx, h, args[0])
		if err != nil {
			return perdure.TaskView{}, err
		}
		st, err := h.State(ctx, id)
		if err != nil {
			return perdure.TaskView{}, err
		}
		return findTask(h, st, args[1])
	}
	name := args[0]
	tasks, err := a.allTasks(ctx, h)
	if err != nil {
		return perdure.TaskView{}, err
	}
	found := slices.DeleteFunc(slices.Clone(tasks), func(t perdure.TaskView) bool { return t.ID != name && t.Name != name })
	if live := slices.DeleteFunc(slices.Clone(found), func(t perdure.TaskView) bool { return !t.Live() }); len(live) == 1 {
		return live[0], nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return a.onlyTask(ctx, h, name)
	}
	const most = 5
	var where []string
	for _, t := range found[:min(len(found), most)] {
		where = append(where, t.SessionID+" "+t.ID)
	}
	if len(found) > most {
		where = append(where, "…")
	}
	return perdure.TaskView{}, &exitError{
		code: exitUsage, text: fmt.Sprintf("%d tasks are called %q", len(found), name), hint: "name the session too: " + strings.Join(where, ", "),
	}
}

// onlyTask is the task of a session that has no other.
func (a *App) onlyTask(ctx context.Context, h *perdure.Home, name string) (perdure.TaskView, error) {
	none := &exitError{
		code: exitMissing, text: fmt.Sprintf("no session has a task %q", name), hint: "perdure task list shows them all",
	}
	id, err := resolve(ctx, h, name)
	if err != nil {
		return perdure.TaskView{}, none
	}
	tasks, err := h.Tasks(ctx, id)
	switch {
	case err != nil:
		return perdure.TaskView{}, err
	case len(tasks) == 0:
		return perdure.TaskView{}, none
	case len(tasks) > 1:
		return perdure.TaskView{}, usageError("session %s has %d tasks: want a session and a task", id, len(tasks))
	}
	return tasks[0], nil
}

// over tells that nothing more will be printed.
func over(st session.CommandState) bool {
	return st.Status != session.CommandRunning && st.Stragglers == 0
}
