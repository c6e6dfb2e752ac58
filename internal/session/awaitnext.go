package session

import (
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// MeetAwait asks for await.met: what is awaited has happened, as the log says. A line is not the log's to know: whoever
// reads the output appends that.
type MeetAwait struct{ Await *Await }

// DropAwait asks for await.dropped.
type DropAwait struct {
	Await  *Await
	Reason string
}

func (MeetAwait) do() {}
func (DropAwait) do() {}

// awaits puts what became of awaits before the other actions, so that the next request tells of it, and adds the
// wake-ups of those that are limited in time.
func (s *State) awaits(as []Action) []Action {
	if len(s.Awaits) == 0 {
		return as
	}
	var first, wakes []Action
	for i := range s.Awaits {
		a := &s.Awaits[i]
		switch {
		case a.Session != "":
			first = append(first, Action{ID: a.ID, Do: DropAwait{Await: a, Reason: DropFork}})
		case s.Lifecycle == LifecycleClosed || s.Lifecycle == LifecycleArchived:
			first = append(first, Action{ID: a.ID, Do: DropAwait{Await: a, Reason: DropClosed}})
		case a.Due || a.Event == AwaitEnd && s.awaitedEnd(a):
			first = append(first, Action{ID: a.ID, Do: MeetAwait{Await: a}})
		case a.At != 0:
			wakes = append(wakes, Action{ID: WakeID(a.ID), Do: Wake{At: a.At}})
		}
	}
	return append(append(first, as...), wakes...)
}

// awaitedEnd reports whether the task that an await is for has ended, or is known no more. Whether one that a fork
// inherited has ended is not in its log.
func (s *State) awaitedEnd(a *Await) bool {
	t := s.Task(a.Task)
	return t == nil || t.Act != a.TaskAct || t.Session == "" && !t.Live()
}

// fireAwait notes that an await's time has come.
func (s *State) fireAwait(wake string) {
	for i := range s.Awaits {
		if WakeID(s.Awaits[i].ID) == wake {
			s.Awaits[i].Due = true
		}
	}
}

// inheritAwaits leaves a fork's awaits to the parent.
func (s *State) inheritAwaits() {
	for i := range s.Awaits {
		if a := &s.Awaits[i]; a.Session == "" {
			a.Session = s.Parent.Session
		}
		s.Awaits[i].Seq -= s.Parent.Seq
	}
}

// Untold is what awaits told that no request holds yet, and what is needed to know when one does: the marks follow a
// [Transcript] step by step.
type Untold struct {
	First   int64 `json:"first,omitempty"` // seq of the oldest await.met among them
	Count   int   `json:"count,omitempty"`
	Through int64 `json:"through,omitempty"` // of the newest request
	Paused  bool  `json:"paused,omitempty"`  // the newest reply goes back as it is, and nothing after it
	Calls   bool  `json:"calls,omitempty"`   // it makes calls
	Prompt  bool  `json:"prompt,omitempty"`  // a prompt waits for the next request
}

// Woken reports whether something awaited has happened that is to start a turn of its own.
func (s *State) Woken() bool {
	return s.Turn == nil && s.Lifecycle == LifecycleOpen && len(s.Queue) == 0 && s.Untold.Count > 0
}

// follow keeps the news in step with the transcript.
func (n *Untold) follow(e store.Event, body Body) {
	switch b := body.(type) {
	case *Forked:
		*n = Untold{Paused: n.Paused, Calls: n.Calls, Prompt: n.Prompt} // what the parent was told of starts nothing here
	case *Imported:
		n.First, n.Count = 0, 0 // what happened elsewhere starts nothing here
	case *TurnStarted:
		n.Prompt = true
	case *ModelRequested:
		if b.Purpose == "" && b.Through != n.Through {
			n.seal()
			n.Through = b.Through
		}
	case *ModelResponded:
		if !ForSummary(b.Act) && b.Stop != modelapi.StopRefusal && len(b.Blocks) > 0 {
			n.Paused, n.Calls = b.Stop == modelapi.StopPause, false
			for i := range b.Blocks {
				n.Calls = n.Calls || b.Blocks[i].Type == model.BlockToolUse
			}
		}
	case *AwaitMet:
		if n.Count++; n.Count == 1 {
			n.First = e.Seq
		}
	default:
	}
}

func (n *Untold) seal() {
	if n.Paused && !n.Calls && !n.Prompt {
		return
	}
	*n = Untold{Through: n.Through}
}
