package cli

import (
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
)

// InsideReads are what a session's own commands may run besides.
var InsideReads = insideReads

// Root is the whole tree of commands.
func Root(a *app.App) *cobra.Command { return tree(a) }

// Commands are those that help lists.
func Commands(a *app.App) []*cobra.Command { return commands(a) }

// PagedCommands are those whose output the tree pages.
var PagedCommands = pagedCommands
