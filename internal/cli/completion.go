package cli

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
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
		"task output": a.completeTask, "task wait": a.completeTask, "task attach": a.completeTask, "task kill": a.completeTask,
		"task restart": a.completeTask, "task write": a.completeTask, "task restart-policy": a.completeTask,
		"approvals allow": a.completeWait(kindApproval), "approvals deny": a.completeWait(kindApproval), "answer": a.completeWait(kindQuestion),
		"permissions revoke": a.completeGrant,
	}
	flags := map[string]completer{
		"resume": a.completeSession, "session": a.completeSession,
		"permission-mode": fixed(string(permission.ModeDefault), string(permission.ModeAcceptEdits), string(permission.ModePlan), string(permission.ModeBypass)),
		"output-format":   fixed("text", "json", "stream-json", "claude-stream-json"),
		"lifecycle":       fixed(string(session.LifecycleOpen), string(session.LifecyclePaused), string(session.LifecycleClosed), string(session.LifecycleArchived)),
		"activity":        fixed(perdure.Activities()...),
		"scope":           fixed("once", "session"), "restart": fixed("never", "on-reboot"),
		"by": fixed(usageBy...), "lifetime": fixed(string(session.LifetimeDetached), string(session.LifetimeSession), string(session.LifetimeTurn)),
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
		if f := args[path]; f != nil {
			c.ValidArgsFunction = f
		}
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			if f := flags[flag.Name]; f != nil {
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

// offer runs do over the home and gives what it found that begins with prefix. A failing completion offers nothing: its
// errors belong to the command itself.
func (a *App) offer(cmd *cobra.Command, prefix string, do func(h *perdure.Home, add func(value, about string)) error) ([]string, cobra.ShellCompDirective) {
	var out []string
	_ = a.with(cmd.Context(), func(h *perdure.Home) error {
		return do(h, func(value, about string) {
			word := value + "\t" + oneline(about, maxCell)
			if value != "" && strings.HasPrefix(value, prefix) && len(out) < maxCompletions && !slices.Contains(out, word) {
				out = append(out, word)
			}
		})
	})
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSession offers sessions, by id and by name, for the first argument.
func (a *App) completeSession(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offer(cmd, prefix, func(h *perdure.Home, add func(value, about string)) error {
		page, err := h.Store().List(cmd.Context(), store.Query{Limit: 1000})
		for _, s := range page.Sessions {
			about := s.Heads.Title
			if about == "" {
				about = s.Heads.Labels[labelPrompt]
			}
			add(s.ID, about+"  "+a.tilde(s.Heads.Cwd))
			add(s.Heads.Title, a.tilde(s.Heads.Cwd))
		}
		return err
	})
}

// completeTask offers tasks: by name or id for the first argument, with the sessions that have one; the second is a
// task of the session that the first one names.
func (a *App) completeTask(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.offer(cmd, prefix, func(h *perdure.Home, add func(value, about string)) error {
		if len(args) == 1 {
			tasks, err := a.tasksOf(cmd.Context(), h, args[0])
			for _, t := range tasks {
				add(t.ID, taskStatus(t)+"  "+t.Command)
				add(t.Name, taskStatus(t)+"  "+t.Command)
			}
			return err
		}
		if len(args) > 1 {
			return nil
		}
		tasks, _, err := h.Tasks().All(cmd.Context())
		for _, t := range tasks {
			add(t.Name, taskStatus(t)+"  "+t.Command)
			add(t.SessionID, "session of "+called(t)+"  "+t.Command)
		}
		return err
	})
}

// completeWait offers what waits for a human.
func (a *App) completeWait(kind string) completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return a.offer(cmd, prefix, func(h *perdure.Home, add func(value, about string)) error {
			if kind == kindQuestion && len(args) > 0 {
				return nil
			}
			waits, err := a.allWaits(cmd.Context(), h, kind)
			for _, w := range waits {
				about := w.call.Tool + " " + session.About(w.call.Input)
				if w.call.Question != nil {
					about = w.call.Question.Question
				}
				if !slices.Contains(args, w.id) {
					add(w.id, about)
				}
			}
			return err
		})
	}
}

// completeGrant offers sessions, then the rules that were granted there.
func (a *App) completeGrant(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeSession(cmd, args, prefix)
	}
	return a.offer(cmd, prefix, func(h *perdure.Home, add func(value, about string)) error {
		id, err := a.resolve(cmd.Context(), h, args[0])
		if err != nil {
			return err
		}
		st, err := h.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		for _, g := range st.Permissions.Grants {
			add(g.Rule, g.Scope)
		}
		return nil
	})
}
