package sessions

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// maxName bounds a session's name, in bytes.
const maxName = 256

// RenameCommand is perdure rename.
func RenameCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "rename ID NAME", Short: "Name a session", Args: app.ExactArgs(2, "a session and its new name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[1]
			if err := CheckName(name); err != nil {
				return err
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				if err := a.Deliver(ctx, h, id, &session.Labelled{Title: &name}); err != nil {
					return err
				}
				a.Note("session %s is named %q", id, name)
				WarnOfTwins(ctx, a, h, id, name)
				return nil
			})
		},
	}
}

// CheckName refuses what cannot be the name of a session.
func CheckName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return app.UsageError("a name cannot be empty")
	case len(name) > maxName:
		return app.UsageError("a name of %d bytes: want at most %d", len(name), maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return app.UsageError("a name cannot hold control characters")
	}
	return nil
}

// WarnOfTwins says when the name does not lead to the session: ids come first, and a name must be the only one.
func WarnOfTwins(ctx context.Context, a *app.App, h *homes.Home, id, name string) {
	if info, err := h.Store().Get(ctx, name); err == nil && info.ID != id {
		a.Note("%q is also the id of another session, which comes first: use %s", name, id)
		return
	}
	page, err := h.Store().List(ctx, store.Query{Title: name, Limit: 2})
	if err == nil && slices.ContainsFunc(page.Sessions, func(s store.Info) bool { return s.ID != id }) {
		a.Note("another session has this name too: use %s", id)
	}
}

// PauseCommand is perdure pause.
func PauseCommand(a *app.App) *cobra.Command {
	return lifecycleCommand(a, "pause", "Let a session start nothing new; a command that runs goes on", session.LifecyclePaused,
		session.LifecycleOpen)
}

// CloseCommand is perdure close.
func CloseCommand(a *app.App) *cobra.Command {
	return lifecycleCommand(a, "close", "Declare a session done; it is kept", session.LifecycleClosed,
		session.LifecycleOpen, session.LifecyclePaused)
}

// ReopenCommand is perdure reopen.
func ReopenCommand(a *app.App) *cobra.Command {
	return lifecycleCommand(a, "reopen", "Let a paused or closed session take turns again", session.LifecycleOpen,
		session.LifecyclePaused, session.LifecycleClosed)
}

// lifecycleCommand moves a session from one of the given lifecycles. Where it stands there already, nothing happens.
func lifecycleCommand(a *app.App, verb, short string, to session.Lifecycle, from ...session.Lifecycle) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return SetLifecycle(ctx, a, h, id, to, from...)
			})
		},
	}
}

// SetLifecycle moves a session from one of the given lifecycles. What runs it in the background ends with its openness, in
// order.
func SetLifecycle(ctx context.Context, a *app.App, h *homes.Home, id string, to session.Lifecycle, from ...session.Lifecycle) error {
	st, err := h.State(ctx, id)
	switch {
	case err != nil:
		return err
	case st.Lifecycle == to:
		a.Note("session %s is %s already", id, to)
		return nil
	case !slices.Contains(from, st.Lifecycle):
		return &app.ExitError{Code: app.ExitFailed, Text: "session " + id + " is " + string(st.Lifecycle) + ": it cannot be " + string(to)}
	}
	if err := a.Deliver(ctx, h, id, &session.LifecycleSet{To: to}); err != nil {
		return err
	}
	if to != session.LifecycleOpen {
		if err := (background.Keeper{App: a, Home: h}).End(ctx, id); err != nil {
			a.Note("%v", err)
		}
	}
	if to == session.LifecycleClosed {
		if err := h.FreePorts(id); err != nil {
			return err
		}
	}
	if to != session.LifecycleOpen {
		if err := h.Rest(ctx, id); err != nil {
			a.Note("session %s left no handoff: %v", id, err)
		}
	}
	a.Note("session %s is %s", id, to)
	TellTasks(ctx, a, h, id)
	return nil
}
