package tasks

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// taskFlags say how a task is to be run.
type taskFlags struct {
	stdin, tty bool
	size       string
	lifetime   string
	limits     map[string]*string // by the names of the configuration
}

// defaultSize is that of a task's terminal, in columns and rows.
const defaultSize = "120x40"

func (f *taskFlags) register(c *cobra.Command) {
	fs := c.Flags()
	fs.BoolVar(&f.stdin, "stdin", false, "keep its input open, for perdure task write; without it the input is empty")
	fs.BoolVar(&f.tty, "tty", false, "run it on a terminal of its own, for perdure task attach and write")
	fs.StringVar(&f.size, "size", defaultSize, "with --tty: `COLUMNSxROWS` of the terminal at first")
	fs.StringVar(&f.lifetime, "lifetime", string(session.LifetimeDetached),
		"what ends it if it does not end by itself: `WHEN` is detached (a kill), session (its session is closed) or turn (its turn ends)")
	f.limits = map[string]*string{
		"cpu":    fs.String("cpu", "", "processor `TIME` that each of its processes may use, as in 60s"),
		"memory": fs.String("memory", "", "`SIZE` that its processes may use together, where cgroups allow it, else the address space of each; as in 1GiB"),
		"files":  fs.String("files", "", "`N` files that each of its processes may have open"),
		"wall":   fs.String("wall", "", "`TIME` after which it is killed, as in 10m"),
	}
}

// settings checks the flags. What they leave open is as the configuration says.
func (f *taskFlags) settings(c *cobra.Command, bounds command.Limits) (set session.TaskSettings, err error) {
	set.Stdin = f.stdin
	if f.tty {
		if set.TTY, err = parseTerminal(f.size); err != nil {
			return set, err
		}
	} else if c.Flags().Changed("size") {
		return set, app.UsageError("--size goes with --tty")
	}
	set.Lifetime = session.Lifetime(f.lifetime)
	if !set.Lifetime.Known() {
		return set, app.UsageError("lifetime %q: use detached, session or turn", f.lifetime)
	}
	if set.Lifetime == session.LifetimeDetached {
		set.Lifetime = ""
	}
	set.Limits = bounds
	for name, value := range f.limits {
		if !c.Flags().Changed(name) {
			continue
		}
		if err := settings.SetLimit(&set.Limits, name, *value); err != nil {
			return set, app.UsageError("--%s: %v", name, err)
		}
	}
	return set, nil
}

// parseTerminal reads columns and rows.
func parseTerminal(text string) (*command.TerminalSize, error) {
	cols, rows, ok := strings.Cut(text, "x")
	c, cerr := strconv.ParseUint(cols, 10, 16)
	r, rerr := strconv.ParseUint(rows, 10, 16)
	if !ok || cerr != nil || rerr != nil || c == 0 || r == 0 {
		return nil, app.UsageError("size %q: want COLUMNSxROWS, as in %s", text, defaultSize)
	}
	return &command.TerminalSize{Rows: uint16(r), Cols: uint16(c)}, nil
}
