package care

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// VerifyCommand is perdure verify.
func VerifyCommand(a *app.App) *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use: "verify ID...|--all", Short: "Check sessions' logs from their first event to their last",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return app.UsageError("give a session or --all, not both")
			case all:
				return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return verifyAll(ctx, a, h, asJSON) })
			case len(args) == 0:
				return app.UsageError("want a session, or --all")
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return verifySome(ctx, a, h, args, asJSON) })
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every session")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a session")
	return c
}

// verdictOf is a line of verify --json.
type verdictOf struct {
	ID     string   `json:"id"`
	OK     bool     `json:"ok"`
	Faults []string `json:"faults"`
}

// verify checks one session and prints ok, or every fault on a line of its own.
func verify(ctx context.Context, a *app.App, h *homes.Home, id string, asJSON bool, prefix string) (sound bool, err error) {
	faults, err := h.Verify(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound) || ctx.Err() != nil:
		return false, err
	case err != nil: // what keeps it from being checked is a fault too
		faults = append(faults, err.Error())
	}
	if err := printFaults(a, id, faults, asJSON, prefix); err != nil || len(faults) == 0 {
		return err == nil, err
	}
	hintFaults(ctx, a, h, id)
	return false, nil
}

func printFaults(a *app.App, id string, faults []string, asJSON bool, prefix string) error {
	if asJSON {
		return a.JSON(verdictOf{ID: id, OK: len(faults) == 0, Faults: append([]string{}, faults...)})
	}
	if len(faults) == 0 {
		a.Linef("%sok", prefix)
	}
	for _, f := range faults {
		a.Linef("%s%s", prefix, display.Line(f, 500))
	}
	return nil
}

// hintFaults names the ways on from a session with faults.
func hintFaults(ctx context.Context, a *app.App, h *homes.Home, id string) {
	a.Hint("a backup from before has it whole: PERDURE_HOME=BACKUP %s (perdure backup makes them)", a.Command("show", id))
	for _, err := range h.Store().Read(ctx, id, 1, 0) {
		var corrupt *store.CorruptError
		if errors.As(err, &corrupt) && corrupt.Seq > 1 && !errors.Is(err, store.ErrDamaged) {
			a.Hint("%s goes on in a session of its own, from the last good event", a.Command("fork", fmt.Sprintf("%s@%d", id, corrupt.Seq-1)))
		}
		if err != nil {
			return
		}
	}
}

// verifySome checks sessions by what they are called. All of them are found before the first one is checked.
func verifySome(ctx context.Context, a *app.App, h *homes.Home, called []string, asJSON bool) error {
	var ids []string
	for _, name := range called {
		id, err := a.Resolve(ctx, h, name)
		if err != nil {
			return err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	bad := 0
	for _, id := range ids {
		a.WarnOfApplies(ctx, h, id)
		prefix := ""
		if len(called) > 1 {
			prefix = id + "  "
		}
		sound, err := verify(ctx, a, h, id, asJSON, prefix)
		if err != nil {
			return err
		}
		if !sound {
			bad++
		}
	}
	if bad > 0 {
		return app.Exit(app.ExitFailed)
	}
	return nil
}

// stillListed reports whether a session is listed that cannot be found by its id.
func stillListed(ctx context.Context, h *homes.Home, id string) bool {
	found := false
	err := app.EachSession(ctx, h, store.Query{}, func(s store.Info) error {
		found = found || s.ID == id
		return nil
	})
	return err == nil && found
}

func verifyAll(ctx context.Context, a *app.App, h *homes.Home, asJSON bool) error {
	bad := 0
	err := app.EachSession(ctx, h, store.Query{}, func(s store.Info) error {
		sound, err := verify(ctx, a, h, s.ID, asJSON, s.ID+"  ")
		if errors.Is(err, store.ErrNotFound) {
			if !stillListed(ctx, h, s.ID) {
				return nil // deleted meanwhile
			}
			sound, err = false, printFaults(a, s.ID, []string{"it is listed and cannot be found: an index of the database is damaged"}, asJSON, s.ID+"  ")
		}
		if err == nil && !sound {
			bad++
		}
		return err
	})
	if err != nil {
		return err
	}
	lost := app.Losses(ctx, h) // They have been told already, as by every command.
	if asJSON && len(lost) > 0 {
		if err := a.JSON(verdictOf{Faults: lost}); err != nil {
			return err
		}
	}
	if bad > 0 {
		a.Note("with faults: %s; the others are not affected", display.Count(int64(bad), "session"))
		a.Hint("put a backup in its place (perdure backup makes them), or go on without: perdure delete ID removes what cannot be read")
	}
	if bad+len(lost) > 0 {
		return app.Exit(app.ExitFailed)
	}
	return nil
}
