package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/care"
	"github.com/perdure/perdure/internal/cli/complete"
	"github.com/perdure/perdure/internal/cli/manual"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
)

const longHelp = `Perdure keeps the whole existence of an AI agent: kill it anywhere and resume it,
nothing acknowledged is lost, nothing is silently repeated, its commands keep running.

  perdure                        a new session in this directory, on the screen; without a terminal, an overview
  perdure -c                     go on with the newest session of this directory, on the screen
  perdure -r [ID]                choose a session, or go on with one, on the screen
  perdure -p "PROMPT"            run a prompt in a new session in this directory
  perdure -p -c "PROMPT"         go on with the newest session of this directory
  perdure -p -r ID ["PROMPT"]    go on with a session; without a prompt, finish its open turn
  cat LOG | perdure -p "PROMPT"  what comes on stdin goes with the prompt; - as the last argument always reads it
  perdure -p -r ID --wait        sleep until what it awaits, or a human's answer, has come; go on with it
  perdure start "PROMPT"         run a prompt in the background, without a terminal
  perdure demo                   see it survive a SIGKILL: no key, no network

A rule is a tool, or a tool with what it may be called with: Read, Bash(npm test), Bash(git log:*) for every call
that begins with git log, Edit(src/**), Read(~/notes/**). Several stand in one value, with commas or blanks between
them: --allowed-tools "Edit(src/**) Bash(make:*)". Deny rules win over ask rules, ask rules over allow rules.

Sessions are kept in ~/.local/share/perdure, or where PERDURE_HOME says. ~/.config/perdure/config.toml has your own
settings, such as the model, rules and prices; the .perdure/config.toml of a project can only narrow them, until you
trust it. perdure config shows what holds and where it comes from.

Exit codes: 0 done, 1 failed, 2 usage, 3 waiting for a human, 4 not found, 5 held by
another writer, 6 budget or step limit; 130, 143, 129 after SIGINT, SIGTERM, SIGHUP;
141 when the reader of stdout went away. A result that could not be written is 1.`

// registerTemplates runs once: cobra keeps its template functions in a map of the
// package that nothing guards, and one process may make several trees at a time.
var registerTemplates = sync.OnceFunc(func() {
	cobra.AddTemplateFunc("optional", func(usages string) string {
		return strings.Replace(usages, fmt.Sprintf("ID[=%q]", run.Pick), fmt.Sprintf("%-*s", len(run.Pick)+7, "[ID]"), 1)
	})
})

// lookers are the commands that show sessions as a whole. Before one of them does, background sessions that were killed
// are brought back; the overview does it too.
var lookers = []string{"list", "board", "inbox"}

func looks(cmd *cobra.Command) bool {
	if !cmd.HasParent() {
		return cmd.Flags().NFlag() == 0 && cmd.Flags().NArg() == 0
	}
	return !cmd.Parent().HasParent() && slices.Contains(lookers, cmd.Name())
}

// tree builds the commands.
func tree(a *app.App) *cobra.Command {
	f := &run.Flags{}
	root := &cobra.Command{
		Use:           "perdure -p [PROMPT]",
		Short:         "The session layer for AI agents",
		Long:          longHelp,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(guardInside(a, cmd), emptyFlags(cmd)); err != nil {
				return err
			}
			if err := guardHome(a, cmd); err != nil {
				return err
			}
			if looks(cmd) {
				background.Return(cmd.Context(), a)
			}
			return nil
		},
		Version: care.ThisVersion().Line(),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Changed = cmd.Flags().Changed
			if flags := cmd.Flags(); len(args) == 0 && (flags.NFlag() == 0 || flags.NFlag() == 1 && flags.Changed("no-pager")) {
				if !screen.CanDraw(a) || a.Inside() != "" {
					return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return sessions.Overview(ctx, a, h) })
				}
			}
			return run.Run(cmd.Context(), a, f, args)
		},
	}
	f.Register(root)
	root.PersistentFlags().BoolVar(&a.NoPager, "no-pager", false, "print what is long without a pager")
	registerTemplates()
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsages | optional"))
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(commands(a)...)
	root.AddCommand(demoCommand(a), demoServerCommand(a), manual.Command(a, care.ThisVersion().Version))
	paging(a, root)
	complete.Tree(a, root)
	return root
}
