package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// awaits is a call of Await.
func awaits(input string) [2]string { return [2]string{"Await", input} }

// Awaits is a script whose model goes to sleep and is told of things. When it is told of which depends on time alone, so
// its replies depend on nothing but what the newest message says, and that is what runs must agree on: each thing is
// told once.
func Awaits() *Script {
	return &Script{
		Loose:   true,
		Prompts: []Prompt{{Turn: "awaits"}, {Turn: "after"}},
		Commands: map[string]Behaviour{
			"run server": {Output: "starting\n", Forever: true, Late: 20 * time.Millisecond, Later: "half a line, green\nand more\n", LaterAt: 2 * time.Second},
			"run job":    {Output: "job\n", Exit: 4, Takes: 4 * time.Second},
			"run early":  {Output: "ready\n", Takes: time.Second},
		},
		Turns: map[string][]Reply{
			"awaits": {
				say("begin", background("run server"), background("run job"), background("run early")),
				say("ask", awaits(`{"bash_id":"bash_1","pattern":"green$"}`), awaits(`{"bash_id":"bash_2","note":"look at it"}`),
					awaits(`{"bash_id":"bash_2","pattern":"never"}`), awaits(`{"after_seconds":1}`), awaits(`{"bash_id":"bash_3","pattern":"^ready"}`),
					awaits(`{"bash_id":"bash_1"}`), awaits(`{"cancel":"await_6"}`)),
			},
			"after": {say("after")},
		},
		On: func(news string) *Reply {
			r := say("waiting")
			switch {
			case strings.Contains(news, "[await_4]"):
				r = say("more", awaits(`{"after_seconds":2,"event":"timer"}`))
			case strings.Contains(news, "[await_7]"):
				r = say("enough")
			case strings.Contains(news, "turn:") || strings.Contains(news, "bash_3 (pid"):
				return nil
			}
			return &r
		},
	}
}

// newest is the text of a conversation's newest message, results included.
func newest(ms []model.Message) string {
	var b strings.Builder
	if len(ms) == 0 {
		return ""
	}
	for _, bl := range ms[len(ms)-1].Blocks {
		b.WriteString(bl.Text)
		if bl.Result != nil {
			b.WriteString(model.Text(bl.Result.Content))
		}
	}
	return b.String()
}

// checkAwaits checks that what was awaited is told once, by words that are in the conversation once, and that nothing
// is awaited for ever.
func (w *World) checkAwaits(id string, log []entryOf, st *session.State) {
	set, closed := 0, map[string]bool{}
	t := &session.Transcript{}
	var met []*session.AwaitMet
	for _, e := range log {
		t.Apply(e.Event, e.body)
		switch b := e.body.(type) {
		case *session.AwaitSet:
			set++
		case *session.AwaitMet:
			if closed[b.ID] {
				w.faultLocked("session %s: %s is met after it was closed", id, b.ID)
			}
			closed[b.ID] = true
			met = append(met, b)
		case *session.AwaitDropped:
			closed[b.ID] = true
		default:
		}
	}
	if st.Parent != nil || set == 0 {
		return // a fork's conversation begins in its parent's log
	}
	var told strings.Builder
	for _, m := range t.Messages() {
		for _, b := range m.Blocks {
			if b.Result == nil && m.Role == model.RoleUser {
				told.WriteString(b.Text + "\x00")
			}
		}
	}
	for _, b := range met {
		if n := strings.Count(told.String(), string(b.Text)+"\x00"); n != 1 {
			w.faultLocked("session %s: the model was told %d times of %s: %s", id, n, b.ID, b.Text)
		}
	}
	if set != len(closed) || len(st.Awaits) > 0 || st.Untold.Count > 0 {
		w.faultLocked("session %s: %d awaits, %d closed, open at the end: %v; not told: %d", id, set, len(closed), st.Awaits, st.Untold.Count)
	}
}

// tellAgain is a broken agent: it does not know what it has told.
func (w *World) tellAgain(p *process, s *engine.Session) error {
	var text []byte
	for e, err := range p.disk.Read(p.ctx, s.State().ID, 1, 0) {
		if err != nil {
			return err
		}
		if body, err := session.Decode(e); err == nil {
			if b, ok := body.(*session.AwaitMet); ok {
				text = b.Text
			}
		}
	}
	if text == nil {
		return nil
	}
	return s.Append(p.ctx, person, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(string(text))}})
}

// loosely takes out of an outcome what depends on when things were told: how many turns and replies it took, and
// whether a task ended before somebody asked to be told, or before a line of its was.
func (o Outcome) loosely() {
	for k, v := range o {
		if strings.HasSuffix(k, " notes") {
			o[k] = strings.Join(slices.DeleteFunc(strings.Split(v, "\n"), func(line string) bool {
				return strings.HasPrefix(line, "[Background task") || strings.HasSuffix(line, " since.")
			}), "\n")
		}
		if slices.Contains([]string{"turns", "usage", "decisions"}, k[strings.IndexByte(k, ' ')+1:]) {
			delete(o, k)
		}
	}
}

// isNote reports whether a block of a user's message is there because of time alone.
func isNote(text string) bool {
	return strings.HasPrefix(text, "[Background task") || strings.HasPrefix(text, "[await_")
}

// aside reports whether a reply is one of a model that has nothing to say.
func aside(m model.Message) bool {
	return m.Role == model.RoleAssistant && m.Blocks[len(m.Blocks)-1].Text == "waiting"
}
