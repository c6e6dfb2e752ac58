package cli

import "github.com/spf13/cobra"

// InsideReads are what a session's own commands may run besides.
var InsideReads = insideReads

// Root is the whole tree of commands.
func Root(a *App) *cobra.Command { return a.root() }

// Commands are those that help lists.
func Commands(a *App) []*cobra.Command { return a.commands() }
