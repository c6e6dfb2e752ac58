package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	safe "github.com/perdure/perdure/internal/plain"
)

// meant are words that other programs have as commands, and what does that here.
var meant = map[string]string{
	"archive":  "perdure close ID declares a session done and keeps it",
	"ask":      "perdure -p \"PROMPT\"",
	"chat":     "perdure opens a session on the screen",
	"continue": "perdure -p -c [\"PROMPT\"]",
	"find":     "perdure search WORDS",
	"grep":     "perdure search WORDS",
	"exec":     "perdure -p \"PROMPT\"; perdure task run -- COMMAND",
	"history":  "perdure log ID; perdure show ID --messages",
	"jobs":     "perdure task list",
	"kill":     "perdure task kill SESSION TASK",
	"logs":     "perdure log ID",
	"ls":       "perdure list",
	"new":      "perdure opens a new session on the screen; perdure -p \"PROMPT\" runs a prompt in one",
	"open":     "perdure show ID; perdure -p --resume ID goes on",
	"ps":       "perdure task list",
	"remove":   "perdure delete ID",
	"resume":   "perdure -r [ID] goes on with a session on the screen; perdure -p -r ID [\"PROMPT\"] without it",
	"rm":       "perdure delete ID",
	"run":      "perdure -p \"PROMPT\"; perdure task run -- COMMAND",
	"sessions": "perdure list",
	"status":   "perdure list; perdure show ID",
	"stop":     "perdure pause ID; perdure task kill SESSION TASK",
	"tasks":    "perdure task list",
	"todo":     "perdure plan ID shows the plan; perdure plan ID add TEXT adds a step",
}

// noCommand names a first word that is no command, with the nearest one.
func noCommand(root *cobra.Command, word string) error {
	e := &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("no such command: %s", display.Line(word, display.MaxCell))}
	if strings.ContainsFunc(strings.TrimSpace(word), unicode.IsSpace) {
		e.Hint = "a prompt goes with -p: perdure -p \"PROMPT\""
		return e
	}
	near, part := root.SuggestionsFor(word), 2 // a command may differ in half of its letters, another program's in a third
	if _, ok := meant[strings.ToLower(word)]; ok || len(near) == 0 {
		near, part = display.Nearest(strings.ToLower(word), append(verbs(root), slices.Sorted(maps.Keys(meant))...))[:1], 3
	}
	if safe.Distance(strings.ToLower(word), near[0]) > max(1, len(near[0])/part) { // No word at all is better than a wrong one.
		e.Hint = "perdure --help lists the commands, and a prompt goes with -p: perdure -p \"PROMPT\""
		return e
	}
	if how, ok := meant[near[0]]; ok && !slices.Contains(verbs(root), near[0]) {
		if e.Hint = "here it is: " + how; near[0] != strings.ToLower(word) {
			e.Hint = fmt.Sprintf("nearest: %s, which is here: %s", near[0], how)
		}
		return e
	}
	e.Hint = "nearest: " + strings.Join(near, ", ") + "; perdure --help lists all, and a prompt goes with -p"
	return e
}

// verbs are the names of the commands that help lists.
func verbs(root *cobra.Command) []string {
	var out []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			out = append(out, c.Name())
		}
	}
	return out
}

// asksToPrint reports whether the arguments have -p, alone or among other one-letter flags. What follows -- has none.
func asksToPrint(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		letters, ok := strings.CutPrefix(arg, "-")
		return arg == "--print" || ok && strings.Contains(letters, "p") && strings.Trim(letters, "pcv") == ""
	})
}

// afterDashes moves texts that begin with a dash, as "- do this", behind a --, with all texts after them, so that they
// are not taken for flags: no flag has a space in its name. The value of a flag stays where it is.
func afterDashes(flags *pflag.FlagSet, args []string) []string {
	out, prompts := make([]string, 0, len(args)+1), []string{}
	value := false // the next argument is one of a flag
	for i, arg := range args {
		if arg == "--" {
			prompts = append(prompts, args[i+1:]...)
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if !value && strings.HasPrefix(arg, "-") && strings.ContainsFunc(name, unicode.IsSpace) {
			prompts = append(prompts, arg)
			continue
		}
		if !value && len(prompts) > 0 && (!strings.HasPrefix(arg, "-") || arg == "-") {
			prompts = append(prompts, arg) // words keep their order
			continue
		}
		value = !value && takesNext(flags, arg)
		out = append(out, arg)
	}
	if len(prompts) == 0 {
		return args
	}
	return append(append(out, "--"), prompts...)
}

// takesNext reports whether an argument is a flag whose value is the argument after it.
func takesNext(flags *pflag.FlagSet, arg string) bool {
	var f *pflag.Flag
	long, isLong := strings.CutPrefix(arg, "--")
	switch {
	case isLong:
		f = flags.Lookup(long)
	case len(arg) > 1 && arg[0] == '-':
		f = flags.ShorthandLookup(arg[len(arg)-1:])
	}
	return f != nil && f.NoOptDefVal == ""
}
