package talk

import (
	"fmt"

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
		case b.Why == session.CaptureFork:
			f.copied(ev, b)
		case b.Name != "" && b.Refused != "":
			f.note(ev, transcript.Trouble, "no checkpoint %s: %s", plain.Line(b.Name, long), plain.Line(b.Refused, long))
		case b.Name != "":
			f.note(ev, transcript.Note, "checkpoint %s: %s", plain.Line(b.Name, long), plain.Count(b.Files, "file"))
		case b.Refused != "":
			f.note(ev, transcript.Trouble, "files are not captured, so that changes cannot be undone: %s", plain.Line(b.Refused, long))
		}
	case *session.RestoreRequested:
		f.back = back{request: ev.Seq, to: plain.Line(b.To, long), words: "files went back to", wanted: "files are to go back to"}
		if !b.Merge.IsZero() {
			f.back.words, f.back.wanted = "files took", "files are to take"
		}
		f.put(transcript.Item{ID: backID(ev.Seq), Kind: transcript.Note, Text: f.back.wanted + " " + f.back.to})
	case *session.RestoreStarted:
		if f.back.request == b.Request {
			f.back.before = ev.Seq - 1
		}
	case *session.FilesRestored:
		f.restored(b)
	default:
	}
}

// back is a restore of files that was asked for, until it is over. All of it is one note.
type back struct {
	request, before int64 // the events of the wish, and up to which the log has the files as they were
	to              string
	words, wanted   string
}

func backID(request int64) string { return fmt.Sprintf("restore %d", request) }

// maxStays bounds the paths that a restore left alone and that are named.
const maxStays = 10

// restored puts what became of a restore in the place of the wish.
func (f *Fold) restored(b *session.FilesRestored) {
	const long = 500
	r := f.back
	if f.back = (back{}); r.request != b.Request { // the wish is on an earlier page
		r = back{words: "files were", to: "restored"}
	}
	it := transcript.Item{ID: backID(b.Request), Kind: transcript.Trouble}
	switch b.Outcome {
	case session.RestoreDone:
		it.Kind, it.Text = transcript.Note, fmt.Sprintf("%s %s: %s", r.words, r.to, b.RestoreCounts)
		if r.before > 0 {
			it.Text += fmt.Sprintf("; /restore %d takes it back", r.before)
		}
		for i, path := range b.Kept {
			if i == maxStays {
				it.Text += fmt.Sprintf("\n= and %d more", max(int64(len(b.Kept)), b.Conflicts)-maxStays)
				break
			}
			it.Text += "\n= " + plain.Line(path, long) + " stays as it is"
		}
	case session.RestoreUndone:
		it.Text = "files were not restored, they are as they were: " + plain.Line(b.Error, long)
	case session.RestoreFailed:
		it.Text = "files were not restored: " + plain.Line(b.Error, long)
	}
	f.put(it)
}

// maxNotThere bounds what is named that a copy does not have.
const maxNotThere = 6

// copied says in one note that the session has a directory of its own, with where it was forked from if it was. What the
// model is told of it next says the same.
func (f *Fold) copied(ev store.Event, b *session.FilesCaptured) {
	const long = 500
	it := transcript.Item{ID: fmt.Sprintf("note %d", ev.Seq), Kind: transcript.Note}
	if f.forked.seq > 0 && ev.Seq <= f.forked.seq+2 { // together with it
		it.ID, it.Text = fmt.Sprintf("note %d", f.forked.seq), f.forked.words+"; "
	}
	it.Text += "works in " + plain.Line(b.Dir, long) + ", a directory of its own"
	for i, s := range b.Skipped {
		if i == 0 {
			it.Text += "; not in it: "
		} else {
			it.Text += ", "
		}
		if i == maxNotThere {
			it.Text += fmt.Sprintf("and %d more", len(b.Skipped)-i)
			break
		}
		it.Text += plain.Line(s.Path, long)
	}
	f.put(it)
	f.copy = ev.Seq
}
