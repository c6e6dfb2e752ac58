package cli

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/permission"
)

// insideReads are the commands that a session's own commands may run, beside permission.ReadingCommands: they show
// something, or wait for it; where a flag makes one more than that, the command itself refuses it inside. Every other
// command is for a human outside of sessions; a new one too, until it stands here.
var insideReads = []string{"approvals list", "artifact list", "inbox", "permissions list", "task wait", "learn list", "learn show", "config get", "config path", "demo-server", "__complete", "__completeNoDesc"}

// insideFlags are the flags of a run that a session's own commands may give: they open a new session with no more rights
// than it has without them. A mode is judged by its value.
var insideFlags = []string{
	"print", "session-id", "name", "wait", "output-format", "model", "disallowed-tools", "permission-mode", "max-turns",
	"max-budget-usd", "append-system-prompt", "verbose", "help", "version", "no-pager",
}

// guardInside keeps a session's own commands from deciding what a human has to decide, and from prompting, resuming or
// changing a session, their own included. It is asked before any command runs. It is a guard against accidents and
// against a model that helps itself; against a program of the same user that hides where it comes from it is no
// boundary.
func guardInside(a *app.App, cmd *cobra.Command) error {
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
	inside := a.Inside()
	if inside == "" {
		return nil
	}
	return &app.ExitError{Code: app.ExitFailed, Text: what + " is for a human, outside of sessions: " + inside, Hint: "run it in a terminal of your own"}
}

// reads reports a command that only shows something, or only lists its subcommands.
func reads(cmd *cobra.Command) bool {
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return cmd.HasParent() && (cmd.HasAvailableSubCommands() || slices.Contains(permission.ReadingCommands(), path) || slices.Contains(insideReads, path))
}

// guardHome keeps root from changing another user's home: what root writes there the user can no longer read, and what
// the user put there runs as root. Looking is free.
func guardHome(a *app.App, cmd *cobra.Command) error {
	if os.Geteuid() != 0 || reads(cmd) {
		return nil
	}
	home, err := a.HomeDir()
	if err != nil {
		return nil //nolint:nilerr // the command itself says so, if it needs one
	}
	info, err := os.Stat(home)
	if err != nil {
		return nil //nolint:nilerr // a home that is not there is nobody's
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	name := strconv.Itoa(int(st.Uid))
	as := "sudo -u '#" + name + "' perdure …"
	if u, err := user.LookupId(name); err == nil {
		name, as = u.Username, "sudo -u "+u.Username+" perdure …"
	}
	return &app.ExitError{
		Code: app.ExitFailed, Text: fmt.Sprintf("%s belongs to user %s, and you are root: what root writes there, its owner can no longer use", home, name),
		Hint: "run it as that user: " + as + "; or use a home of your own: PERDURE_HOME=DIR",
	}
}
