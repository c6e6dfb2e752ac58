package homes

import (
	"context"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

const (
	// maxActEvents bounds the events that are read, from the log's end backwards, for what is said of the acts.
	maxActEvents = 10_000
	actEvents    = 1_000 // read at a time
)

// actDetails completes acts by what the log says of them: what they were about, when they ran and how they ended. An
// act further back than the bound, or of a fork's parent, stays without.
func (h *Home) actDetails(ctx context.Context, st *session.State, acts []view.Act) error {
	at := map[string]int{}
	for i, a := range acts {
		at[session.BaseOf(a.ID)] = i
	}
	left := len(at)
	for to := st.Head.Seq; to > 0 && left > 0 && st.Head.Seq-to < maxActEvents; to -= actEvents {
		for ev, err := range h.store.Read(ctx, st.ID, max(1, to-actEvents+1), to) {
			if err != nil {
				return err
			}
			switch ev.Kind {
			case session.KindModelResponded, session.KindToolStarted, session.KindToolFinished, session.KindToolVoid, session.KindToolUnknown:
			default:
				continue
			}
			body, err := session.Decode(ev)
			if err != nil {
				return err
			}
			left -= detail(acts, at, ev, body)
		}
	}
	return nil
}

// detail takes what one event says of acts, and returns of how many it said what they are about.
func detail(acts []view.Act, at map[string]int, ev store.Event, body session.Body) (named int) {
	act := func(id string) *view.Act {
		if i, ok := at[session.BaseOf(id)]; ok {
			return &acts[i]
		}
		return &view.Act{} // not listed
	}
	switch b := body.(type) {
	case *session.ModelResponded:
		for i, block := range b.Blocks {
			if a, ok := at[session.CallBase(b.Act, i)]; ok && block.Type == model.BlockToolUse {
				acts[a].About = session.About(block.Input)
				named++
			}
		}
	case *session.ToolStarted:
		act(b.Act).Started = view.Stamp(b.Start.Time)
	case *session.ToolFinished:
		a := act(b.Act)
		a.Ended, a.ExitCode = view.Stamp(ev.Time), b.ExitCode
	case *session.ToolVoid:
		act(b.Act).Ended = view.Stamp(ev.Time)
	case *session.ToolUnknown:
		act(b.Act).Ended = view.Stamp(ev.Time)
	default:
	}
	return named
}
