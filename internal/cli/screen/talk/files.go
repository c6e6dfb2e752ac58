package talk

import (
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// files takes what happens to the files of the session by somebody's wish, and that they could not be captured. Ordinary
// captures are nobody's concern.
func (f *Fold) files(ev store.Event, body session.Body) {
	const long = 500
	switch b := body.(type) {
	case *session.FilesCaptured:
		switch {
		case b.Name != "" && b.Refused != "":
			f.note(ev, transcript.Trouble, "no checkpoint %s: %s", plain.Line(b.Name, long), plain.Line(b.Refused, long))
		case b.Name != "":
			f.note(ev, transcript.Note, "checkpoint %s: %s files", plain.Line(b.Name, long), plain.Grouped(b.Files))
		case b.Refused != "":
			f.note(ev, transcript.Trouble, "files are not captured, so that changes cannot be undone: %s", plain.Line(b.Refused, long))
		}
	case *session.RestoreRequested:
		if b.Merge.IsZero() {
			f.note(ev, transcript.Note, "files are to be restored to %s", plain.Line(b.To, long))
		} else {
			f.note(ev, transcript.Note, "files are to take %s", plain.Line(b.To, long))
		}
	case *session.FilesRestored:
		switch b.Outcome {
		case session.RestoreDone:
			f.note(ev, transcript.Note, "files restored: %s", b.RestoreCounts)
		case session.RestoreUndone:
			f.note(ev, transcript.Trouble, "files were not restored, they are as they were: %s", plain.Line(b.Error, long))
		case session.RestoreFailed:
			f.note(ev, transcript.Trouble, "files were not restored: %s", plain.Line(b.Error, long))
		}
	default:
	}
}
