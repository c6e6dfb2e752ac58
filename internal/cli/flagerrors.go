package cli

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
	safe "github.com/perdure/perdure/internal/plain"
)

// Flag errors as the flag parser words them.
var (
	badValue    = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: (.*)$`)
	unknownFlag = regexp.MustCompile(`^unknown flag: --([^=]*)`)
)

// wanted words what a flag of a type takes.
var wanted = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint": "a whole number", "float64": "a number", "bool": "true or false",
	"duration": "a span of time, as in 60s or 10m", "count": "a number",
}

// flagError words an error about a command's flags: what is wrong in plain words, the nearest flag that there is, and
// where the flags are listed.
func flagError(cmd *cobra.Command, err error) error {
	text, hint := err.Error(), cmd.CommandPath()+" --help lists the flags"
	if m := badValue.FindStringSubmatch(text); m != nil {
		why := m[3]
		if f := cmd.Flags().Lookup(m[2]); f != nil && wanted[f.Value.Type()] != "" {
			why = "it must be " + wanted[f.Value.Type()]
		}
		text = fmt.Sprintf("--%s %s: %s", m[2], m[1], why)
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := safe.Nearest(m[1], names); near != "" {
			hint = "did you mean --" + near + "? " + hint
		}
	}
	return &app.ExitError{Code: app.ExitUsage, Text: text, Hint: hint}
}

// mayBeEmpty are the flags whose empty value says something: nothing more is allowed, denied or told, or a step of a plan
// no longer says it.
var mayBeEmpty = []string{"allowed-tools", "disallowed-tools", "append-system-prompt", "message", "filter", "output", "blocker", "reason"}

// emptyFlags refuses flags that were given an empty value, as by a variable that is not set: what they were to narrow
// or bind would go on without.
func emptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		kind := f.Value.Type()
		text := f.Value.String()
		empty := kind == "string" && text == "" || kind == "stringArray" && text == "[]"
		if err == nil && empty && !slices.Contains(mayBeEmpty, f.Name) {
			err = &app.ExitError{Code: app.ExitUsage, Text: "what --" + f.Name + " was given is empty", Hint: "leave it out, or name a value"}
		}
	})
	return err
}
