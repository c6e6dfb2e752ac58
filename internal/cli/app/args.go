package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/display"
)

// ExactArgs is cobra.ExactArgs with an exit code and words of its own.
func ExactArgs(n int, what string) cobra.PositionalArgs { return RangeArgs(n, n, what) }

// RangeArgs wants between lo and hi arguments; hi < 0 is no bound.
func RangeArgs(lo, hi int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		if n >= lo && (hi < 0 || n <= hi) {
			return nil
		}
		text := "want " + what
		if n > 0 {
			text += ", got " + display.Count(int64(n), "argument")
		}
		return &ExitError{Code: ExitUsage, Text: text, Hint: strings.TrimSuffix(cmd.UseLine(), " [flags]")}
	}
}

// Group makes a command that only has subcommands.
func Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	names := make([]string, len(subs))
	for i, s := range subs {
		names[i] = s.Name()
	}
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return UsageError("%s needs one of: %s%s", use, strings.Join(names, ", "), got(args))
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
