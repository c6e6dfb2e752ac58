package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// Await is a durable intent to tell the model when something happens: a task ends, it prints a line that matches, or a
// time comes. It is told once. Ids are await_1 and so on, never reused.
type Await struct {
	ID      string     `json:"id"`
	Act     string     `json:"act,omitempty"`      // the tool call that set it; empty: a person did
	Key     string     `json:"key,omitempty"`      // idempotency key of the inbox, if it came that way
	Event   AwaitEvent `json:"event"`              // what is awaited
	Task    string     `json:"task,omitempty"`     // of end and line
	TaskAct string     `json:"task_act,omitempty"` // its attempt: another one is not awaited
	Pattern string     `json:"pattern,omitempty"`  // RE2, of line
	From    int64      `json:"from,omitempty"`     // lines are looked at from this output offset on
	AfterMS int64      `json:"after_ms,omitempty"` // of a timer: its delay; else: when to say that it has not happened; 0 is never
	Note    string     `json:"note,omitempty"`     // the model's words to itself

	// Set by the fold.
	Session  string `json:"session,omitempty"`  // whose it is, when not this session's: inherited by a fork, to be dropped
	Set      int64  `json:"set_at,omitzero"`    // ms UTC
	At       int64  `json:"at,omitzero"`        // ms UTC: when AfterMS is over
	Seq      int64  `json:"seq,omitzero"`       // of the event that set it
	Due      bool   `json:"due,omitempty"`      // that time has come
	Position int64  `json:"position,omitempty"` // up to where lines were looked at, and none matched
	Gap      int64  `json:"gap,omitempty"`      // bytes before Position that were dropped before anybody looked
}

// AwaitEvent is what an await is for.
type AwaitEvent string

// What can be awaited.
const (
	AwaitEnd   AwaitEvent = "end"   // a task's end
	AwaitLine  AwaitEvent = "line"  // a line of a task's output
	AwaitTimer AwaitEvent = "timer" // a time
)

// Bounds of awaits. Tools and inboxes refuse what is over them.
const (
	MaxAwaits       = 64                   // open ones of a session
	MaxAwaitPattern = 1000                 // bytes
	MaxAwaitNote    = 1000                 // bytes
	MaxAwaitLine    = 1 << 10              // bytes of the matching line that are kept
	MaxAwaitMS      = 30 * 24 * 3600 * 1e3 // 30 days
	// foldAwaits is what the fold takes: a tool call and an item of the inbox may both have seen one place left.
	foldAwaits = 2 * MaxAwaits
)

// AwaitPrefix begins the id of every await.
const AwaitPrefix = "await_"

// AwaitID is the id of the nth await of a session.
func AwaitID(n int64) string { return AwaitPrefix + strconv.FormatInt(n, 10) }

// Await finds an open await by id; nil if there is none.
func (s *State) Await(id string) *Await {
	for i := range s.Awaits {
		if s.Awaits[i].ID == id {
			return &s.Awaits[i]
		}
	}
	return nil
}

// AwaitsOf lists the open awaits on one attempt of a task.
func (s *State) AwaitsOf(task, act string) (out []Await) {
	for _, a := range s.Awaits {
		if a.Task == task && a.TaskAct == act && a.Session == "" {
			out = append(out, a)
		}
	}
	return out
}

// AwaitSet is the intent: durable before the model is told that it will be told.
type AwaitSet struct {
	headOnly
	Await Await `json:"await"`
}

func (b *AwaitSet) summary() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", b.Await.ID, b.Await.Event, b.Await.Task, b.Await.Pattern))
}

func (b *AwaitSet) apply(s *State, e store.Event) {
	n, err := strconv.ParseInt(strings.TrimPrefix(b.Await.ID, AwaitPrefix), 10, 64)
	switch {
	case err != nil || b.Await.ID != AwaitID(n): // another name might be an act's
		s.fault(e, "%q is no await's id", b.Await.ID)
		return
	case s.Await(b.Await.ID) != nil:
		s.fault(e, "await %s exists", b.Await.ID)
		return
	case len(s.Awaits) >= foldAwaits:
		s.fault(e, "more than %d awaits", foldAwaits)
		return
	}
	a := b.Await
	a.Session, a.Set, a.At, a.Seq, a.Due, a.Position, a.Gap = "", e.Time, 0, e.Seq, false, a.From, 0
	if a.AfterMS > 0 {
		a.At = e.Time + a.AfterMS
	}
	s.NextAwait = max(s.NextAwait, n)
	s.Awaits = append(s.Awaits, a)
}

// AwaitHow says what became of an await that was met.
type AwaitHow string

// How an await is met.
const (
	MetEnd     AwaitHow = "end"     // the task ended
	MetLine    AwaitHow = "line"    // a line matches
	MetNoLine  AwaitHow = "no_line" // the task ended, and no line matched
	MetTimer   AwaitHow = "timer"   // the time has come
	MetTimeout AwaitHow = "timeout" // it has not happened within AfterMS
)

// AwaitMet closes an await: what happened, and the words that the model is told it by. The same event is both, so that
// it is told once, whoever dies when. In an open turn the words go with the next request; else they start a turn.
type AwaitMet struct {
	ID   string         `json:"id"`
	How  AwaitHow       `json:"how"`
	Task string         `json:"task,omitempty"`
	End  *command.State `json:"end,omitempty"`  // how the task ended, if it has
	Line string         `json:"line,omitempty"` // the matching line, at most MaxAwaitLine bytes of it
	Gap  int64          `json:"gap,omitempty"`  // bytes of output that were dropped before anybody looked at them
	Text []byte         `json:"-"`              // what the model is told; UTF-8
}

func (b *AwaitMet) summary() string { return string(b.Text) }

func (b *AwaitMet) show(m map[string]any) { viewText(m, "text", b.Text) }

func (b *AwaitMet) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *AwaitMet) apply(s *State, e store.Event) {
	if !s.closeAwait(b.ID) {
		s.fault(e, "no await %s is open", b.ID)
	}
	s.Context.Fresh += int64(len(b.Text))
}

// Why an await was dropped.
const (
	DropModel  = "model"  // the model no longer wants it
	DropUser   = "user"   // a person
	DropRead   = "read"   // the model has read of the end that it awaited
	DropKilled = "killed" // the model has ended the task itself
	DropClosed = "closed" // the session was closed
	DropFork   = "fork"   // left to the parent session
)

// AwaitDropped closes an await that nobody waits for any more. One that is closed already stays so. Text, if there is
// one, goes to the model with its next request; it starts no turn.
type AwaitDropped struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Text   []byte `json:"-"`
}

func (b *AwaitDropped) summary() string { return b.ID + ": " + b.Reason }

func (b *AwaitDropped) show(m map[string]any) {
	if len(b.Text) > 0 {
		viewText(m, "text", b.Text)
	}
}

func (b *AwaitDropped) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *AwaitDropped) apply(s *State, _ store.Event) {
	s.closeAwait(b.ID)
	s.Context.Fresh += int64(len(b.Text))
}

// closeAwait removes an open await and reports whether there was one.
func (s *State) closeAwait(id string) bool {
	i := slices.IndexFunc(s.Awaits, func(a Await) bool { return a.ID == id })
	if i < 0 {
		return false
	}
	s.Awaits = slices.Delete(s.Awaits, i, i+1)
	return true
}

// AwaitScanned says how far the outputs of awaited lines were looked at in vain, so that the next holder goes on there.
type AwaitScanned struct {
	headOnly
	Positions []AwaitPosition `json:"positions"`
}

// AwaitPosition is one await's place in its task's output.
type AwaitPosition struct {
	ID       string `json:"id"`
	Position int64  `json:"position"`
	Gap      int64  `json:"gap,omitempty"`
}

func (b *AwaitScanned) summary() string { return things(len(b.Positions), "position") }

func (b *AwaitScanned) apply(s *State, _ store.Event) {
	for _, p := range b.Positions {
		if a := s.Await(p.ID); a != nil && p.Position > a.Position {
			a.Position, a.Gap = p.Position, p.Gap
		}
	}
}

// TaskNote begins the note that tells the model of a task's end; the task's name follows.
const TaskNote = "[Background task "
