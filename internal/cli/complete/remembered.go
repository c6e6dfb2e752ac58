package complete

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/settings"
)

// remembered offers the rules that hold beyond a session.
func (a offers) remembered(_ *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	list, err := settings.ReadAllowed(settings.AllowedFile(settings.UserFile(a.Getenv)))
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, r := range list {
		if strings.HasPrefix(r.Rule, prefix) && !strings.ContainsFunc(r.Rule, plain.Hidden) && len(out) < maxCompletions {
			where := "every session"
			if r.Project != "" {
				where = r.Project
			}
			out = append(out, r.Rule+"\t"+display.Line(where, display.MaxCell))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
