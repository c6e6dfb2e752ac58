package cli

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// bashWords stands in for the package bash-completion where that is not installed.
//
//go:embed completion.bash
var bashWords string

func (a *App) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a shell's completion script", Args: exactArgs(1, "bash, zsh or fish"),
		Long: `Print a script that completes commands, flags and their values, sessions, tasks and what waits.

  bash   source <(perdure completion bash)
  zsh    perdure completion zsh > "${fpath[1]}/_perdure"
  fish   perdure completion fish > ~/.config/fish/completions/perdure.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				if _, err := io.WriteString(a.Stdout, bashWords); err != nil {
					return err
				}
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			}
			return usageError("shell %q: want bash, zsh or fish", args[0])
		},
	}
}

// maxCompletions bounds what one completion offers.
const maxCompletions = 100

// completer offers what may stand at a place of the command line, given the arguments before it.
type completer = cobra.CompletionFunc

// complete gives every command of the tree, and every flag with known values, its completion. A command that is not in
// the tables completes sessions, if it completes anything.
func (a *App) complete(root *cobra.Command) {
	args := map[string]completer{
		"task output": a.completeTask(anyTask, 1), "task wait": a.completeTask(anyTask, 1), "task restart": a.completeTask(anyTask, 1),
		"task attach": a.completeTask(stillRuns, 1), "task write": a.completeTask(takesInput, 1), "task kill": a.completeTask(stillRuns, maxCompletions),
		"task restart-policy": a.completePolicy, "task background": a.completeSessionThat(works),
		"approvals allow": a.completeWait(kindApproval), "approvals deny": a.completeWait(kindApproval), "answer": a.completeWait(kindQuestion),
		"approvals list": a.completeAsking, "permissions revoke": a.completeGrant,
		"pause": a.completeSessionThat(is(session.LifecycleOpen)), "close": a.completeSessionThat(is(session.LifecycleOpen, session.LifecyclePaused)),
		"reopen": a.completeSessionThat(is(session.LifecyclePaused, session.LifecycleClosed)), "takeover": a.completeSessionThat(held),
		"send": a.completeSessionThat(is(session.LifecycleOpen, session.LifecyclePaused)),
	}
	flags := map[string]completer{
		"resume": a.completeSession, "session": a.completeSession,
		"permission-mode": fixed(string(permission.ModeDefault), string(permission.ModeAcceptEdits), string(permission.ModePlan), string(permission.ModeBypass)),
		"output-format":   fixed("text", "json", "stream-json", "claude-stream-json"),
		"lifecycle":       fixed(string(session.LifecycleOpen), string(session.LifecyclePaused), string(session.LifecycleClosed), string(session.LifecycleArchived)),
		"activity":        fixed(homes.Activities()...),
		"scope":           fixed("once", "session", "pattern"), "restart": fixed("never", session.RestartOnReboot),
		"except": a.completeTask(stillRuns, maxCompletions), "all": a.completeAsking,
		"by": fixed(usageBy...), "lifetime": fixed(string(session.LifetimeDetached), string(session.LifetimeSession), string(session.LifetimeTurn)),
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		if f := args[path]; f != nil {
			c.ValidArgsFunction = f
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if f := flags[flag.Name]; f != nil && flag.Value.Type() != "bool" {
				_ = c.RegisterFlagCompletionFunc(flag.Name, f) // fails only for a flag that has one
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// fixed completes known values.
func fixed(values ...string) completer {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, prefix) }), cobra.ShellCompDirectiveNoFileComp
	}
}
