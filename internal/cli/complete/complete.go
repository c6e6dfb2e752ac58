// Package complete is what a shell offers at a place of a command line: it knows every command by its path, and looks up
// sessions, tasks and what waits in the home.
package complete

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// bashWords stands in for the package bash-completion where that is not installed.
//
//go:embed completion.bash
var bashWords string

// Command is perdure completion.
func Command(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a shell's completion script", Args: app.ExactArgs(1, "bash, zsh or fish"),
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
			return app.UsageError("shell %q: want bash, zsh or fish", args[0])
		},
	}
}

// maxCompletions bounds what one completion offers.
const maxCompletions = 100

// completer offers what may stand at a place of the command line, given the arguments before it.
type completer = cobra.CompletionFunc

// anySession are the commands whose first argument may be any session.
var anySession = []string{"apply", "artifact add", "artifact get", "artifact list", "attach", "checkpoint", "compact", "delete", "diff", "du", "export", "fork", "handoff show", "handoff write", "label", "learn from", "log", "permissions list", "plan", "plan accept", "plan add", "plan diff", "plan edit", "plan refuse", "rename", "restore", "show", "state", "task list", "task watch", "tree", "undo", "usage", "verify"}

// Tree gives every command of the tree, and every flag with known values, its completion.
func Tree(a *app.App, root *cobra.Command) {
	o := offers{a}
	args := map[string]completer{
		"task output": o.tasks(anyTask, 1), "task wait": o.tasks(anyTask, 1), "task restart": o.tasks(anyTask, 1),
		"task attach": o.tasks(stillRuns, 1), "task write": o.tasks(takesInput, 1), "task kill": o.tasks(stillRuns, maxCompletions),
		"task restart-policy": o.policies, "task background": o.sessionsThat(works),
		"approvals allow": o.waits(pending.Approval), "approvals deny": o.waits(pending.Approval), "answer": o.waits(pending.Question),
		"plan set": o.steps, "plan remove": o.steps,
		"approvals list": o.asking, "permissions revoke": o.grants, "permissions forget": o.remembered,
		"pause": o.sessionsThat(is(session.LifecycleOpen)), "close": o.sessionsThat(is(session.LifecycleOpen, session.LifecyclePaused)),
		"reopen": o.sessionsThat(is(session.LifecyclePaused, session.LifecycleClosed)), "takeover": o.sessionsThat(held),
		"config get": firstOf(settingNames), "config set": firstOf(settingNames), "config unset": firstOf(settingNames),
		"send":       o.sessionsThat(is(session.LifecycleOpen, session.LifecyclePaused)),
		"learn show": o.proposals(1), "learn edit": o.proposals(1), "learn accept": o.proposals(maxCompletions), "learn refuse": o.proposals(maxCompletions),
	}
	for _, path := range anySession {
		args[path] = o.sessions
	}
	flags := map[string]completer{
		"resume": o.sessions, "session": o.sessions,
		"permission-mode": fixed(string(permission.ModeDefault), string(permission.ModeAcceptEdits), string(permission.ModePlan), string(permission.ModeBypass)),
		"format":          fixed("bundle", "md", "html", "jsonl"), "secrets": fixed("keep", "redact"), "output-format": fixed("text", "json", "stream-json", "claude-stream-json"),
		"lifecycle": fixed(string(session.LifecycleOpen), string(session.LifecyclePaused), string(session.LifecycleClosed), string(session.LifecycleArchived)),
		"activity":  fixed(homes.Activities()...),
		"scope":     fixed("once", "session", "project", "user", "pattern"), "restart": fixed("never", session.RestartOnReboot),
		"except": o.tasks(stillRuns, maxCompletions), "all": o.asking,
		"in": fixed(search.Kinds()...),
		"by": fixed(sessions.UsageBy...), "lifetime": fixed(string(session.LifetimeDetached), string(session.LifetimeSession), string(session.LifetimeTurn)),
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

// firstOf completes the first argument alone.
func firstOf(values func() []string) completer {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return fixed(values()...)(c, args, prefix)
	}
}

// settingNames are those of the settings, without those that a model's name is a part of.
func settingNames() (out []string) {
	for _, k := range settings.Keys() {
		if !strings.Contains(k.Name, settings.Any) {
			out = append(out, k.Name)
		}
	}
	return out
}
