package files

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
)

// checkpoint is a moment to which files can go back.
type checkpoint struct {
	Moment string `json:"moment"` // in words
	Name   string `json:"name,omitempty"`
	Turn   int    `json:"turn,omitempty"` // before its first change
	// The event, and of which log: a fork has the moments of the session that it was forked from.
	Session string `json:"session,omitempty"`
	Seq     int64  `json:"seq"`
	Time    string `json:"time"`
	Tree    string `json:"tree"`
	Dir     string `json:"dir"`
}

// CheckpointCommand is perdure checkpoint.
func CheckpointCommand(a *app.App) *cobra.Command {
	var name string
	var list, asJSON bool
	c := &cobra.Command{
		Use: "checkpoint ID [NAME]", Short: "Keep a session's files as they are under a name, or list what was kept",
		Long: `Keep the files of a session, as they are now, under a name: perdure restore ID NAME --files brings them back. While the
session works, this waits until the call that may change them has ended.

The files are kept by themselves too, before and after each turn that changes some: --list shows these moments as well.
What is not kept (dependencies that can be installed again, big files) is named in perdure log.`,
		Args: app.RangeArgs(1, 2, "a session and a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && name != "" {
				return app.UsageError("the name is given twice: %q and --name %q", args[1], name)
			}
			if len(args) == 2 {
				name = args[1]
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				if list {
					return listCheckpoints(ctx, a, h, id, asJSON)
				}
				return makeCheckpoint(ctx, a, h, id, name, asJSON)
			})
		},
	}
	c.Flags().StringVar(&name, "name", "", "the `NAME`: letters, digits and . _ -; without one it is the time")
	c.Flags().BoolVarP(&list, "list", "l", false, "list the moments to which the files can go back")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func makeCheckpoint(ctx context.Context, a *app.App, h *homes.Home, id, name string, asJSON bool) error {
	if name == "" {
		name = "at-" + a.Now().Format("20060102-150405")
	}
	if err := session.CheckpointName(name); err != nil {
		return app.UsageError("%v", err)
	}
	got, err := h.Checkpoint(ctx, id, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.JSON(checkpoint{Moment: "checkpoint " + got.Name, Name: got.Name, Session: id, Seq: got.Seq, Time: stamp(got.Time), Tree: got.Tree.String(), Dir: got.Dir})
	}
	a.Linef("%s: checkpoint %s of %s", id, got.Name, plain.Line(a.Tilde(got.Dir), maxPath))
	a.Hint("perdure restore %s %s --files brings the files back", id, got.Name)
	return nil
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// moments are all to which a session's files can go back: those before changes in the order of time, then checkpoints.
func moments(ctx context.Context, h *homes.Home, id string, w *session.Workspace) (all []checkpoint, err error) {
	undone, err := h.Undone(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range w.Points {
		what := fmt.Sprintf("before turn %d", p.Turn)
		switch {
		case p.Turn == 0 && h.IsBeforeApply(ctx, id, p):
			what = "before an apply"
		case p.Turn == 0:
			what = "before a restore"
		}
		all = append(all, checkpoint{Moment: what, Turn: p.Turn, Seq: p.Seq, Time: stamp(p.Time), Tree: p.Tree.String(), Dir: p.Dir})
	}
	for _, p := range undone {
		all = append(all, checkpoint{Moment: "before an undo", Seq: p.Seq, Time: stamp(p.Time), Tree: p.Tree.String(), Dir: p.Dir})
	}
	slices.SortStableFunc(all, func(a, b checkpoint) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, p := range w.Checkpoints {
		all = append(all, checkpoint{Moment: "checkpoint " + p.Name, Name: p.Name, Seq: p.Seq, Time: stamp(p.Time), Tree: p.Tree.String(), Dir: p.Dir})
	}
	for i := range all {
		if all[i].Session, all[i].Seq, err = h.Inherited(ctx, id, all[i].Seq); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func listCheckpoints(ctx context.Context, a *app.App, h *homes.Home, id string, asJSON bool) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	w := &st.Workspace
	all, err := moments(ctx, h, id, w)
	if err != nil {
		return err
	}
	rows := [][]string{{"MOMENT", "EVENT", "TIME", "TREE"}}
	for _, c := range all {
		t, _ := time.Parse(time.RFC3339, c.Time)
		rows = append(rows, []string{c.Moment, atEvent(a, id, c), a.When(t.UnixMilli()), c.Tree[:12]})
	}
	switch {
	case asJSON:
		if all == nil {
			all = []checkpoint{}
		}
		return a.JSON(all)
	case len(all) == 0 && w.Refused != "":
		a.Note("nothing is kept of the files of session %s: %s", id, w.Refused)
		return nil
	case len(all) == 0:
		a.Note("session %s has no checkpoints, and no turn of it has changed files that are not as before it again", id)
		return nil
	}
	return a.Table(rows)
}

// atEvent names the event of a moment: with its session, as other commands take it, where that is another one.
func atEvent(a *app.App, id string, c checkpoint) string {
	switch c.Session {
	case "":
		return "before the fork"
	case id:
		return fmt.Sprint(c.Seq)
	default:
		return fmt.Sprintf("%s@%d", a.ShortIDs([]string{c.Session})(c.Session), c.Seq)
	}
}
