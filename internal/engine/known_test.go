package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// reads counts the events that are read from a store.
type reads struct {
	store.Store
	events *int
}

func (r reads) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for ev, err := range r.Store.Read(ctx, id, from, to) {
			*r.events++
			if !yield(ev, err) {
				return
			}
		}
	}
}

// Whoever opens a session again reads only what others added since.
func TestOpenedAgainReadsWhatIsNew(t *testing.T) {
	s := newStage(t)
	read := 0
	s.config = func(c *engine.Config) { c.Store = reads{c.Store, &read} }
	p, se := s.start("one")
	for i := range 30 {
		p.send(fmt.Sprint("name", i), &session.Labelled{Title: new(fmt.Sprint("n", i))})
	}
	if err := errors.Join(se.Drain(t.Context()), se.Close(t.Context(), "test")); err != nil {
		t.Fatal(err)
	}
	read = 0
	se = p.open(engine.Options{})
	if err := se.Close(t.Context(), "test"); err != nil || read != 0 {
		t.Errorf("%d events read of a log that nobody else wrote to: %v", read, err)
	}
	if err := s.process().open(engine.Options{}).Close(t.Context(), "test"); err != nil { // resumed, released
		t.Fatal(err)
	}
	read = 0
	se = p.open(engine.Options{})
	if err := se.Close(t.Context(), "test"); err != nil || read != 2 {
		t.Errorf("%d events read of a log to which somebody else added two: %v", read, err)
	}
}

// The state that a process keeps of a session after its release is that of the log, also when others wrote meanwhile.
func TestKnownStatesAreTheLogs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		s.answer = func(_ context.Context, n int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if n%3 == 2 {
				return reply(modelapi.StopEndTurn, text("done")), nil
			}
			name := fmt.Sprint("x", n%4)
			return reply(modelapi.StopToolUse, use(fmt.Sprint("a", n), "Write", `{"file_path":"/w/`+name+`","content":"c"}`),
				use(fmt.Sprint("b", n), "TodoWrite", `{"todos":[{"content":"`+name+`","status":"pending","activeForm":"d"}]}`)), nil
		}
		processes := []process{s.process(), s.process()}
		if _, err := processes[0].Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage", Model: "m", MaxTokens: 1000}}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range rapid.IntRange(1, 12).Draw(rt, "visits") {
			p := processes[rapid.IntRange(0, 1).Draw(rt, "process")]
			n++
			someVisit(t, rt, p, fmt.Sprint(n))
			want, err := s.process().Load(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			again := p.open(engine.Options{})
			got := again.State().Copy()
			if err := again.Close(t.Context(), "test"); err != nil {
				t.Fatal(err)
			}
			if got.Head.Seq != want.Head.Seq+1 {
				rt.Fatalf("it begins at %d, the log ended at %d", got.Head.Seq, want.Head.Seq)
			}
			want, err = s.process().LoadAt(t.Context(), "s", got.Head.Seq, false)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := asJSON(t, got), asJSON(t, want); a != b {
				rt.Fatalf("after %d visits:\n%s\nthe log:\n%s", n, a, b)
			}
		}
	})
}

// someVisit does something to session s, by holding it or not.
func someVisit(t *testing.T, rt *rapid.T, p process, key string) {
	title, mode := "title "+key, "acceptEdits"
	note := &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("note " + key)}}
	switch what := rapid.SampledFrom([]string{"free", "title", "mode", "turn", "turn", "parked"}).Draw(rt, "what"); what {
	case "free":
		if _, err := p.AppendFree(t.Context(), "s", engine.FreeAppend{}, store.Actor{Type: store.ActorUser}, note); err != nil {
			t.Fatal(err)
		}
		return
	case "title":
		p.send(key, &session.Labelled{Title: &title, Labels: map[string]string{"k": key}})
	case "mode":
		p.send(key, &session.Configured{Mode: &mode})
	default:
		p.say("go " + key)
	}
	se := p.open(engine.Options{})
	if rapid.Bool().Draw(rt, "run") {
		if err := se.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	} else if err := se.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := se.Close(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if own := se.State().Labels; own != nil { // it stays with who held it
		own["changed"] = "afterwards"
	}
}

func asJSON(t *testing.T, st *session.State) string {
	t.Helper()
	b, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
