package cli

import "github.com/spf13/cobra"

func (a *App) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a shell's completion script", Args: exactArgs(1, "bash, zsh or fish"),
		Long: `Print a script that completes commands, flags and session ids.

  bash   source <(perdure completion bash)
  zsh    perdure completion zsh > "${fpath[1]}/_perdure"
  fish   perdure completion fish > ~/.config/fish/completions/perdure.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
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
