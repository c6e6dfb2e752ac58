package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// world is a small engine without an outside: it keeps logs, follows Next, and does what a test tells it. Golden
// scripts and properties drive the same one.
type world struct {
	id       string
	parent   *world // of a fork, as it stood then
	forkSeq  int64
	events   []store.Event
	now      int64
	flight   map[string]bool // acts under way in this life of the process
	requests map[string]store.Digest
	file     string // content of the one file that edits change
	hurried  bool   // what is sent is not checked: for long logs

	st  *session.State
	tr  *session.Transcript
	out strings.Builder // what was appended since it was last read
}

var (
	engine = store.Actor{Type: store.ActorEngine}
	human  = store.Actor{Type: store.ActorUser, ID: "ada"}
	robot  = store.Actor{Type: store.ActorModel}
)

func newWorld(id string) *world {
	w := &world{id: id, now: 1_000, flight: map[string]bool{}, requests: map[string]store.Digest{}, file: "one"}
	w.st, w.tr = session.New(id), &session.Transcript{}
	w.tr.From(id)
	return w
}

// append seals bodies, stores them, and folds the bodies as they are, as an engine does.
func (w *world) append(actor store.Actor, bodies ...session.Body) {
	for _, b := range bodies {
		chain := session.Chain{Session: w.id, Head: w.st.Head}
		e, err := chain.Event(actor, w.now, b)
		if err != nil {
			panic(err)
		}
		w.events = append(w.events, e)
		w.st.ApplyBody(e, b)
		w.tr.Apply(e, b)
		if _, ok := b.(*session.Compacted); ok {
			w.tr = w.ranges()
		}
		fmt.Fprintln(&w.out, eventLine(e, b))
	}
}

// refold computes state and transcript again from the logs alone.
func (w *world) refold(upTo int64) (*session.State, *session.Transcript) {
	st, tr := session.New(w.id), &session.Transcript{}
	if w.parent != nil {
		var parent *session.State
		parent, tr = w.parent.refold(w.forkSeq)
		st = session.Fork(parent, w.id)
	}
	tr.From(w.id)
	for _, e := range w.events[:upTo] {
		if err := st.Apply(e); err != nil {
			panic(err)
		}
		tr.Apply(e, decode(e))
	}
	if st.Overlay != nil {
		tr = w.read(st)
	}
	return st, tr
}

// ranges reads the conversation as a store's reader does: by the ranges that the state names.
func (w *world) ranges() *session.Transcript { return w.read(w.st) }

func (w *world) read(st *session.State) *session.Transcript {
	logs := map[string][]store.Event{}
	for p := w; p != nil; p = p.parent {
		logs[p.id] = p.events
	}
	tr := &session.Transcript{}
	for _, r := range st.Conversation() {
		tr.From(r.Session)
		for _, e := range logs[r.Session][r.From-1 : r.To] {
			tr.Apply(e, decode(e))
		}
	}
	return tr
}

// check tells what differs between the live state and the log.
func (w *world) check() error {
	st, tr := w.refold(int64(len(w.events)))
	if a, b := asJSON(w.st), asJSON(st); a != b {
		return fmt.Errorf("the live state differs from the log's:\n%s\n%s", a, b)
	}
	want := asJSON(w.tr.Upcoming())
	if got := asJSON(tr.Upcoming()); got != want {
		return fmt.Errorf("the live transcript differs from the log's:\n%s\n%s", want, got)
	}
	if got := asJSON(w.ranges().Upcoming()); got != want {
		return fmt.Errorf("the transcript of the named ranges differs from the log's:\n%s\n%s", want, got)
	}
	if len(w.st.Faults) > 0 {
		return fmt.Errorf("faults: %s", strings.Join(w.st.Faults, "; "))
	}
	if err := uniqueActions(session.Next(w.st)); err != nil {
		return err
	}
	return pairing(w.tr.Upcoming())
}

// uniqueActions checks what Next promises of its set.
func uniqueActions(as []session.Action) error {
	ids := map[string]bool{}
	for _, a := range as {
		if ids[a.ID] {
			return fmt.Errorf("action %s is there twice", a.ID)
		}
		ids[a.ID] = true
	}
	for _, a := range as {
		for _, id := range a.After {
			if !ids[id] || id == a.ID {
				return fmt.Errorf("action %s waits for %s, which is not outstanding", a.ID, id)
			}
		}
	}
	return nil
}

// pairing checks the rules that APIs enforce: the first message is the user's, user messages do not follow each other,
// nothing is empty, and every tool call is answered once in the very next message, results first, in block order. A
// reply may follow a reply that paused.
func pairing(ms []model.Message) error {
	var open []string
	for i, m := range ms {
		if m.Role == model.RoleAssistant && i == 0 || m.Role == model.RoleUser && i > 0 && ms[i-1].Role == model.RoleUser {
			return fmt.Errorf("message %d is of the %s, out of turn", i, m.Role)
		}
		if len(m.Blocks) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		var calls, results []string
		plain := false
		for _, b := range m.Blocks {
			switch {
			case b.Tool != nil:
				calls = append(calls, b.Tool.ID)
			case b.Result != nil && plain:
				return fmt.Errorf("message %d has a result after other content", i)
			case b.Result != nil:
				results = append(results, b.Result.ID)
			default:
				plain = true
			}
		}
		if !slices.Equal(results, open) {
			return fmt.Errorf("message %d answers %v, called was %v", i, results, open)
		}
		open = calls
	}
	if len(open) > 0 && ms[len(ms)-1].Role == model.RoleAssistant {
		return fmt.Errorf("the conversation ends with unanswered calls %v", open)
	}
	return nil
}

func decode(e store.Event) session.Body {
	b, err := session.Decode(e)
	if err != nil {
		panic(err)
	}
	return b
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// fork goes on in a child of the log as it stands at seq.
func (w *world) fork(id string, seq int64) *world {
	parent, tr := w.refold(seq)
	c := newWorld(id)
	c.parent, c.forkSeq, c.now, c.file = w, seq, w.now, w.file
	c.st, c.tr = session.Fork(parent, id), tr
	c.tr.From(id)
	c.append(human, &session.Forked{Parent: *c.st.Parent, ID: id, Owner: "ada"})
	return c
}

// crash loses what the process knew. resume is the whole of recovery: fold, append session.resumed, ask Next.
func (w *world) crash() { w.flight = map[string]bool{} }

func (w *world) resume() {
	w.crash()
	w.st, w.tr = w.refold(int64(len(w.events)))
	w.append(engine, &session.Resumed{
		Epoch: w.st.Epoch + 1, Host: "host", BootID: "boot", PID: 1, Build: "test",
	})
}
