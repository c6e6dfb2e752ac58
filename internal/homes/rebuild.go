package homes

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
)

// FilesKnown is what the files of a session were when it looked last, as it was given back. The error wraps ErrNoFiles if
// nothing was captured of the directory that it works in.
func (h *Home) FilesKnown(st *session.State) (FilePoint, error) {
	w := &st.Workspace
	switch {
	case h.blobs == nil:
		return FilePoint{}, errOff
	case w.Tree.IsZero() || w.Dir != filesDir(st):
		return FilePoint{}, fmt.Errorf("session %s: %w", st.ID, ErrNoFiles)
	}
	return FilePoint{Tree: w.Tree, Dir: w.Dir, Seq: w.Seq, Time: w.Time, To: "what they were when the session was left"}, nil
}

// clearBuilds takes away what processes have left that were killed while they made a directory out of a tree: an import, a
// fork, a session whose directory was gone. What fails is tried by the next opening.
func (h *Home) clearBuilds(ctx context.Context) {
	if err := realdir.Check(h.dir, buildsDir); err != nil {
		h.cfg.Log.Warn("what was left of directories whose making was interrupted is not looked for", "error", err)
		return
	}
	n, err := restore.ClearBuilds(ctx, filepath.Join(h.dir, buildsDir))
	if n > 0 {
		h.cfg.Log.Info("what was left of directories whose making was interrupted is removed", "directories", n)
	}
	if err != nil {
		h.cfg.Log.Debug("what was left of directories whose making was interrupted stays", "error", err)
	}
}

// RebuildFiles makes a directory that is gone again, with the files of a point of it. It is there as a whole, or not at
// all; one that is there and not empty is left alone: the error wraps restore.ErrTaken.
func (h *Home) RebuildFiles(ctx context.Context, p FilePoint) (restore.Made, error) {
	if h.spaces == nil {
		return restore.Made{}, errOff
	}
	return h.spaces.Make(ctx, p.Dir, p.Tree)
}
