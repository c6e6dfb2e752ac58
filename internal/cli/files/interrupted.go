package files

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
)

// interrupted words the error of a restore whose command was ended by a signal: how far it came, and what becomes of it.
func interrupted(ctx context.Context, h *homes.Home, id string, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	st, lookErr := h.State(context.WithoutCancel(ctx), id)
	if lookErr != nil || st.Workspace.Restore == nil {
		return err
	}
	what := plain.Line(st.Workspace.Restore.Words(), maxPath)
	if !st.Workspace.Restoring() {
		return fmt.Errorf("interrupted: no file was touched; the next command that goes on with session %s does %s", id, what)
	}
	return fmt.Errorf("interrupted: %s is not finished: perdure undo %s, or whatever goes on with the session, finishes it", what, id)
}
