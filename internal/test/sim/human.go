package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Prompt is one message of a human, and what is arranged before it.
type Prompt struct {
	Turn     string // its turn in the script
	MaxSteps int    // limit of steps set for it
	Budget   int64  // nano-USD that may be spent from here on
	Task     string // before it, the human starts this command as a task that may run again after a reboot
	Reboot   bool   // before it, the machine restarts
	Kill     string // before it, the human ends this task
	Fork     string // before it, the session is forked under this id

	// Before it, the human has a checkpoint made, files restored to one, or the newest point undone.
	Checkpoint, Restore string
	Undo                bool
}

// human is who works with one session. What a human does is decided by what the session durably says, and repeated
// under the same key until it is acknowledged.
type human struct {
	w       *World
	session string
	prompts []Prompt
	sent    int
	undo    map[string]int64 // the point that is undone before a turn
}

var person = store.Actor{Type: store.ActorUser, ID: "ann"}

// send puts an item into the inbox, whatever dies meanwhile.
func (h *human) send(key string, body session.Body) {
	w := h.w
	b, err := session.Encode(body)
	if err != nil {
		w.faultf("send: %v", err)
		return
	}
	it := store.Item{
		Key: key, Kind: session.KindOf(body), Actor: person, Time: time.Now().UnixMilli(), Body: b,
		Digest: store.Sum(append([]byte(session.KindOf(body)+"\x00"), b...)),
	}
	disk := w.disk.Open()
	defer func() { _ = disk.Close() }()
	w.mu.Lock()
	p := w.alive
	w.mu.Unlock()
	if p != nil {
		_ = p.point("send.before")
	}
	first, err := disk.Send(context.Background(), h.session, it)
	if err != nil {
		w.faultf("send %s: %v", key, err)
		return
	}
	if p != nil && p.point("send.after") != nil {
		again, err := disk.Send(context.Background(), h.session, it)
		if err != nil || again.N != first.N || !again.Known {
			w.faultf("send %s again: %+v, %v", key, again, err)
		}
	}
}

// prompt sends the next message.
func (h *human) prompt() {
	h.w.mu.Lock()
	if h.sent >= len(h.prompts) {
		h.w.faultLocked("a hook found all prompts sent")
		h.w.mu.Unlock()
		return
	}
	p := h.prompts[h.sent]
	h.sent++
	h.w.mu.Unlock()
	h.send("prompt-"+p.Turn, &session.MessageReceived{Content: []model.Part{model.TextPart("turn:" + p.Turn)}})
}

// wish is what a human wants done with the session, beyond what was sent to it.
type wish struct {
	done    bool
	options *engine.Options // open it again with these
	fork    string          // fork it under this id
	reboot  bool            // restart the machine
}

// look is a human who looks at a session that does not go on by itself.
func (h *human) look(st *session.State) (w wish, acted bool) {
	if ws := session.Waits(st); len(ws) > 0 {
		return h.answer(st, ws)
	}
	if halt, _ := st.Halt(); halt != "" {
		zero, none := 0, int64(0)
		return wish{options: &engine.Options{MaxSteps: &zero, BudgetNano: &none}}, false
	}
	if h.sent >= len(h.prompts) {
		return wish{done: true}, false
	}
	p := h.prompts[h.sent]
	if w, acted := h.tend(st, p); acted || w.reboot {
		return w, acted
	}
	if h.wants(st, p) {
		return wish{}, true
	}
	switch {
	case p.Fork != "" && !h.w.there(p.Fork):
		return wish{fork: p.Fork}, false
	case p.MaxSteps != st.Config.MaxSteps:
		return wish{options: &engine.Options{MaxSteps: &p.MaxSteps}}, false
	case p.Budget > 0 && st.Config.BudgetNano == 0:
		all := st.Spent + p.Budget
		return wish{options: &engine.Options{BudgetNano: &all}}, false
	}
	h.prompt()
	return wish{}, true
}

// answer decides what a human is asked.
func (h *human) answer(st *session.State, ws []session.Wait) (wish, bool) {
	for _, wait := range ws {
		c := wait.Call
		if wait.Kind == "question" {
			h.send("answer-"+c.Base, &session.QuestionAnswered{Act: c.ID, Text: "answer to: " + c.Question.Question})
			continue
		}
		a := &session.ApprovalAnswered{Act: c.ID, Bound: c.Approval.Bound, Pre: c.Approval.Pre, Allow: true}
		input := string(c.Input)
		if fork := h.w.script.ForkAt; h.session == "main" && fork != "" && strings.Contains(input, fork) && !h.w.there("asked") {
			return wish{fork: "asked"}, false
		}
		for word, what := range h.w.script.Answers {
			if strings.Contains(input, word) {
				a.Allow, a.Grant, a.Message = what.Allow, what.Grant, what.Message
			}
		}
		h.send(fmt.Sprintf("approve-%s-%d", c.Base, c.Approval.Asked), a)
	}
	return wish{}, true
}

// there reports whether a session is on the disk.
func (w *World) there(id string) bool {
	disk := w.disk.Open()
	defer func() { _ = disk.Close() }()
	_, err := disk.Get(context.Background(), id)
	return err == nil
}

// hook is what a human does while something runs. It happens once, however often what it hangs on happens.
func (w *World) hook(name string) {
	w.mu.Lock()
	w.hooks[name]++
	first := w.hooks[name] == 1
	h := w.humans[0]
	w.mu.Unlock()
	if !first {
		return
	}
	switch name {
	case "cancel and go on":
		h.send("cancel-1", &session.CancelRequested{})
		h.prompt()
	case "cancel the reply":
		h.send("cancel-2", &session.CancelRequested{})
	case "fork":
		h.forkNow()
	case "steer":
		h.steer()
	case "say more":
		title := "renamed"
		h.prompt()
		h.send("label-1", &session.Labelled{Title: &title, Labels: map[string]string{"team": "a"}})
		h.send("fact-1", &session.FactAdded{Fact: session.Fact{Kind: "finding", Text: "it works", Provenance: "user"}})
		h.send("state-1", &session.StateSet{Key: "k", Value: []byte("v")})
	default:
		w.faultf("no hook %q", name)
	}
}

// forkNow forks the session from another process, whatever it is doing.
func (h *human) forkNow() {
	disk := h.w.disk.Open()
	defer disk.Kill()
	p := &process{w: h.w}
	cfg := h.w.world(p, disk)
	eng, err := engine.New(cfg)
	if err == nil {
		_, _, err = eng.Fork(context.Background(), h.session, 0, "running", "")
	}
	if err != nil {
		h.w.faultf("fork: %v", err)
	}
}
