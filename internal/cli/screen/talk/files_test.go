package talk_test

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// What happens to files by somebody's wish is a line, and so is that they cannot be captured; captures as such are none.
func TestWhatHappensToFiles(t *testing.T) {
	tree := store.Sum(nil)
	tp := newTape().add(
		&session.FilesCaptured{Tree: tree, Why: session.CaptureAct}, &session.FilesCaptured{Tree: tree, Name: "good", Files: 1200},
		&session.FilesCaptured{Name: "bad", Refused: "the disk\nis full"}, &session.FilesCaptured{Refused: "too many\x1b[31m files"},
		&session.RestoreRequested{Target: tree, To: "checkpoint\ngood"}, &session.RestoreStarted{},
		&session.FilesRestored{Outcome: session.RestoreDone, RestoreCounts: session.RestoreCounts{Added: 1, Conflicts: 2}},
		&session.FilesRestored{Outcome: session.RestoreUndone, Error: "full"}, &session.FilesRestored{Outcome: session.RestoreFailed, Error: "no tree"},
		&session.ArtifactAdded{},
	)
	tp.want(t, "note: checkpoint good: 1,200 files", "trouble: no checkpoint bad: the disk is full",
		"trouble: files are not captured, so that changes cannot be undone: too many files", "note: files are to be restored to checkpoint good",
		"note: files restored: 1 added, 0 modified, 0 deleted, 2 conflicts", "trouble: files were not restored, they are as they were: full",
		"trouble: files were not restored: no tree")
}
