package talk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen/talk"
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

// A restore is one line, which says first what is to be and then what was done; not that something else was.
func TestARestoreIsOneLine(t *testing.T) {
	tree := store.Sum(nil)
	tp := newTape().add(&session.RestoreRequested{Target: tree, To: "before turn 3"})
	tp.want(t, "note: files are to be restored to before turn 3")
	tp.add(&session.RestoreStarted{Request: 1}, &session.FilesRestored{Request: 1, Outcome: session.RestoreDone, RestoreCounts: session.RestoreCounts{Added: 1}})
	tp.want(t, "note: files restored to before turn 3: 1 added, 0 modified, 0 deleted, 0 conflicts")
	tp.add(&session.RestoreRequested{Target: tree, Merge: tree, To: "the changes of session b"})
	tp.add(&session.FilesRestored{Request: tp.seq, Outcome: session.RestoreFailed, Error: "full"})
	tp.want(t, "note: files restored to before turn 3: 1 added, 0 modified, 0 deleted, 0 conflicts", "note: files are to take the changes of session b", "trouble: files were not restored: full")
}

// How far a long capture is stands in one line, which is renewed and goes with the next event.
func TestALongCaptureIsShown(t *testing.T) {
	f := talk.New(talk.Config{ID: "s"})
	items := map[string]string{}
	take := func() {
		c := f.Take()
		for _, id := range c.Drop {
			delete(items, id)
		}
		for _, it := range c.Items {
			items[it.ID] = it.Text
		}
	}
	for _, text := range []string{"10 files, 1 MB", "20 files, 2 MB"} {
		f.Delta("", session.FilesUpdate, text)
		take()
		if len(items) != 1 || !strings.Contains(fmt.Sprint(items), text) {
			t.Errorf("after %s: %v", text, items)
		}
	}
	f.Event(store.Event{Seq: 5}, &session.FilesCaptured{Tree: store.Sum(nil), Why: session.CaptureBefore})
	if take(); len(items) != 0 {
		t.Errorf("it stays: %v", items)
	}
}
