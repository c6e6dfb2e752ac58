package homes

import (
	"context"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// maxUndone bounds how many of the moments before an undo are found.
const maxUndone = 64

// Undone lists what a session's files were before each undo of its own, the oldest first, for as long as that is kept by
// itself. [Home.UndoPoint] does not go back to these: it goes back further each time. [Home.FilesAt] finds them by their
// event.
func (h *Home) Undone(ctx context.Context, id string) ([]FilePoint, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	since := h.cfg.Now().Add(-keepTurns).UnixMilli()
	kinds := []store.Kind{session.KindRestoreRequested, session.KindRestoreStarted, session.KindFilesRestored}
	done, began := map[int64]bool{}, map[int64]FilePoint{}
	var out []FilePoint
	for ev, err := range h.Range(ctx, id, Range{Through: st.Head.Seq, Kinds: kinds, Reverse: true}) {
		if err != nil {
			return nil, err
		}
		if ev.Time < since || len(out) == maxUndone {
			break
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *session.FilesRestored:
			done[b.Request] = b.Outcome == session.RestoreDone
		case *session.RestoreStarted:
			began[b.Request] = FilePoint{Tree: b.Before, Dir: filesDir(st), Seq: ev.Seq, Time: ev.Time, To: fmt.Sprintf("before the undo of event %d", b.Request)}
		case *session.RestoreRequested:
			if p, ok := began[ev.Seq]; ok && done[ev.Seq] && b.Undo != nil {
				out = append(out, p)
			}
		default:
		}
	}
	slices.Reverse(out)
	return out, nil
}
