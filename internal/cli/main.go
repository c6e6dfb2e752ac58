package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, a *App, args []string) int {
	world := *a
	out := &results{to: a.Stdout}
	world.Stdout = out
	err := world.main(ctx, args)
	code := a.Report(err)
	lost := out.lost()
	if lost == nil || code >= exitSignalled {
		return code
	}
	if !errors.As(err, new(*unwrittenError)) {
		a.note("%v", lost)
	}
	if out.hint != "" {
		a.hint("%s", out.hint)
	}
	return exitLost(lost)
}

func (a *App) main(ctx context.Context, args []string) error {
	root := a.root()
	if len(args) > 0 && !a.isCommand(root, args[0]) {
		if !strings.HasPrefix(args[0], "-") && !asksToPrint(args) {
			return noCommand(root, args[0])
		}
		args = afterDashes(root.Flags(), args)
		// A prompt may be any word, the name of a command included; only the first argument names a command.
		root.RemoveCommand(root.Commands()...)
		root.CompletionOptions.DisableDefaultCmd = true
		root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	}
	if c, rest, err := root.Find(args); err == nil && c != root {
		path := args[:len(args)-len(rest)]
		if !slices.ContainsFunc(path, func(word string) bool { return strings.HasPrefix(word, "-") }) {
			args = append(slices.Clone(path), afterDashes(c.Flags(), rest)...)
		}
	}
	root.SetArgs(attachOptional(args))
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	return root.ExecuteContext(ctx)
}

func (a *App) isCommand(root *cobra.Command, name string) bool {
	if name == "help" || name == "--help" || name == "-h" || name == "completion" || strings.HasPrefix(name, "__complete") {
		return true
	}
	for _, c := range root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return true
		}
	}
	return false
}

// attachOptional joins -r and --resume with the value after them, which is optional and therefore not taken by the
// flag parser on its own. Everything after -- is left alone.
func attachOptional(args []string) []string {
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		if (arg == "-r" || arg == "--resume") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out = append(out, "--resume="+args[i+1])
			i++
			continue
		}
		out = append(out, arg)
	}
	return out
}
