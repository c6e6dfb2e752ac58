// Package handoffs are the commands about the documents that sessions leave to the next one.
package handoffs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/view"
)

// Command is perdure handoff.
func Command(a *app.App) *cobra.Command {
	c := app.Group("handoff", "What a session leaves to the next one: show it, with what of it is no longer so; list earlier ones",
		showCommand(a), listCommand(a), writeCommand(a))
	c.Long = `A handoff is a briefing: the goal, what is done, what does not work, what failed and must not be tried again, what was
decided, and the next step. It lies in the home, or in the project if your configuration says [knowledge] project = "on".
See docs/handoff.md.`
	return c
}

// place says whose handoffs a command is about.
type place struct {
	cwd  string
	json bool
}

func (p *place) register(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&p.cwd, "cwd", "", "the project of `DIR` instead of the current directory")
	c.Flags().BoolVar(&p.json, "json", false, "print JSON, one object a line")
	return c
}

// shown is a handoff as --json prints it. The names of its fields are a contract.
type shown struct {
	Path    string          `json:"path"`
	Session string          `json:"session_id"` // empty: of a person, or of another program
	Seq     int64           `json:"seq"`
	Written view.Stamp      `json:"written_at"`
	Age     string          `json:"age"`
	Intact  bool            `json:"intact"` // as the session wrote it
	Read    bool            `json:"read"`   // its text is in the history
	Stale   []handoff.Thing `json:"stale"`
	Text    string          `json:"text,omitempty"`
	goal    string
}

func showCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "show [ID]", Short: "Show the newest handoff of this directory, or of a session, with what of it is gone or changed",
		Args: app.RangeArgs(0, 1, "at most one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return showHere(cmd.Context(), a, p)
			}
			return showOf(cmd.Context(), a, p, args[0])
		},
	}
	return p.register(c)
}

// showHere shows the newest handoff of a directory.
func showHere(ctx context.Context, a *app.App, p *place) error {
	cfg, err := a.KnowledgeOf(p.cwd)
	if err != nil {
		return err
	}
	m, err := knowledge.Open(cfg)
	if err != nil {
		return err
	}
	all, err := m.Handoffs().All()
	if cfg.InProject && len(all) == 0 && err == nil { // a project that cannot be written has its handoffs in the home
		cfg.InProject = false
		if m, err = knowledge.Open(cfg); err == nil {
			all, err = m.Handoffs().All()
		}
	}
	if len(all) == 0 {
		if err != nil {
			return err
		}
		return &app.ExitError{
			Code: app.ExitMissing, Text: "no handoff lies here",
			Hint: "a session leaves one when it has lasted 15 minutes; perdure handoff write ID writes one now, perdure handoff list shows those that were read",
		}
	}
	if err != nil {
		a.Note("not all can be read: %s", display.Line(err.Error(), display.MaxCell))
	}
	for _, other := range all[1:] {
		a.Note("another one lies in %s", display.Line(other.Path, 4*display.MaxCell))
	}
	return show(ctx, a, m.Handoffs(), all[0], p.json)
}

// showOf shows the newest handoff of a session, from where it worked or from the history there.
func showOf(ctx context.Context, a *app.App, p *place, name string) error {
	return a.With(ctx, func(h *homes.Home) error {
		id, err := a.Resolve(ctx, h, name)
		if err != nil {
			return err
		}
		dir := p.cwd
		if info, err := h.Store().Get(ctx, id); err != nil {
			return err
		} else if dir == "" && app.IsDir(info.Heads.Cwd) {
			dir = info.Heads.Cwd
		}
		m, err := a.Knowledge(dir)
		if err != nil {
			return err
		}
		all, err := every(m.Handoffs())
		all = slices.DeleteFunc(all, func(f knowledge.HandoffFile) bool { return f.Session != id })
		if len(all) == 0 {
			if f, ok := inLog(ctx, h, id); ok {
				return show(ctx, a, m.Handoffs(), f, p.json)
			}
			return errors.Join(err, &app.ExitError{Code: app.ExitMissing, Text: "session " + id + " has left no handoff in " + display.Line(m.Project.Dir(), 4*display.MaxCell)})
		}
		return show(ctx, a, m.Handoffs(), all[0], p.json)
	})
}

// inLog is a session's newest handoff as its log has it.
func inLog(ctx context.Context, h *homes.Home, id string) (f knowledge.HandoffFile, ok bool) {
	st, err := h.State(ctx, id)
	if err != nil {
		return f, false
	}
	text, err := h.HandedOff(ctx, st)
	if err != nil || text == "" {
		return f, false
	}
	head, _ := handoff.HeaderOf([]byte(text))
	return knowledge.HandoffFile{Text: []byte(text), Session: id, Seq: head.Seq, Written: head.Written, Intact: true}, true
}

// every gives the handoffs that lie there and those of the history, the newest first; each text once.
func every(h knowledge.Handoffs) ([]knowledge.HandoffFile, error) {
	all, err := h.All()
	past, pastErr := h.History()
	seen := map[string]bool{}
	all = slices.DeleteFunc(append(all, past...), func(f knowledge.HandoffFile) bool {
		was := seen[f.Digest]
		seen[f.Digest] = true
		return was
	})
	slices.SortStableFunc(all, func(a, b knowledge.HandoffFile) int { return b.Written.Compare(a.Written) })
	return all, errors.Join(err, pastErr)
}

func show(ctx context.Context, a *app.App, h knowledge.Handoffs, f knowledge.HandoffFile, asJSON bool) error {
	s, stale, err := look(ctx, a, h, f)
	if err != nil {
		return err
	}
	if asJSON {
		s.Text = string(f.Text)
		return a.JSON(s)
	}
	if !f.Intact && f.Ours() {
		a.Note("somebody changed it since session %s wrote it", display.Line(f.Session, display.MaxCell))
	}
	for line := range strings.Lines(handoff.Mark(string(f.Text), stale)) {
		a.Linef("%s", display.Safe(strings.TrimRight(line, "\r\n")))
	}
	return nil
}

// look reads what a handoff says, and what of that is no longer so.
func look(ctx context.Context, a *app.App, h knowledge.Handoffs, f knowledge.HandoffFile) (shown, handoff.Stale, error) {
	d, stale, err := h.Look(ctx, f, a.Now())
	if err != nil {
		return shown{}, stale, err
	}
	return shown{
		Path: f.Path, Session: f.Session, Seq: f.Seq, Written: view.Stamp(f.Written.UnixMilli()), Age: stale.Age, Intact: f.Intact, Read: f.Known,
		Stale: stale.Things, goal: d.Goal,
	}, stale, nil
}

func listCommand(a *app.App) *cobra.Command {
	p := &place{}
	c := &cobra.Command{
		Use: "list", Short: "List the handoffs of this directory, those that were read too, at most 10 of them", Args: app.ExactArgs(0, "no arguments"),
		Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := a.Knowledge(p.cwd)
			if err != nil {
				return err
			}
			return list(cmd.Context(), a, m.Handoffs(), p.json)
		},
	}
	return p.register(c)
}

func list(ctx context.Context, a *app.App, h knowledge.Handoffs, asJSON bool) error {
	all, err := every(h)
	if err != nil {
		a.Note("not all can be read: %s", display.Line(err.Error(), display.MaxCell))
	}
	if len(all) == 0 && !asJSON {
		a.Note("no handoff lies here, and none was read here")
	}
	for _, f := range all {
		s, _, err := look(ctx, a, h, f)
		if err != nil {
			a.Note("%s: %s", display.Line(f.Path, 4*display.MaxCell), display.Line(err.Error(), display.MaxCell))
			continue
		}
		if asJSON {
			if err := a.JSON(s); err != nil {
				return err
			}
			continue
		}
		who, read := "by hand", ""
		if s.Session != "" {
			who = s.Session
		}
		if s.Read {
			read = " (read)"
		}
		a.Linef("%s", display.Safe(a.When(f.Written.UnixMilli())+"  "+display.Line(who, display.MaxCell)+read+"  "+display.Line(s.goal, display.MaxCell)))
		a.Linef("%s", display.Safe("  "+f.Path))
	}
	return nil
}
