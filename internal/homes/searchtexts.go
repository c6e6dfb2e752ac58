package homes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// library is a home as something to search.
type library struct {
	home      *Home
	inProject bool
	files     map[string]knowledge.Document // by path, as they were listed
}

// Bounds of what is searched of one event, in bytes: of a longer text the beginning and the end.
const (
	searchedSpeech = 64 << 10 // of a message or a reply
	searchedResult = 16 << 10 // of a call or its result
	searchedTitle  = 120      // characters of what a text in a file is known by
)

// settledFile is the age from which on a file that is changed again has another time of change.
const settledFile = 10 * time.Second

// kinds of documents, as they are searched.
var searchKinds = map[string]string{knowledge.KindMemory: search.Memory, knowledge.KindJournal: search.Journal, knowledge.KindHandoff: search.Handoffs}

// Sources lists the sessions, and then the files that are known by the directories of these.
func (l *library) Sources(ctx context.Context) iter.Seq2[search.Source, error] {
	return func(yield func(search.Source, error) bool) {
		seen := map[string]bool{}
		var dirs []string
		q := store.Query{Limit: 1000}
		for {
			page, err := l.home.store.List(ctx, q)
			if err != nil {
				yield(search.Source{}, err)
				return
			}
			for _, info := range page.Sessions {
				if dir := info.Heads.Cwd; !seen[dir] {
					seen[dir] = true
					dirs = append(dirs, dir)
				}
				if !yield(sessionSource(info), nil) {
					return
				}
			}
			if page.Next == "" {
				break
			}
			q.After = page.Next
		}
		docs, err := knowledge.Documents(l.home.dir, dirs, l.inProject)
		if err != nil {
			yield(search.Source{}, err)
			return
		}
		for _, d := range docs {
			l.files[d.File] = d
			if !yield(l.fileSource(d), nil) {
				return
			}
		}
	}
}

func sessionSource(info store.Info) search.Source {
	title := info.Heads.Title
	if title == "" {
		title = info.Heads.Labels[labelPrompt]
	}
	return search.Source{
		Kind: search.Sessions, Name: info.ID, Title: strings.ToValidUTF8(title, "\uFFFD"), Cwd: strings.ToValidUTF8(info.Heads.Cwd, "\uFFFD"),
		Updated: info.Updated, Seq: info.Head.Seq, Hash: info.Head.Hash.String(),
	}
}

// labelPrompt is the label under which a session that the command opened keeps the first words of its first prompt.
const labelPrompt = "prompt"

// fileSource marks a file by its time and size, and one that changed a moment ago by what it holds.
func (l *library) fileSource(d knowledge.Document) search.Source {
	s := search.Source{Kind: searchKinds[d.Kind], Name: d.File, Cwd: d.Project, Updated: d.Modified.UnixMilli()}
	s.Hash = fmt.Sprintf("%d.%d.%s", d.Modified.UnixNano(), d.Size, d.Project)
	if age := l.home.cfg.Now().Sub(d.Modified); age < settledFile {
		sum := sha256.New()
		passages, err := d.Passages()
		for _, p := range passages {
			_, _ = fmt.Fprintf(sum, "%q %q\n", p.Title, p.Text)
		}
		s.Hash = fmt.Sprintf("%s.%v", hex.EncodeToString(sum.Sum(nil)), err != nil)
	}
	return s
}

// HashAt is the hash of an event.
func (l *library) HashAt(ctx context.Context, s search.Source, seq int64) (string, error) {
	for ev, err := range l.home.store.Read(ctx, s.Name, seq, seq) {
		if err != nil {
			return "", err
		}
		return ev.Hash.String(), nil
	}
	return "", search.ErrGone
}

// Texts reads a source after a mark. The state of a session's mark is twice its newest turn, and one more while that is
// open.
func (l *library) Texts(ctx context.Context, s search.Source, after search.Mark) iter.Seq2[search.MarkedText, error] {
	if s.Kind != search.Sessions {
		return l.passages(s, after)
	}
	return func(yield func(search.MarkedText, error) bool) {
		if s.Seq <= after.Seq {
			return
		}
		turn, open := after.State/2, after.State%2 == 1
		for ev, err := range l.home.store.Read(ctx, s.Name, after.Seq+1, s.Seq) {
			if errors.Is(err, store.ErrNotFound) {
				err = search.ErrGone
			}
			if err != nil {
				yield(search.MarkedText{}, err)
				return
			}
			m := search.MarkedText{Text: search.Text{Seq: ev.Seq, Hash: ev.Hash.String(), Turn: turn, Time: ev.Time}}
			switch body := searched(ev).(type) {
			case nil:
			case *session.TurnStarted:
				turn, open = int64(body.N), true
			case *session.TurnEnded:
				open = false
			default:
				m.Place, m.Text.Text = spoken(body)
				if strings.ContainsAny(m.Text.Text, "\x1b\u009b") {
					m.Text.Text = plain.Text(m.Text.Text) // no colour is a part of a word
				}
				if m.Place == placeMessage && !open {
					m.Turn++ // the turn that it will begin
				}
			}
			if m.State = turn * 2; open {
				m.State++
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Places of texts in a session.
const (
	placeMessage = "message"
	placeReply   = "reply"
	placeResult  = "result"
	placeNote    = "note"
)

// searched decodes an event that has texts, or that says which turn it is; nil: it does neither, or cannot be read.
func searched(ev store.Event) session.Body {
	switch ev.Kind {
	case session.KindTurnStarted, session.KindTurnEnded, session.KindMessageReceived, session.KindModelResponded,
		session.KindToolFinished, session.KindToolUnknown, session.KindAwaitMet, session.KindFactAdded:
		body, err := session.Decode(ev)
		if err == nil {
			return body
		}
	}
	return nil
}

// spoken is what an event says, and what that is.
func spoken(body session.Body) (place, text string) {
	switch b := body.(type) {
	case *session.MessageReceived:
		return placeMessage, ends(model.Text(b.Content), searchedSpeech)
	case *session.ModelResponded:
		if session.ForSummary(b.Act) {
			return "", "" // it says again what the log has
		}
		text := ends(b.Prose(), searchedSpeech)
		for _, bl := range b.Blocks {
			if bl.Type == model.BlockToolUse {
				text += "\n" + bl.Name + " " + ends(inputWords(bl.Input), searchedResult)
			}
		}
		return placeReply, strings.TrimPrefix(text, "\n")
	case *session.ToolFinished:
		return placeResult, ends(model.Text(b.Content), searchedResult)
	case *session.ToolUnknown:
		return placeResult, ends(model.Text(b.Content), searchedResult)
	case *session.AwaitMet:
		return placeNote, ends(string(b.Text), searchedResult)
	case *session.FactAdded:
		return placeNote, ends(b.Fact.Text, searchedResult)
	default:
		return "", ""
	}
}

// inputWords are the texts of a call's input, names and values in their order. What is no JSON is taken as it is.
func inputWords(raw []byte) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			return string(raw)
		}
		switch v := t.(type) {
		case string:
			b.WriteString(v + " ")
		case json.Number:
			b.WriteString(v.String() + " ")
		}
	}
}

// ends is a text as it is, or its beginning and its end if it is longer than most.
func ends(text string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(session.CutEnd(text, most*3/4)+"\n…\n"+session.CutStart(text, most/4), "\uFFFD")
}

// passages are the texts of a file.
func (l *library) passages(s search.Source, after search.Mark) iter.Seq2[search.MarkedText, error] {
	return func(yield func(search.MarkedText, error) bool) {
		d, ok := l.files[s.Name]
		if !ok {
			yield(search.MarkedText{}, search.ErrGone)
			return
		}
		all, err := d.Passages()
		if errors.Is(err, fs.ErrNotExist) {
			err = search.ErrGone
		}
		if err != nil {
			yield(search.MarkedText{}, err)
			return
		}
		for i := int(after.Seq); i < len(all); i++ {
			p := all[i]
			m := search.MarkedText{Text: search.Text{
				Seq: int64(i) + 1, Place: d.Kind, Time: p.Time.UnixMilli(),
				// A person may have written a secret there: nothing of it is cut in two, or shown.
				Title: plain.Line(string(l.home.secret.Replace([]byte(p.Title))), searchedTitle), Text: ends(string(l.home.secret.Replace([]byte(p.Text))), 1<<20),
			}}
			if !yield(m, nil) {
				return
			}
		}
	}
}
