package homes

import (
	"strings"
	"sync"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/view"
)

// maxTurnResults bounds how many ended turns a result lists; of more, the newest.
const maxTurnResults = 1024

// turnWatch follows a run's events, so that the answer of each turn is known when the turn ends, and not only the last
// one when the run does.
type turnWatch struct {
	mu    sync.Mutex
	text  string // of the open turn's newest reply
	all   []view.Turn
	count int // ended turns, also those that are not listed any more
	ended func(view.Turn)
}

func (w *turnWatch) see(u engine.Update) {
	switch b := u.Body.(type) {
	case *session.TurnStarted:
		w.say("")
	case *session.ModelRequested:
		if b.Purpose == "" {
			w.say("")
		}
	case *session.ModelResponded:
		if !session.ForSummary(b.Act) {
			w.say(repliedText(b))
		}
	case *session.TurnEnded:
		w.end(b)
	default:
	}
}

func (w *turnWatch) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = text
}

func (w *turnWatch) end(b *session.TurnEnded) {
	w.mu.Lock()
	t := view.Turn{Turn: b.N, StopReason: b.Stop, Result: w.text}
	w.text = ""
	w.count++
	if len(w.all) == maxTurnResults {
		w.all = append(w.all[:0], w.all[1:]...)
	}
	w.all = append(w.all, t)
	w.mu.Unlock()
	if w.ended != nil {
		w.ended(t)
	}
}

// repliedText is the text of a reply; none of one that was refused, which is no part of the conversation.
func repliedText(b *session.ModelResponded) string {
	if b.Stop == modelapi.StopRefusal {
		return ""
	}
	var text strings.Builder
	for _, bl := range b.Blocks {
		if bl.Type == model.BlockText {
			text.Write(bl.Shown)
		}
	}
	return text.String()
}
