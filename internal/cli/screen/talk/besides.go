package talk

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// besides takes what is no part of the conversation and yet worth a line.
func (f *Fold) besides(ev store.Event, body session.Body) {
	switch b := body.(type) {
	case *session.Compacted:
		f.note(ev, transcript.Note, "compacted: %s → about %s tokens; the log keeps everything", plain.Grouped(b.TokensBefore), plain.Grouped(b.TokensAfter))
	case *session.ContextGiven:
		f.note(ev, transcript.Note, "given: %s", f.given(b))
	case *session.Configured:
		if b.Moved && ev.Seq == f.forked.seq+1 {
			return // the directory of its own is told with its files
		}
		if text := session.Summary(ev); text != "" {
			f.note(ev, transcript.Note, "%s", text)
		}
	case *session.LifecycleSet:
		f.note(ev, transcript.Note, "the session is %s", b.To)
	case *session.AwaitMet:
		if b.End != nil && f.told[b.Task] {
			delete(f.told, b.Task)
			f.note(ev, transcript.Note, "the model is told, which waited for it")
			return
		}
		f.note(ev, transcript.Note, "told: %s", plain.Line(string(b.Text), 500))
	case *session.HandoffWritten:
		f.note(ev, transcript.Note, "handoff written")
	case *session.Forked:
		f.forked = forked{ev.Seq, fmt.Sprintf("forked from %s at event %d; what comes before this is the parent's", f.name(b.Parent.Session), b.Parent.Seq)}
		f.note(ev, transcript.Note, "%s", f.forked.words)
	case *session.Imported:
		f.note(ev, transcript.Note, "imported; what comes before this was written in another home")
	case *session.InboxRefused:
		if second(b) {
			f.note(ev, transcript.Note, "another answer came later, or too late; it counts for nothing")
			return
		}
		f.note(ev, transcript.Trouble, "refused: %s", plain.Line(b.Reason, 500))
	case *session.PermissionGranted:
		f.note(ev, transcript.Note, "allowed from now on: %s", plain.Line(b.Rule, 500))
	case *session.PermissionRevoked:
		f.note(ev, transcript.Note, "no longer allowed: %s", plain.Line(b.Rule, 500))
	default:
		f.files(ev, body)
	}
}

// second reports an answer to what nobody asks any more, as one of two terminals that answer at the same time gives.
func second(b *session.InboxRefused) bool {
	return b.Item == session.KindApprovalAnswered && strings.HasPrefix(b.Reason, "no approval is asked for") ||
		b.Item == session.KindQuestionAnswered && strings.HasPrefix(b.Reason, "no question is asked by")
}

// maxChanged bounds how many files are named that changed beside the session.
const maxChanged = 5

// changed names the files that changed beside the session. Whoever changed them knows how, so the lines that the model
// is told are left out.
func (f *Fold) changed(changed []session.FileChange) string {
	var names []string
	for _, c := range changed[:min(len(changed), maxChanged)] {
		name := plain.Line(f.near(c.Path), 200)
		if c.Digest.IsZero() {
			name += " (removed)"
		}
		names = append(names, name)
	}
	text := "changed on disk, which the model is told: " + strings.Join(names, ", ")
	if n := len(changed) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// near is a path as it is called in the directory of the session, if it lies there.
func (f *Fold) near(path string) string {
	if rel, err := filepath.Rel(f.cfg.Dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// name is what a person calls a session.
func (f *Fold) name(id string) string {
	if f.cfg.Called != nil {
		id = f.cfg.Called(id)
	}
	return plain.Line(id, 100)
}

// forked is where a session was forked.
type forked struct {
	seq   int64
	words string
}

// given names what a session was given: files of instructions by their path, since these are the person's own; of all else
// Perdure knows the place.
func (f *Fold) given(b *session.ContextGiven) string {
	var names []string
	for _, t := range b.Texts {
		name := strings.ReplaceAll(t.Name, "_", " ")
		if t.Name == session.GivenInstructions && t.Path != "" {
			name = f.near(t.Path)
		}
		names = append(names, plain.Line(name, 200))
	}
	return strings.Join(names, ", ")
}

// Words are the words of a message, in which a long text that was pasted stands as it did where it was written, and in
// words what else came with it.
func Words(parts []model.Part) (text string, with []string) {
	var said []string
	images := 0
	for _, p := range parts {
		n, lines, _, isPasted := pasted(p)
		switch {
		case p.Type == model.BlockImage:
			images++
			with = append(with, fmt.Sprintf("image %d: %s", images, composer.Describe(p.Data)))
		case p.Type != model.BlockText:
			with = append(with, fmt.Sprintf("%s %s", p.Media, plain.Size(int64(len(p.Data)))))
		case len(said) > 0 && isPasted:
			if name := PastedName(n); strings.Contains(said[0], name) {
				said[0] = strings.Replace(said[0], name, "["+pastedLines(lines)+"]", 1)
			} else {
				with = append(with, pastedLines(lines))
			}
		case len(p.Data) > 0:
			said = append(said, string(p.Data))
		}
	}
	return strings.Join(said, "\n"), with
}

// PastedPart is the part of a message that holds a long text that was pasted, the nth thing that came with it: the screen
// shows how long it is, the model gets all.
func PastedPart(n, lines int, text string) model.Part {
	return model.TextPart(fmt.Sprintf(pastedHead, n, lines) + "\n" + text)
}

const pastedHead = "[pasted text %d, %d lines]"

// PastedName stands in the text of a message for the nth thing that came with it, if that is a text that was pasted.
func PastedName(n int) string { return fmt.Sprintf("[pasted text %d]", n) }

// Pasted is a part that PastedPart made; not ok: it is something else.
func Pasted(p model.Part) (lines int, text string, ok bool) {
	_, lines, text, ok = pasted(p)
	return lines, text, ok
}

func pasted(p model.Part) (n, lines int, text string, ok bool) {
	data := string(p.Data)
	head, _, more := strings.Cut(data[:min(len(data), 100)], "\n")
	if _, err := fmt.Sscanf(head, pastedHead, &n, &lines); err != nil || !more || fmt.Sprintf(pastedHead, n, lines) != head {
		return 0, 0, "", false
	}
	return n, lines, data[len(head)+1:], true
}

func pastedLines(n int) string {
	if n == 1 {
		return "pasted 1 line"
	}
	return fmt.Sprintf("pasted %s lines", plain.Grouped(int64(n)))
}
