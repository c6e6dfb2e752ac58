package cli

import "github.com/spf13/cobra"

// commands are the verbs, in the order in which help lists them.
func (a *App) commands() []*cobra.Command {
	return []*cobra.Command{}
}
