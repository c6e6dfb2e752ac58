// Package notes are the commands about what outlives sessions: the memory of a project and of its user, and the
// project's journal. They need no session, and no home that sessions are in.
package notes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/view"
)

// place says whose memory a command is about.
type place struct {
	cwd  string
	user bool
	json bool
}

func (p *place) register(c *cobra.Command, listing bool) *cobra.Command {
	c.Flags().StringVar(&p.cwd, "cwd", "", "the project of `DIR` instead of the current directory")
	c.Flags().BoolVar(&p.user, "user", false, "your own memory, which every project shares")
	if listing {
		c.Flags().BoolVar(&p.json, "json", false, "print one JSON object a line")
	}
	return c
}

// scope is the memory that was named.
func (p *place) scope(a *app.App) (*knowledge.Scope, error) {
	m, err := a.Knowledge(p.cwd)
	if err != nil {
		return nil, err
	}
	if p.user {
		return m.User, nil
	}
	return m.Project, nil
}

// holding is the memory that has a key: the project's, else the user's.
func (p *place) holding(a *app.App, key string) (*knowledge.Scope, knowledge.Listed, error) {
	m, err := a.Knowledge(p.cwd)
	if err != nil {
		return nil, knowledge.Listed{}, err
	}
	scopes := []*knowledge.Scope{m.Project, m.User}
	if p.user {
		scopes = scopes[1:]
	}
	for _, s := range scopes {
		l, err := s.Show(key)
		if !errors.Is(err, knowledge.ErrNoEntry) {
			return s, l, err
		}
	}
	return nil, knowledge.Listed{}, &app.ExitError{Code: app.ExitMissing, Text: "no entry " + display.Quote(key), Hint: near(scopes, key)}
}

// near names the keys that look most like one.
func near(scopes []*knowledge.Scope, key string) string {
	var keys []string
	for _, s := range scopes {
		list, err := s.List()
		if err != nil {
			continue
		}
		for _, l := range list {
			keys = append(keys, display.Line(l.Key, display.MaxCell))
		}
	}
	if len(keys) == 0 {
		return "nothing is noted yet: perdure memory add TEXT"
	}
	return "there are " + strings.Join(display.Nearest(key, keys), ", ") + "; perdure memory list shows all"
}

// say prints a line of a result. What it quotes was written by models and files: nothing of it controls a terminal.
func say(a *app.App, format string, args ...any) {
	a.Linef("%s", display.Safe(fmt.Sprintf(format, args...)))
}

// person is who changes something by a command.
func person() knowledge.By { return knowledge.By{Source: knowledge.SourceUser} }

// MemoryCommand is perdure memory.
func MemoryCommand(a *app.App) *cobra.Command {
	c := app.Group("memory", "What agents remember of a project and of you: list, add, edit, forget, undo",
		listCommand(a), showCommand(a), addCommand(a), editCommand(a), forgetCommand(a), logCommand(a), undoCommand(a))
	c.Long = `The memory of a project is an index, MEMORY.md, with one line for each entry, and a file of details for each. It lies in
the home, or in the project's .agent directory if your configuration says [knowledge] project = "on". Your own memory,
--user, is shared by all projects. The files may be edited by hand.`
	return c
}

func listCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "list", Short: "List the entries", Args: app.ExactArgs(0, "no arguments"), Aliases: []string{"ls"},
		RunE: func(*cobra.Command, []string) error {
			m, err := a.Knowledge(p.cwd)
			if err != nil {
				return err
			}
			scopes := []*knowledge.Scope{m.Project, m.User}
			if p.user {
				scopes = scopes[1:]
			}
			return list(a, scopes, p.json)
		},
	}
	return p.register(c, true)
}

func list(a *app.App, scopes []*knowledge.Scope, asJSON bool) error {
	var out []knowledge.Listed
	for _, s := range scopes {
		l, err := s.List()
		if err != nil {
			return err
		}
		out = append(out, l...)
	}
	if len(out) == 0 && !asJSON {
		a.Note("nothing is noted yet: perdure memory add TEXT")
		return nil
	}
	topic := ""
	for _, l := range out {
		l.Body = ""
		if asJSON {
			if err := a.JSON(l); err != nil {
				return err
			}
			continue
		}
		if head := l.Scope + ": " + l.Topic; head != topic {
			topic = head
			say(a, "%s", head)
		}
		missing := ""
		if l.Missing {
			missing = " (its file " + l.File + " is missing)"
		}
		say(a, "  %s - %s%s", l.Key, l.Summary, missing)
	}
	return nil
}

func showCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "show KEY", Short: "Show an entry with its details, and where it comes from", Args: app.ExactArgs(1, "the key of an entry"),
		RunE: func(_ *cobra.Command, args []string) error {
			_, l, err := p.holding(a, args[0])
			switch {
			case err != nil:
				return err
			case p.json:
				return a.JSON(l)
			}
			say(a, "%s (%s, %s) - %s", l.Key, l.Scope, l.Topic, l.Summary)
			say(a, "%s", origin(l.Mark))
			for line := range strings.Lines(l.Body) {
				say(a, "%s", strings.TrimSuffix(line, "\n"))
			}
			return nil
		},
	}
	return p.register(c, true)
}

// origin words where an entry comes from.
func origin(m knowledge.Mark) string {
	if m.Source == "" {
		return "written by hand"
	}
	text := "from " + string(m.Source)
	if m.Session != "" {
		text += " in session " + m.Session
	}
	return text + ", noted " + m.Date + ", last confirmed " + m.Confirmed
}

func addCommand(a *app.App) *cobra.Command {
	p, add := &place{}, knowledge.Addition{}
	c := &cobra.Command{
		Use: "add TEXT", Short: "Note something: the first line goes into the index, all of it into a file", Args: app.ExactArgs(1, "one text, in quotes; - reads stdin"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if add.Text, err = textOf(a, args[0]); err != nil {
				return err
			}
			s, err := p.scope(a)
			if err != nil {
				return err
			}
			e, err := s.Add(cmd.Context(), add, person())
			if err == nil {
				say(a, "%s", e.Key)
			}
			return refused(err)
		},
	}
	c.Flags().StringVar(&add.Topic, "topic", "", "the `HEADING` below which it stands: User, Projects, Infrastructure, Decisions or another")
	c.Flags().StringVar(&add.Key, "key", "", "its `KEY`; without one it is made of the text")
	return p.register(c, false)
}

// textOf is an argument, or stdin for -.
func textOf(a *app.App, arg string) (string, error) {
	if arg == "-" {
		return a.ReadStdin()
	}
	return arg, nil
}

// refused words what a rule of the memory forbids.
func refused(err error) error {
	var no *knowledge.Refusal
	if errors.As(err, &no) {
		return &app.ExitError{Code: app.ExitFailed, Text: no.Text}
	}
	return err
}

func editCommand(a *app.App) *cobra.Command {
	p, details := &place{}, false
	c := &cobra.Command{
		Use: "edit KEY [SUMMARY]", Short: "Change an entry's line, or with --details its file; with neither, confirm it", Args: app.RangeArgs(1, 2, "the key of an entry, and its new line"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := p.holding(a, args[0])
			if err != nil {
				return err
			}
			var r knowledge.Revision
			if len(args) == 2 {
				r.Summary = &args[1]
			}
			if details {
				text, err := a.ReadStdin()
				if err != nil {
					return err
				}
				r.Body = &text
			}
			return refused(s.Edit(cmd.Context(), args[0], r, person()))
		},
	}
	c.Flags().BoolVar(&details, "details", false, "take the new text of its file from stdin")
	return p.register(c, false)
}

func forgetCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "forget KEY", Short: "Take an entry out, with its file; undo brings it back", Args: app.ExactArgs(1, "the key of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, _, err := p.holding(a, args[0])
			if err != nil {
				return err
			}
			return refused(s.Forget(cmd.Context(), args[0], person()))
		},
	}
	return p.register(c, false)
}

// logged is what perdure memory log --json prints of a change: its time in ms as it is kept, and as everything else has it.
type logged struct {
	knowledge.Change
	At view.Stamp `json:"at"`
}

func logCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "log", Short: "List the newest changes, at most 100, by people and by models", Args: app.ExactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			s, err := p.scope(a)
			if err != nil {
				return err
			}
			changes, err := s.Log()
			for _, c := range changes {
				if p.json {
					err = errors.Join(err, a.JSON(logged{c, view.Stamp(c.Time)}))
					continue
				}
				who := string(c.By.Source)
				if c.By.Session != "" {
					who += " in session " + c.By.Session
				}
				say(a, "%4d  %s  %s, by %s", c.N, a.When(c.Time), c.What, who)
			}
			return err
		},
	}
	return p.register(c, true)
}

func undoCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "undo", Short: "Bring back what the newest change replaced; again: the one before", Args: app.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.scope(a)
			if err != nil {
				return err
			}
			return undo(cmd.Context(), a, s)
		},
	}
	return p.register(c, false)
}

func undo(ctx context.Context, a *app.App, s *knowledge.Scope) error {
	c, err := s.Undo(ctx, person())
	if err != nil {
		return refused(err)
	}
	var names []string
	for _, f := range c.Files {
		if !strings.HasPrefix(f.Name, ".") {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	say(a, "undone: %s (%s)", c.What, strings.Join(names, ", "))
	return nil
}
