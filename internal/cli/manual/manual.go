// Package manual writes the manual pages of perdure: one for each command, made from the same tree that --help shows, so
// that neither can say what the other does not.
package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perdure/perdure/internal/cli/app"
)

// Command is perdure man, which packagers and make use.
func Command(a *app.App, version string) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages, perdure.1 and one for each command, into a directory", Hidden: true,
		Args: app.ExactArgs(1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(a.Dir, dir)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			root := cmd.Root()
			root.InitDefaultHelpFlag()
			root.InitDefaultVersionFlag()
			return each(root, func(c *cobra.Command) error {
				f, err := os.Create(filepath.Join(dir, name(c)+".1"))
				if err != nil {
					return fmt.Errorf("write the manual: %w", err)
				}
				err = page(f, c, version)
				if cerr := f.Close(); err == nil {
					err = cerr
				}
				return err
			})
		},
	}
}

// each walks the commands that people are shown.
func each(c *cobra.Command, do func(*cobra.Command) error) error {
	if err := do(c); err != nil {
		return err
	}
	for _, sub := range shown(c) {
		if err := each(sub, do); err != nil {
			return err
		}
	}
	return nil
}

func shown(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			out = append(out, sub)
		}
	}
	return out
}

// name is that of a command's page: perdure-task-run.
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page writes the page of one command.
func page(to io.Writer, c *cobra.Command, version string) error {
	r := &roff{}
	c.InitDefaultHelpFlag()
	r.line(".TH %s 1 \"\" %s \"Perdure\"", quoted(strings.ToUpper(name(c))), quoted("perdure "+version))
	r.section("NAME")
	r.text(name(c) + " - " + lower(c.Short))
	r.section("SYNOPSIS")
	synopsis(r, c)
	if c.Long != "" {
		r.section("DESCRIPTION")
		r.prose(c.Long)
	}
	if subs := shown(c); len(subs) > 0 {
		r.section("COMMANDS")
		for _, sub := range subs {
			r.line(".TP")
			r.line(".BR %s (1)", escaped(name(sub)))
			r.text(sub.Short)
		}
	}
	options(r, "OPTIONS", c.NonInheritedFlags())
	options(r, "GENERAL OPTIONS", c.InheritedFlags())
	if !c.HasParent() {
		general(r)
	}
	related(r, c)
	_, err := io.WriteString(to, r.out.String())
	return err
}

func synopsis(r *roff, c *cobra.Command) {
	if !c.HasParent() {
		for _, use := range []string{"perdure", "perdure -p [OPTION]... PROMPT", "perdure COMMAND [OPTION]... [ARGUMENT]..."} {
			r.line(".B %s", escaped(use))
			r.line(".br")
		}
		return
	}
	use := strings.TrimSuffix(c.UseLine(), " [flags]")
	path := c.CommandPath()
	r.line(".B %s", escaped(path))
	r.text(strings.TrimSpace(strings.TrimPrefix(use, path) + " [OPTION]..."))
	if len(c.Aliases) > 0 {
		r.line(".PP")
		r.text("Also: " + strings.Join(c.Aliases, ", "))
	}
}

// options lists flags, each with its value's name and what it is without the flag.
func options(r *roff, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	r.section(title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		head := `\fB` + escaped("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			head = `\fB` + escaped("-"+f.Shorthand) + `\fR, ` + head
		}
		switch {
		case value == "":
		case f.NoOptDefVal != "" && f.Value.Type() != "bool":
			head += `[=\fI` + escaped(value) + `\fR]`
		default:
			head += ` \fI` + escaped(value) + `\fR`
		}
		r.line(".TP")
		r.line("%s", head)
		if !plainDefault(f) {
			usage += " (default " + f.DefValue + ")"
		}
		r.text(usage)
	})
}

// plainDefault reports a default that says nothing.
func plainDefault(f *pflag.Flag) bool {
	switch f.DefValue {
	case "", "0", "false", "[]", "<nil>", "0s":
		return true
	}
	return false
}

// general is what the page of perdure itself has beside its commands.
func general(r *roff) {
	r.section("ENVIRONMENT")
	for _, v := range [][2]string{
		{"PERDURE_HOME", "Where sessions are kept; without it ~/.local/share/perdure, or below XDG_DATA_HOME."},
		{"XDG_CONFIG_HOME", "Where perdure/config.toml lies; without it ~/.config."},
		{"ANTHROPIC_API_KEY, OPENAI_API_KEY", "Keys of model APIs. They never reach commands."},
		{"OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST", "Servers of your own."},
		{"PERDURE_PAGER, PAGER", "What is longer than the screen goes through this command; empty or cat: through none."},
		{"NO_COLOR, TERM=dumb", "No colours."},
	} {
		r.line(".TP")
		r.line(".B %s", escaped(v[0]))
		r.text(v[1])
	}
	r.section("FILES")
	for _, v := range [][2]string{
		{"~/.config/perdure/config.toml", "Your settings: perdure config shows them with where they come from."},
		{".perdure/config.toml", "A project's settings, which can only narrow."},
		{"~/.local/share/perdure", "Sessions, what commands printed, and what is known beside sessions."},
	} {
		r.line(".TP")
		r.line(".I %s", escaped(v[0]))
		r.text(v[1])
	}
}

func related(r *roff, c *cobra.Command) {
	var pages []string
	if p := c.Parent(); p != nil {
		pages = append(pages, name(p))
		for _, sub := range shown(p) {
			if sub != c && p.HasParent() {
				pages = append(pages, name(sub))
			}
		}
	}
	if len(pages) == 0 {
		return
	}
	r.section("SEE ALSO")
	for i, p := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		r.line(".BR %s (1)%s", escaped(p), comma)
	}
}

// lower makes a sentence's beginning a phrase.
func lower(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
