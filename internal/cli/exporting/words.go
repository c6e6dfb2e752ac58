package exporting

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/export"
)

// oneSession wants a session alone. Of a format or a file beside it, it says which flag takes it.
func oneSession(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return app.ExactArgs(1, "a session")(cmd, args)
	}
	flags, session := "-o "+display.Quote(args[1]), display.Quote(args[0])
	switch format := strings.ToLower(args[0]); {
	case slices.Contains(export.Formats(), format):
		flags, session = "--format "+format+" "+flags, "ID"
	case slices.Contains(export.Formats(), strings.ToLower(args[1])):
		flags = "--format " + strings.ToLower(args[1])
	}
	return &app.ExitError{Code: app.ExitUsage, Text: "want a session alone, got 2 arguments", Hint: "perdure export " + session + " " + flags}
}
