package background

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
)

// maxTold bounds the sessions that one line names.
const maxTold = 8

// Tell says on stderr what a look has come to.
func (k Keeper) Tell(rep Report) {
	if n := len(rep.Back); n > 0 {
		k.App.Note("%s killed, and %s on: %s", were(n, "background session"), runs(n), some(rep.Back))
	}
	if n := len(rep.Begun); n > 0 {
		k.App.Note("%s waited for a place, and %s now: %s", display.Count(int64(n), "background session"), runs(n), some(rep.Begun))
	}
	for _, id := range rep.Without {
		k.App.Note("session %s ran without asking (bypassPermissions), which nothing restores: it asks again", id)
		k.App.Hint("perdure pause %s; perdure start -r %s --dangerously-skip-permissions lets it go on without asking", id, id)
	}
	for _, id := range slices.Sorted(maps.Keys(rep.Down)) {
		k.App.Note("background session %s does not run: %s", id, rep.Down[id])
		k.App.Hint("perdure start --resume-all tries again; perdure pause %s gives it up", id)
	}
}

// Return is what a command does first that shows sessions: what was killed is brought back. Where there is nothing in the
// background it reads one directory. Inside of a session's own command, and in the home of another user, it does nothing.
// What goes wrong is told, and does not keep the command from showing what there is.
func Return(ctx context.Context, a *app.App) {
	home, err := a.HomeDir()
	if err != nil || settled(home) || !mine(home) || a.Exe == "" || a.Inside() != "" {
		return
	}
	err = a.With(ctx, func(h *homes.Home) error {
		k := Keeper{App: a, Home: h}
		rep, err := k.BringBack(ctx, Look{})
		k.Tell(rep)
		return err
	})
	if err != nil {
		a.Note("background sessions were not looked after: %v", err)
	}
}

// settled reports that each record has its supervisor, or that there is none: there is nothing to do.
func settled(home string) bool {
	return !slices.ContainsFunc(entries(home), func(e Entry) bool { return e.State != Supervised })
}

func were(n int, what string) string {
	if n == 1 {
		return display.Count(int64(n), what) + " was"
	}
	return display.Count(int64(n), what) + " were"
}

func runs(n int) string {
	if n == 1 {
		return "runs"
	}
	return "run"
}

func some(ids []string) string {
	if more := len(ids) - maxTold; more > 0 {
		return strings.Join(ids[:maxTold], ", ") + " and more"
	}
	return strings.Join(ids, ", ")
}
