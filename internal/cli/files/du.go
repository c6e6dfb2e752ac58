package files

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
)

// maxListed bounds the sessions that du lists for people.
const maxListed = 20

// DuCommand is perdure du.
func DuCommand(a *app.App) *cobra.Command {
	var sweep, asJSON bool
	c := &cobra.Command{
		Use: "du [ID]", Short: "Show what sessions take on the disk, and give back what none needs",
		Long: `Show what the home takes on the disk: the captured files of all sessions with what each needs of them, logs, outputs and
caches. What one session has alone goes when it is deleted; what several share stays as long as one of them does.

--sweep gives back what no session needs: what deleted sessions had, and old captures that nobody named. Those after each
call are kept for an hour, those around each turn for a day; the newest, the checkpoints and all that undo goes back to stay
as long as their session. It may be interrupted.`,
		Args: app.RangeArgs(0, 1, "at most one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if sweep && len(args) > 0 {
				return app.UsageError("--sweep is for the whole home: leave the session out")
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				id := ""
				if len(args) > 0 {
					var err error
					if id, err = a.Resolve(ctx, h, args[0]); err != nil {
						return err
					}
				}
				if sweep {
					return sweepHome(ctx, a, h, asJSON)
				}
				return showSpace(ctx, a, h, id, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&sweep, "sweep", false, "give back what no session needs")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func showSpace(ctx context.Context, a *app.App, h *homes.Home, id string, asJSON bool) error {
	s, err := h.Space(ctx)
	if err != nil {
		return err
	}
	if id != "" {
		return showSession(ctx, a, h, s, id, asJSON)
	}
	if asJSON {
		return a.JSON(s)
	}
	quota := ""
	if s.Quota > 0 {
		quota = "of " + display.Bytes(s.Quota) + " (files.quota_mb)"
	}
	each := ""
	if s.Each > 0 {
		each = ", " + display.Bytes(s.Each) + " for each session alone (files.session_quota_mb)"
	}
	rows := [][]string{
		{"WHAT", "SIZE", ""},
		{"captured files", display.Bytes(s.Files), quota + each},
		{"  needed", display.Bytes(s.Live), fmt.Sprintf("%s of it by several sessions", display.Bytes(s.Shared))},
		{"  can go", display.Bytes(s.Free), "at most, by perdure du --sweep"},
		{"logs", display.Bytes(s.Logs), ""},
		{"outputs", display.Bytes(s.Outputs), ""},
		{"caches", display.Bytes(s.Caches), "of directories that are captured"},
		{"search", display.Bytes(s.Search), ""},
		{"other", display.Bytes(s.Other), ""},
	}
	if err := a.Table(rows); err != nil || len(s.Sessions) == 0 {
		return err
	}
	a.Linef("")
	rows = [][]string{{"SESSION", "ALONE", "SHARED", "OUTPUTS", "TITLE"}}
	for _, one := range s.Sessions[:min(len(s.Sessions), maxListed)] {
		rows = append(rows, []string{one.ID, display.Bytes(one.Own), display.Bytes(one.Shared), display.Bytes(one.Outputs), display.Line(one.Title, display.MaxCell)})
	}
	if err := a.Table(rows); err != nil {
		return err
	}
	for _, one := range s.Sessions[:min(len(s.Sessions), maxListed)] {
		noteRefused(a, one)
	}
	if n := len(s.Sessions) - maxListed; n > 0 {
		a.Note("%d more sessions are in --json", n)
	}
	return nil
}

// noteRefused says of a session that its files are not captured.
func noteRefused(a *app.App, one homes.SessionSpace) {
	if one.Refused != "" {
		a.Note("%s is not captured: %s", one.ID, display.Line(one.Refused, 300))
	}
}

func showSession(ctx context.Context, a *app.App, h *homes.Home, s *homes.Space, id string, asJSON bool) error {
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return err
	}
	one := homes.SessionSpace{ID: id, Title: info.Heads.Title}
	if st, err := h.State(ctx, id); err == nil {
		one.Refused = st.Workspace.Refused
	}
	for _, other := range s.Sessions {
		if other.ID == id {
			one = other
		}
	}
	if asJSON {
		return a.JSON(one)
	}
	quota := ""
	if s.Each > 0 {
		quota = " of " + display.Bytes(s.Each) + " (files.session_quota_mb)"
	}
	a.Linef("%s: %s%s of captured files that it has alone, %s shared with other sessions, %s of outputs", id, display.Bytes(one.Own), quota, display.Bytes(one.Shared), display.Bytes(one.Outputs))
	noteRefused(a, one)
	return nil
}

// sweptView is what a sweep did.
type sweptView struct {
	Freed     int64 `json:"freed"` // bytes
	Packs     int   `json:"packs"`
	Removed   int   `json:"removed"`
	Rewritten int   `json:"rewritten"`
	Damaged   int   `json:"damaged"`
}

func sweepHome(ctx context.Context, a *app.App, h *homes.Home, asJSON bool) error {
	got, err := h.Sweep(ctx)
	if err != nil {
		if got.Freed > 0 {
			a.Note("%s were given back before that", display.Bytes(got.Freed))
		}
		return err
	}
	if got.Damaged > 0 {
		a.Note("left alone: %s with something damaged that a session needs", display.Count(int64(got.Damaged), "pack"))
	}
	if asJSON {
		return a.JSON(sweptView{Freed: got.Freed, Packs: got.Packs, Removed: got.Removed, Rewritten: got.Rewritten, Damaged: got.Damaged})
	}
	a.Linef("%s given back", display.Bytes(got.Freed))
	return nil
}
