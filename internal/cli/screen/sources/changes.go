package sources

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// maxChangeEvents bounds the events at the end of a log in which changes of a file are looked for.
const maxChangeEvents = 50_000

// Changes reads from the session's own log what Edit and Write did to a file, oldest first. The log has what the calls
// were given. Where it has the whole file too, since the session made or wrote it, a change is of the whole, with the
// numbers of its lines; else it is of the part that the call named. Errors: store.ErrNotFound, *store.CorruptError.
func (s filesOf) Changes(ctx context.Context, path string) ([]panels.Change, error) {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return nil, err
	}
	r := changeReader{path: path, calls: map[string]call{}, begun: map[string]call{}}
	wanted := homes.Range{
		After: max(st.Head.Seq-maxChangeEvents, 0), Through: st.Head.Seq,
		Kinds: []store.Kind{session.KindModelResponded, session.KindToolStarted, session.KindToolFinished, session.KindToolUnknown},
	}
	for ev, err := range s.home.Range(ctx, s.id, wanted) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		r.take(ev, body)
	}
	if len(r.changes) == 0 {
		return s.commandChanges(ctx, path)
	}
	for i := range r.changes {
		c := &r.changes[i]
		c.Old, c.New = s.home.Hide(c.Old), s.home.Hide(c.New)
	}
	return r.changes, nil
}

// commandChanges is what became of a file that no call of Edit or Write changed, since before the newest turn that changed
// any.
func (s filesOf) commandChanges(ctx context.Context, path string) ([]panels.Change, error) {
	from, err := s.home.UndoPoint(ctx, s.id)
	if errors.Is(err, homes.ErrNoFiles) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(from.Dir, path)
	if err != nil {
		return nil, err
	}
	return (&differs{home: s.home, id: s.id, from: from}).Changes(ctx, filepath.ToSlash(rel))
}

// call is a tool call that may change a file.
type call struct {
	tool  string
	input []byte
	edit  *session.Edit
}

// changeReader follows one file through a log.
type changeReader struct {
	path    string
	calls   map[string]call // of the newest reply, by act
	begun   map[string]call // on this file, by attempt
	whole   *string         // what its content may be; the digest of what a call found says whether it is
	changes []panels.Change
}

func (r *changeReader) take(ev store.Event, body session.Body) {
	switch b := body.(type) {
	case *session.ModelResponded:
		clear(r.calls)
		for i, block := range b.Blocks {
			if block.Type == model.BlockToolUse {
				r.calls[session.CallBase(b.Act, i)] = call{tool: block.Name, input: block.Input}
			}
		}
	case *session.ToolStarted:
		if e := b.Start.Edit; e != nil && e.Path == r.path {
			c := r.calls[session.BaseOf(b.Act)]
			c.edit = e
			r.begun[b.Act] = c
		}
	case *session.ToolFinished:
		if c, ok := r.begun[b.Act]; ok && b.Outcome == session.OutcomeOK {
			r.changes = append(r.changes, r.change(c, ev.Time, ""))
		}
		delete(r.begun, b.Act)
	case *session.ToolUnknown:
		if c, ok := r.begun[b.Act]; ok {
			r.changes = append(r.changes, r.change(c, ev.Time, "unknown whether it was written"))
		}
		delete(r.begun, b.Act)
	default:
	}
}

// change is what a call did to the file.
func (r *changeReader) change(c call, at int64, note string) panels.Change {
	var in struct {
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
		Content string `json:"content"`
	}
	out := panels.Change{Title: c.tool, At: time.UnixMilli(at), Note: note}
	before := r.before(c.edit.Pre)
	r.whole = nil
	err := json.Unmarshal(c.input, &in)
	switch {
	case c.tool == "Write" && err == nil:
		out.New = in.Content
		if before != nil {
			out.Old = *before
		} else if note == "" {
			out.Note = "what was there before is not in the log"
		}
	case c.tool == "Edit" && err == nil:
		out.Old, out.New, out.Part = in.Old, in.New, true
		if before == nil {
			return out
		}
		after := strings.ReplaceAll(*before, in.Old, in.New) // without replace_all there is only one
		if in.Old == "" {
			after = in.New
		}
		if store.Sum([]byte(after)) == c.edit.Post {
			out.Old, out.New, out.Part = *before, after, false
		}
	default:
		out.Note = "what it changed is not in the log"
		return out
	}
	r.whole = &out.New
	return out
}

// before is the content that a call found, if it is known.
func (r *changeReader) before(digest store.Digest) *string {
	if digest.IsZero() || digest == store.Sum(nil) {
		return new(string)
	}
	if r.whole != nil && digest == store.Sum([]byte(*r.whole)) {
		return r.whole
	}
	return nil
}
