// Package cli is the perdure command: the tree of its commands, what each of them may do inside of a session, and the
// exit code of a command line. The commands themselves are in rooms below: each is handed the world that it runs in
// ([app.App]), reads its arguments, calls package perdure, and words the outcome. One file per command.
package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/plain"
)

// Main runs one command line and returns its exit code.
func Main(ctx context.Context, a *app.App, args []string) int {
	placed := *a
	a = &placed
	a.PlaceHome()
	if a.NoZone != "" && (len(args) == 0 || !strings.HasPrefix(args[0], "__")) {
		a.Note("TZ is \"%s\", which is no time zone that can be found here: times are shown in UTC", plain.Shown(a.NoZone, 100))
		a.NoZone = ""
	}
	a.Self = Main
	world := *a
	out := &app.Results{To: a.Stdout}
	world.Stdout = out
	err := execute(ctx, &world, args)
	code := a.Report(err)
	lost := out.Lost()
	if lost == nil || code >= app.ExitSignalled {
		return code
	}
	if !errors.As(err, new(*app.UnwrittenError)) {
		a.Note("%v", lost)
	}
	if out.Hint != "" {
		a.Hint("%s", out.Hint)
	}
	return app.ExitLost(lost)
}

// execute finds the command that the arguments name, and runs it.
func execute(ctx context.Context, a *app.App, args []string) error {
	root := tree(a)
	args = planVerb(root, args)
	if len(args) > 0 && !isCommand(root, args[0]) {
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

// planVerb lets the verb of perdure plan stand behind the session too, as in perdure plan ID set 2 done.
func planVerb(root *cobra.Command, args []string) []string {
	if len(args) < 3 || args[0] != "plan" || strings.HasPrefix(args[1], "-") {
		return args
	}
	plan, _, err := root.Find(args[:1])
	if err != nil {
		return args
	}
	verb := func(word string) bool {
		return slices.ContainsFunc(plan.Commands(), func(c *cobra.Command) bool { return c.Name() == word || c.HasAlias(word) })
	}
	if verb(args[1]) || !verb(args[2]) {
		return args
	}
	return slices.Concat([]string{"plan", args[2], args[1]}, args[3:])
}

func isCommand(root *cobra.Command, name string) bool {
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
