package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// awaiting is what a session needs, beside its log, to tell of what is awaited.
type awaiting struct {
	ids      atomic.Int64           // number of the newest id that was given away
	watches  map[string]*awaitWatch // by await
	catching int                    // watches that have not yet looked at all that was there when they began
	asleep   bool                   // a waiting run rests: it looks at the inbox less often
	waits    bool                   // the run goes on while something is awaited
	serves   bool                   // the run never ends by itself
	stopped  bool                   // interrupted: nothing but a new prompt starts a turn in this run
}

// newAwaitID gives an id away, beyond the newest in a state. One that is not used after all is given away again by the
// next holder.
func (s *Session) newAwaitID(newest int64) string {
	for {
		known := s.awaiting.ids.Load()
		next := max(known, newest) + 1
		if s.awaiting.ids.CompareAndSwap(known, next) {
			return session.AwaitID(next)
		}
	}
}

// tellAwaits appends what became of awaits while nobody held the session, as far as the log knows it, and reports it.
func (s *Session) tellAwaits(ctx context.Context) error {
	if err := s.fireAwaits(ctx); err != nil {
		return err
	}
	for range 4 * session.MaxAwaits {
		if len(s.state.Awaits) == 0 {
			return nil
		}
		a := session.Next(s.state)
		if len(a) == 0 {
			return nil
		}
		var err error
		switch do := a[0].Do.(type) {
		case session.MeetAwait:
			err = s.meetAwait(ctx, do, true)
		case session.DropAwait:
			err = s.dropAwait(ctx, do)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fireAwaits notes the awaits whose time came while nobody looked.
func (s *Session) fireAwaits(ctx context.Context) error {
	now := s.eng.cfg.Now().UnixMilli()
	var fired []session.Body
	for _, a := range s.state.Awaits {
		if a.At != 0 && a.At <= now && !a.Due && a.Session == "" {
			fired = append(fired, &session.TimerFired{ID: session.WakeID(a.ID)})
		}
	}
	return s.append(ctx, engineActor, fired...)
}

func (s *Session) dropAwait(ctx context.Context, do session.DropAwait) error {
	b := &session.AwaitDropped{ID: do.Await.ID, Reason: do.Reason}
	if do.Reason == session.DropFork {
		b.Text = []byte(fmt.Sprintf("[%s] was left to the session that this one was forked from: nobody will tell you here %s. Ask again if you need it.",
			do.Await.ID, tools.AwaitText(*do.Await)))
	}
	return s.append(ctx, engineActor, b)
}

// meetAwait appends that what was awaited has happened. Meanwhile: nobody held the session then, and it is reported.
func (s *Session) meetAwait(ctx context.Context, do session.MeetAwait, meanwhile bool) error {
	a, how := *do.Await, session.MetEnd
	_, ended := s.awaitedEnd(a)
	switch {
	case a.Event == session.AwaitTimer:
		how = session.MetTimer
	case a.Event != session.AwaitEnd || !ended:
		how = session.MetTimeout
	}
	return s.meet(ctx, a.ID, session.AwaitMet{How: how, Gap: a.Gap}, meanwhile)
}

// awaitedEnd tells how the attempt that an await is for has ended, if it has, as the log knows it.
func (s *Session) awaitedEnd(a session.Await) (command.State, bool) {
	t := s.state.Task(a.Task)
	switch {
	case t == nil:
		return command.State{Status: command.Lost, Reason: command.ReasonForgotten}, true
	case t.Act == a.TaskAct:
		return t.CommandState(), !t.Live()
	}
	for _, old := range t.Attempts {
		if old.Act == a.TaskAct {
			return old.Ending.State(), true
		}
	}
	return command.State{Status: command.Lost, Reason: command.ReasonForgotten}, true
}

// meet closes an await that is still open: it completes what happened, and words it. An end that the model brought
// about itself is no news.
func (s *Session) meet(ctx context.Context, id string, b session.AwaitMet, meanwhile bool) error {
	open := s.state.Await(id)
	if open == nil {
		return nil
	}
	a := *open
	t := s.state.Task(a.Task)
	if (b.How == session.MetEnd || b.How == session.MetNoLine) && t != nil && t.Act == a.TaskAct && t.Kill == command.ByModel {
		return s.append(ctx, engineActor, &session.AwaitDropped{ID: id, Reason: session.DropKilled})
	}
	b.ID, b.Task = id, a.Task
	if end, ended := s.awaitedEnd(a); b.End == nil && ended && a.Task != "" {
		b.End = &end
	}
	command, last := "", ""
	if t != nil {
		command = t.Command
		if b.End != nil && t.Act == a.TaskAct {
			last = quoted(s.lastOutput(*t, *b.End))
		}
	}
	b.Text = s.eng.cfg.Secrets.Replace([]byte(awaitWords(a, b, command) + last))
	if err := s.append(ctx, engineActor, &b); err != nil {
		return err
	}
	if meanwhile {
		text, _, _ := strings.Cut(strings.TrimPrefix(string(b.Text), "["+id+"] "), "\n")
		if b.How == session.MetLine {
			text += " " + b.Line
		}
		s.recovered = append(s.recovered, Recovery{Kind: "await", ID: id, Text: "met meanwhile: " + text})
	}
	return nil
}

// awaited reports whether the end of a running task is awaited, so that it needs no note of its own.
func (s *Session) awaited(t *session.Task) bool {
	for _, a := range s.state.AwaitsOf(t.ID, t.Act) {
		if a.Event == session.AwaitEnd || a.Event == session.AwaitLine {
			return true
		}
	}
	return false
}
