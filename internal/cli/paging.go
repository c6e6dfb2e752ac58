package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
)

// pagedCommands are the commands whose whole output goes through the pager where it is longer than the screen. list, show,
// log, plan, search and export see to that themselves.
var pagedCommands = []string{
	"approvals list", "handoff list", "handoff show", "journal", "learn", "learn list", "learn show", "memory list", "memory log", "memory show",
	"permissions list", "task list", "usage",
}

// paging gives these commands the pager. What programs read has none.
func paging(a *app.App, root *cobra.Command) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if run := c.RunE; run != nil && slices.Contains(pagedCommands, strings.TrimPrefix(c.CommandPath(), root.Name()+" ")) {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if f := cmd.Flags().Lookup("json"); f != nil && f.Changed {
					return run(cmd, args)
				}
				return a.Paged(func() error { return run(cmd, args) })
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}
