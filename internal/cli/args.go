package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/display"
)

// exactArgs is cobra.ExactArgs with an exit code and words of its own.
func exactArgs(n int, what string) cobra.PositionalArgs { return rangeArgs(n, n, what) }

// rangeArgs wants between lo and hi arguments; hi < 0 is no bound.
func rangeArgs(lo, hi int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		if n >= lo && (hi < 0 || n <= hi) {
			return nil
		}
		text := "want " + what
		if n > 0 {
			text += ", got " + display.Count(int64(n), "argument")
		}
		return &exitError{code: ExitUsage, text: text, hint: strings.TrimSuffix(cmd.UseLine(), " [flags]")}
	}
}

// group makes a command that only has subcommands.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	names := make([]string, len(subs))
	for i, s := range subs {
		names[i] = s.Name()
	}
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return usageError("%s needs one of: %s%s", use, strings.Join(names, ", "), got(args))
		},
	}
	c.AddCommand(subs...)
	return c
}

func got(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprintf(" (got %q)", args[0])
}
