package session

import (
	"testing"

	"github.com/perdure/perdure/store"
)

// The lines of a log about files say what was captured, restored, kept and brought here, in words and numbers.
func TestLinesOfALogAboutFiles(t *testing.T) {
	tree := store.Digest{0xab, 0xcd}
	counts := RestoreCounts{Added: 1, Modified: 2, Deleted: 3}
	for want, b := range map[string]Body{
		"before: 2 changed of 9 files, tree abcd00000000":                  &FilesCaptured{Why: CaptureBefore, Tree: tree, Files: 9, Changed: 2},
		"after t1.s1.c1: 0 changed of 0 files, tree abcd00000000":          &FilesCaptured{Why: CaptureAct, Act: "t1.s1.c1", Tree: tree},
		"checkpoint good: 0 changed of 0 files, tree abcd00000000":         &FilesCaptured{Why: CaptureNamed, Name: "good", Act: "t1", Tree: tree},
		"turn: 0 changed of 0 files, tree abcd00000000, 4 notices":         &FilesCaptured{Why: CaptureTurn, Tree: tree, Skipped: make([]Skipped, 1), Torn: make([]string, 1), Dropped: 2},
		"turn: not captured: too large":                                    &FilesCaptured{Why: CaptureTurn, Refused: "too large"},
		"to checkpoint good":                                               &RestoreRequested{To: "checkpoint good"},
		"to turn 3, only 2 paths":                                          &RestoreRequested{To: "turn 3", Paths: make([]string, 2)},
		"apply the changes of session k":                                   &RestoreRequested{To: "the changes of session k", Merge: tree},
		"event 4: 1 added, 2 modified, 3 deleted":                          &RestoreStarted{Request: 4, RestoreCounts: counts},
		"event 4: done: 1 added, 2 modified, 3 deleted":                    &FilesRestored{Request: 4, Outcome: RestoreDone, RestoreCounts: counts},
		"event 4: undone: 0 added, 0 modified, 0 deleted the disk is full": &FilesRestored{Request: 4, Outcome: RestoreUndone, Error: "the disk is full"},
		"good":                        &CheckpointRequested{Name: "good"},
		"report.pdf, 9 bytes":         &ArtifactAdded{Artifact: Artifact{Name: "report.pdf", Size: 9}},
		"report.pdf, 9 bytes for you": &ArtifactAdded{Artifact: Artifact{Name: "report.pdf", Size: 9, Note: "for you"}},
		"7 events, belongs to /w":     &Imported{Head: store.Head{Seq: 7}, Root: "/w"},
		"7 events, belongs to /w, as a part of a fork": &Imported{Head: store.Head{Seq: 7}, Root: "/w", Part: true},
	} {
		if got := b.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
