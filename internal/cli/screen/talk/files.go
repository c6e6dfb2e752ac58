package talk

import (
	"fmt"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// asked is a restore that was asked for.
type asked struct {
	seq int64
	to  string // where it leads, in words
}

func restoreID(seq int64) string { return fmt.Sprintf("restore %d", seq) }

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
		text := "files are to be restored to " + plain.Line(b.To, long)
		if f.restore = (asked{ev.Seq, " to " + plain.Line(b.To, long)}); !b.Merge.IsZero() {
			text, f.restore.to = "files are to take "+plain.Line(b.To, long), ""
		}
		f.put(transcript.Item{ID: restoreID(ev.Seq), Kind: transcript.Note, Text: text})
	case *session.FilesRestored:
		switch b.Outcome {
		case session.RestoreDone:
			id, to := fmt.Sprintf("note %d", ev.Seq), ""
			if f.restore.seq == b.Request && b.Request > 0 { // one line for both
				id, to = restoreID(b.Request), f.restore.to
			}
			f.put(transcript.Item{ID: id, Kind: transcript.Note, Text: fmt.Sprintf("files restored%s: %s", to, b.RestoreCounts)})
		case session.RestoreUndone:
			f.note(ev, transcript.Trouble, "files were not restored, they are as they were: %s", plain.Line(b.Error, long))
		case session.RestoreFailed:
			f.note(ev, transcript.Trouble, "files were not restored: %s", plain.Line(b.Error, long))
		}
	default:
	}
}
