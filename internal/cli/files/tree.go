package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"

	"github.com/perdure/perdure/internal/ui/theme"
)

// TreeCommand is perdure tree.
func TreeCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "tree [ID]", Short: "Draw the family of a session: what it was forked from, and all forks",
		Long: `Draw the family of a session, without one that of the newest session of this directory: each with the event or the checkpoint
at which it was forked, how many files it has changed since in a directory of its own, what it does and what it has cost.`,
		Args: app.RangeArgs(0, 1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) (err error) {
				var id string
				if len(args) > 0 {
					id, err = a.Resolve(ctx, h, args[0])
				} else {
					id, err = a.Newest(ctx, h)
				}
				if err != nil {
					return err
				}
				top, err := h.Family(ctx, id)
				if err != nil {
					return err
				}
				if asJSON {
					return a.JSON(relativeView(top))
				}
				drawFamily(a, top, id)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// relative is a session of a family as JSON.
type relative struct {
	Session    string     `json:"session"`
	Name       string     `json:"name,omitempty"`
	ForkedAt   int64      `json:"forked_at,omitempty"` // event of the parent
	Checkpoint string     `json:"checkpoint,omitempty"`
	Dir        string     `json:"dir,omitempty"`
	Own        bool       `json:"own_dir"`
	Changed    int        `json:"files_changed"`
	Lifecycle  string     `json:"lifecycle"`
	Activity   string     `json:"activity"`
	USD        *float64   `json:"usd"`
	Forks      []relative `json:"forks"`
}

func relativeView(r *homes.Relative) relative {
	v := relative{
		Session: r.ID, Name: r.Heads.Title, Checkpoint: r.At, Dir: r.Heads.Cwd, Own: r.Own, Changed: r.Changed,
		Lifecycle: r.Heads.Lifecycle, Activity: r.Heads.Activity, Forks: []relative{},
	}
	if r.Parent != nil {
		v.ForkedAt = r.Parent.Seq
	}
	if c := r.Heads.CostNano; c != nil {
		usd := float64(*c) / 1e9
		v.USD = &usd
	}
	for _, f := range r.Forks {
		v.Forks = append(v.Forks, relativeView(f))
	}
	return v
}

// drawFamily prints a line for each session: what tells them apart comes first, so that a narrow screen has it.
func drawFamily(a *app.App, top *homes.Relative, asked string) {
	var ids []string
	var all func(r *homes.Relative)
	all = func(r *homes.Relative) {
		ids = append(ids, r.ID)
		for _, f := range r.Forks {
			all(f)
		}
	}
	all(top)
	short := a.ShortIDs(ids)
	columns, _ := a.Window()
	var draw func(r *homes.Relative, depth int, before, below string)
	draw = func(r *homes.Relative, depth int, before, below string) {
		mark := ""
		if r.ID == asked && len(ids) > 1 {
			mark = "  ←"
		}
		line := before + familyLine(r, short(r.ID))
		if columns > 0 { // a deep branch has the lines that lead to it cut: who it is stays, and how deep
			if over := ansi.StringWidth(before) - columns/2; over > 0 {
				deep := fmt.Sprintf("%d…", depth)
				line = ansi.TruncateLeft(before, over+len(deep), deep) + familyLine(r, short(r.ID))
			}
			line = theme.Cut(line, max(columns-ansi.StringWidth(mark), 1))
		}
		a.Linef("%s%s", line, mark)
		for i, f := range r.Forks {
			if i == len(r.Forks)-1 {
				draw(f, depth+1, below+"└─ ", below+"   ")
			} else {
				draw(f, depth+1, below+"├─ ", below+"│  ")
			}
		}
	}
	draw(top, 0, "", "")
}

// maxName bounds a session's name in the drawing, in characters.
const maxName = 40

func familyLine(r *homes.Relative, id string) string {
	parts := []string{id}
	switch {
	case r.At != "":
		parts = append(parts, "@"+r.At)
	case r.Parent != nil:
		parts = append(parts, fmt.Sprintf("@%d", r.Parent.Seq))
	}
	switch {
	case r.Own:
		parts = append(parts, display.Count(int64(r.Changed), "file")+" changed")
	case r.Parent != nil:
		parts = append(parts, "same directory")
	}
	state := r.Heads.Activity
	if r.Heads.Lifecycle != "open" {
		state = r.Heads.Lifecycle
	}
	parts = append(parts, state)
	if c := r.Heads.CostNano; c != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", float64(*c)/1e9))
	}
	if r.Heads.Title != "" {
		parts = append(parts, display.Shown(r.Heads.Title, maxName))
	}
	return strings.Join(parts, "  ")
}
