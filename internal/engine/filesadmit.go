package engine

import (
	"fmt"
	"path"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// Bounds of what is asked for about files, in bytes.
const (
	maxRestoreTo   = 200
	maxRestorePath = 4096
)

// admitFiles takes what a person wants done with the session's files, or kept of them.
func (s *admission) admitFiles(body session.Body, key string) error {
	if s.eng.cfg.Captures == nil {
		return errNoCaptures
	}
	if s.state.Lifecycle == session.LifecycleArchived {
		return fmt.Errorf("the session is %s", s.state.Lifecycle)
	}
	switch b := body.(type) {
	case *session.CheckpointRequested:
		b.Key = key
		return s.state.Workspace.TakesCheckpoint(b.Name)
	case *session.RestoreRequested:
		b.Key, b.To = key, session.CutEnd(strings.ToValidUTF8(b.To, "?"), maxRestoreTo)
		for _, p := range b.Paths {
			if err := restorePath(p); err != nil {
				return err
			}
		}
		if s.atRest() {
			return s.state.TakesRestoreAtRest(b)
		}
		return s.state.TakesRestore(b)
	case *session.ArtifactAdded:
		return admitArtifact(&b.Artifact)
	default:
		return fmt.Errorf("%s is not about files", session.KindOf(body))
	}
}

// restorePath says why a path cannot be restored: it names what lies below the workspace, in its one form.
func restorePath(p string) error {
	if p == "" || p == "." || len(p) > maxRestorePath || strings.HasPrefix(p, "/") || path.Clean(p) != p || strings.HasPrefix(p, "../") || p == ".." || strings.ContainsRune(p, 0) {
		return fmt.Errorf("%q is no path below the workspace", session.CutEnd(p, maxNamedBytes))
	}
	return nil
}

// admitArtifact takes a file that a person wants kept.
func admitArtifact(a *session.Artifact) error {
	a.Act, a.Seq, a.Time = "", 0, 0
	a.Note = session.CutEnd(a.Note, session.MaxArtifactNote)
	if err := session.ArtifactName(a.Name); err != nil {
		return err
	}
	if a.Digest.IsZero() || a.Size < 0 || len(a.Media) > session.MaxArtifactName {
		return fmt.Errorf("an artifact is named with its digest and size")
	}
	return nil
}
