package desk

import (
	"context"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/board"
	"github.com/perdure/perdure/model"
)

// Bounds of a look: how often words that come are handed on at most, and how many of a running reply are kept, in bytes,
// the newest ones.
const (
	showEvery = 50 * time.Millisecond
	maxSaid   = 16 << 10
)

// Peek shows the newest of a session, and what comes, whoever runs it.
func (s *source) Peek(ctx context.Context, id string, see func(board.Peek)) error {
	st, err := s.home.State(ctx, id)
	if err != nil {
		return err
	}
	p := &peek{Peek: board.Peek{Doing: doing(st), Live: speaks(st)}}
	if t, err := s.home.Transcript(ctx, st); err == nil { // without it the next words are the first
		p.Said = t.LastText()
		if prompts := t.Prompts(); len(prompts) > 0 {
			p.Asked = model.Text(prompts[len(prompts)-1].Content)
		}
	}
	see(p.Peek)
	var shown time.Time
	for u, err := range s.home.Watch(ctx, id, st.Head.Seq) {
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		p.take(u)
		if u.Event != nil && moved(u.Body) {
			if st, err := s.home.State(ctx, id); err == nil {
				p.Doing = doing(st)
			}
		}
		if u.Event != nil || time.Since(shown) > showEvery {
			shown = time.Now()
			see(p.Peek)
		}
	}
	return nil
}

// peek is what is shown of a session, as it goes on.
type peek struct {
	board.Peek
	act   string // the model call whose words are shown
	words []byte
}

// take takes an event or a piece of a reply in.
func (p *peek) take(u session.Update) {
	if u.Event == nil {
		if u.Kind != "text" {
			return
		}
		if p.act != u.Act {
			p.act, p.words = u.Act, p.words[:0]
		}
		p.words = append(p.words, u.Text...)
		if over := len(p.words) - maxSaid; over > 0 {
			p.words = append(p.words[:0], p.words[over:]...)
		}
		p.Said, p.Live = strings.ToValidUTF8(string(p.words), ""), true
		return
	}
	switch b := u.Body.(type) {
	case *session.ModelRequested:
		p.Live = true
	case *session.ModelResponded:
		p.Live = false
		if text := b.Prose(); text != "" && !session.ForSummary(b.Act) {
			p.Said = text
		}
	case *session.ModelFailed, *session.ModelLost:
		p.Live = false
	case *session.MessageReceived:
		p.Asked = model.Text(b.Content)
	default:
	}
}

// moved reports whether an event changes what runs or waits.
func moved(body session.Body) bool {
	switch body.(type) {
	case *session.ToolStarted, *session.ToolFinished, *session.ToolVoid, *session.ToolUnknown, *session.ToolDetached, *session.ApprovalRequested,
		*session.ApprovalAnswered, *session.QuestionAsked, *session.QuestionAnswered, *session.TurnEnded:
		return true
	default:
		return false
	}
}

// doing are the calls that run, and what waits for a person.
func doing(st *session.State) []string {
	var out []string
	for _, w := range pending.Both(st) {
		out = append(out, "waits for you: "+pending.Line(w))
	}
	if st.Turn == nil {
		return out
	}
	for _, c := range st.Turn.Calls {
		if c.State == session.ActExecuting {
			out = append(out, c.Tool+" "+session.About(c.Input))
		}
	}
	return out
}

// speaks reports whether the model is at it.
func speaks(st *session.State) bool {
	c := st.NewestCall()
	return c != nil && c.Status == session.CallRequested
}
