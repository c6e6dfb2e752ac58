package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/knowledge"
)

// proposals offers what waits to be remembered, for at most so many arguments.
func (a offers) proposals(most int) completer {
	return func(cmd *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		dir, _ := cmd.Flags().GetString("cwd")
		m, err := a.Knowledge(dir)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := m.Inbox().List() // a failing completion offers nothing
		for _, p := range all.List {
			if p.State == knowledge.ProposalWaits && strings.HasPrefix(p.ID, prefix) && !slices.Contains(args, p.ID) && len(out) < maxCompletions {
				out = append(out, p.ID+"\t"+display.Line(p.Text, display.MaxCell))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
