package talk_test

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// What happens to files by somebody's wish is a line, and so is that they cannot be captured; captures as such are none.
func TestWhatHappensToFiles(t *testing.T) {
	tree := store.Sum(nil)
	tp := newTape().add(
		&session.FilesCaptured{Tree: tree, Why: session.CaptureAct}, &session.FilesCaptured{Tree: tree, Name: "good", Files: 1200},
		&session.FilesCaptured{Name: "bad", Refused: "the disk\nis full"}, &session.FilesCaptured{Refused: "too many\x1b[31m files"},
		&session.ArtifactAdded{},
	)
	tp.want(t, "note: checkpoint good: 1,200 files", "trouble: no checkpoint bad: the disk is full",
		"trouble: files are not captured, so that changes cannot be undone: too many files")
}

// A restore is one note, from the wish to what became of it: what was done, how much, what stayed, and how it is taken
// back.
func TestARestoreIsOneNote(t *testing.T) {
	tree := store.Sum(nil)
	tp := newTape()
	begins := func(r session.RestoreRequested) int64 {
		tp.add(&r)
		request := tp.seq
		tp.add(&session.FilesCaptured{Tree: tree, Why: session.CaptureRestore}, &session.RestoreStarted{Request: request})
		return request
	}
	first := begins(session.RestoreRequested{Target: tree, To: "checkpoint\ngood"})
	tp.want(t, "note: files are to go back to checkpoint good")
	tp.add(&session.FilesRestored{Request: first, Outcome: session.RestoreDone, RestoreCounts: session.RestoreCounts{Added: 1, Conflicts: 2}, Kept: []string{"a\x1b[31mb", "c"}})
	done := "note: files went back to checkpoint good: 1 added, 0 modified, 0 deleted, 2 conflicts; /restore 2 takes it back\n= ab stays as it is\n= c stays as it is"
	tp.want(t, done)
	tp.add(&session.FilesRestored{Request: begins(session.RestoreRequested{Target: tree, To: "before turn 1"}), Outcome: session.RestoreUndone, Error: "full"})
	tp.add(&session.FilesRestored{Request: begins(session.RestoreRequested{Target: tree, To: "before turn 1"}), Outcome: session.RestoreFailed, Error: "no tree"})
	tp.add(&session.FilesRestored{Request: begins(session.RestoreRequested{Target: tree, To: "the changes of session x", Merge: tree}), Outcome: session.RestoreDone, RestoreCounts: session.RestoreCounts{Deleted: 3}})
	tp.want(t, done, "trouble: files were not restored, they are as they were: full", "trouble: files were not restored: no tree",
		"note: files took the changes of session x: 0 added, 0 modified, 3 deleted; /restore 14 takes it back")
}

// What became of a restore whose wish is on an earlier page is said all the same.
func TestARestoreAcrossPages(t *testing.T) {
	tp := newTape().add(&session.FilesRestored{Request: 99, Outcome: session.RestoreDone, RestoreCounts: session.RestoreCounts{Added: 1}})
	tp.want(t, "note: files were restored: 1 added, 0 modified, 0 deleted")
}

// A fork with a directory of its own is one note: from where, where it works, and what is not there. What the model is
// told says the same, and later notes are shown.
func TestAForkIsOneNote(t *testing.T) {
	dir := "/home/isolated/k/proj"
	told := &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("[This session works in a directory of its own]")}}
	later := &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("[3 files changed]")}}
	captured := &session.FilesCaptured{Tree: store.Sum(nil), Why: session.CaptureFork, Dir: dir, Skipped: []session.Skipped{{Path: "node_modules"}, {Path: "big\n.bin"}}}
	moved := &session.Configured{Root: &dir, Cwd: &dir, Moved: true}
	newTape().add(&session.Forked{Parent: store.Position{Session: "p", Seq: 7}}, moved, captured, told, later).want(t,
		"note: forked from p at event 7; what comes before this is the parent's; works in "+dir+", a directory of its own; not in it: node_modules, big .bin",
		"note: 3 files changed")
	newTape().add(captured, told, later).want(t,
		"note: works in "+dir+", a directory of its own; not in it: node_modules, big .bin", "note: 3 files changed")
	newTape().add(&session.Forked{Parent: store.Position{Session: "p", Seq: 7}}, later).want(t,
		"note: forked from p at event 7; what comes before this is the parent's", "note: 3 files changed")
}
