package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/permission"
)

// insideReads are the commands that a session's own commands may run, beside permission.ReadingCommands: they show
// something, or wait for it. Every other command is for a human outside of sessions; a new one too, until it stands here.
var insideReads = []string{"approvals list", "permissions list", "task wait", "demo-server", "__complete", "__completeNoDesc"}

// insideFlags are the flags of a run that a session's own commands may give: they open a new session with no more rights
// than it has without them. A mode is judged by its value.
var insideFlags = []string{
	"print", "session-id", "name", "wait", "output-format", "model", "disallowed-tools", "permission-mode", "max-turns",
	"max-budget-usd", "append-system-prompt", "verbose", "help", "version",
}

// guardInside keeps a session's own commands from deciding what a human has to decide, and from prompting, resuming or
// changing a session, their own included. It is asked before any command runs. It is a guard against accidents and
// against a model that helps itself; against a program of the same user that hides where it comes from it is no
// boundary.
func (a *App) guardInside(cmd *cobra.Command) error {
	what := ""
	switch {
	case !cmd.HasParent():
		cmd.Flags().Visit(func(f *pflag.Flag) {
			narrow := f.Name != "permission-mode" || f.Value.String() == string(permission.ModePlan) || f.Value.String() == string(permission.ModeDefault)
			if what == "" && (!narrow || !slices.Contains(insideFlags, f.Name)) {
				what = cmd.Name() + " -p --" + f.Name
			}
		})
	case !reads(cmd):
		what = cmd.CommandPath()
	}
	if what == "" {
		return nil
	}
	inside := a.inside()
	if inside == "" {
		return nil
	}
	return &exitError{code: exitFailed, text: what + " is for a human, outside of sessions: " + inside, hint: "run it in a terminal of your own"}
}

// reads reports a command that only shows something, or only lists its subcommands.
func reads(cmd *cobra.Command) bool {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return cmd.HasParent() && (cmd.HasAvailableSubCommands() || slices.Contains(permission.ReadingCommands(), path) || slices.Contains(insideReads, path))
}

// inside says how it is known that this process belongs to a session's command, or nothing.
func (a *App) inside() string {
	if id := a.getenv("PERDURE_SESSION_ID"); id != "" {
		return "PERDURE_SESSION_ID is set: this is a command of session " + shown(id, 128)
	}
	if a.getenv("PERDURE_ACT") != "" {
		return "PERDURE_ACT is set: this is a command of a session"
	}
	if shimAbove(os.Getpid(), parentAndArgs) > 0 {
		return "this process was started by a command of a session"
	}
	return ""
}

// shimArgument is how a shim is recognised: its second-last argument is this, its last is its act directory.
const shimArgument = "__perdure-shim"

// maxDepth bounds the walk up the process tree.
const maxDepth = 4096

// shimAbove looks for a shim among the ancestors of a process, up to pid 1, and returns its pid; 0 is none. The shim of
// any home counts, for a home has more names than one. What cannot be read ends the walk: it belongs to another user.
func shimAbove(pid int, look func(pid int) (parent int, args []string, err error)) int {
	for range maxDepth {
		parent, args, err := look(pid)
		if err != nil {
			return 0
		}
		if n := len(args); n >= 3 && args[n-2] == shimArgument && strings.HasPrefix(args[n-1], "/") {
			return pid
		}
		if parent <= 0 || pid == 1 {
			return 0
		}
		pid = parent
	}
	return 0
}
