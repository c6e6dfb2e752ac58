package perdure_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// An embedder's test binary is a program like any other: it asks first whether it was started as a shim.
func TestMain(m *testing.M) {
	perdure.RunShimIfAsked()
	os.Exit(m.Run())
}

// home opens a home in a temporary directory, and gives a directory to work in.
func home() (h *perdure.Home, work string, done func()) {
	dir, err := os.MkdirTemp("", "perdure-example-")
	if err != nil {
		log.Fatal(err)
	}
	work = filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		log.Fatal(err)
	}
	h, err = perdure.Open(context.Background(), filepath.Join(dir, "home"), perdure.Config{})
	if err != nil {
		log.Fatal(err)
	}
	return h, work, func() {
		if err := errors.Join(h.Close(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// Keep the sessions of an agent of your own: your events, facts and state, durable and chained, without this module's
// loop, model or tools.
func Example_ownAgent() {
	ctx := context.Background()
	h, _, done := home()
	defer done()

	const id = "invoice-42"
	s, err := h.Record(ctx, id) // made if it is not there
	if err != nil {
		log.Fatal(err)
	}
	me := store.Actor{Type: store.ActorModel, ID: "biller"}
	_, err = s.Append(ctx, me,
		perdure.AppEvent("biller", []byte(`{"said":"I sent the invoice."}`)),
		perdure.ScratchEvent("step", []byte(`"sent"`)),
		perdure.FactEvent("decision", "bill in euros", "user"),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	// Another process, later: what is seen is what the log says.
	v, err := h.View(ctx, id, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("step %s, fact %q\n", v.Scratch["step"], v.Facts[0].Text)

	// A fork shares everything up to here, and goes its own way.
	child, _, err := h.Fork(ctx, id, 0, "invoice-42b", "")
	if err != nil {
		log.Fatal(err)
	}
	forked, err := h.View(ctx, child, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("fork of %s knows step %s\n", forked.Parent.ID, forked.Scratch["step"])
	// Output:
	// step "sent", fact "bill in euros"
	// fork of invoice-42 knows step "sent"
}

// Run a turn with the built-in tools. The model here plays a script; "anthropic/…" or "ollama/…" take its place.
func Example_runTurn() {
	ctx := context.Background()
	h, work, done := home()
	defer done()
	script := filepath.Join(work, "script.json")
	err := os.WriteFile(script, []byte(`{"turns":[{"steps":[
		{"tools":[{"name":"Bash","input":{"command":"echo $((6*7)); exit 3"}}]},
		{"text":"It printed 42 and failed."}]}]}`), 0o600)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := h.Agent(ctx, "scripted/"+script)
	if err != nil {
		log.Fatal(err)
	}
	id, err := h.Create(ctx, perdure.Spec{Agent: agent, Cwd: work})
	if err != nil {
		log.Fatal(err)
	}
	opt := perdure.RunOptions{Prompt: "What is six times seven?"}
	opt.Rules, opt.SetRules = []view.Rule{{Effect: "allow", Text: "Bash", Source: "flag"}}, true
	r, err := h.Run(ctx, id, opt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.StopReason, r.Steps)
	fmt.Println(r.Result)
	// Output:
	// end_turn 2
	// It printed 42 and failed.
}

// Look on from outside while somebody else runs the session, and steer it.
func Example_follow() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h, _, done := home()
	defer done()
	id, err := h.Create(ctx, perdure.Spec{ID: "watched", Cwd: "/"})
	if err != nil {
		log.Fatal(err)
	}
	held := make(chan struct{})
	go func() { // the holder, usually another process
		defer close(held)
		r, err := h.Record(ctx, id)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := r.User(ctx, "Hello"); err != nil {
			log.Fatal(err)
		}
		if err := r.Close(); err != nil {
			log.Fatal(err)
		}
	}()
	for u, err := range h.Follow(ctx, id, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if u.Event == nil {
			continue // a piece of the model's words, to be shown
		}
		fmt.Println(u.Event.Seq, u.Event.Kind)
		if u.Event.Kind == "session.released" {
			break
		}
	}
	<-held // an event may be seen a moment before whoever wrote it knows that it is durable
	// Output:
	// 1 session.opened
	// 2 session.resumed
	// 3 message.received
	// 4 turn.started
	// 5 session.released
}

// A program makes a session's model be told of something, and runs the session until it was.
func ExampleHome_Await() {
	ctx := context.Background()
	h, work, done := home()
	defer done()
	script := filepath.Join(work, "script.json")
	if err := os.WriteFile(script, []byte(`{"turns":[{"match":"[await_1]","steps":[{"text":"Good morning."}]}]}`), 0o600); err != nil {
		log.Fatal(err)
	}
	agent, err := h.Agent(ctx, "scripted/"+script)
	if err != nil {
		log.Fatal(err)
	}
	id, err := h.Create(ctx, perdure.Spec{Agent: agent, Cwd: work})
	if err != nil {
		log.Fatal(err)
	}
	await, err := h.Await(ctx, id, perdure.Await{Event: "timer", After: 50 * time.Millisecond, Note: "say good morning"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(await)
	// A process may die here: whoever runs the session next tells it, once.
	r, err := h.Run(ctx, id, perdure.RunOptions{Wait: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Result, len(r.Awaits))
	// Output:
	// await_1
	// Good morning. 0
}

// Read the end of a log, whatever its length.
func ExampleHome_Events() {
	ctx := context.Background()
	h, _, done := home()
	defer done()
	id, err := h.Create(ctx, perdure.Spec{Events: []perdure.Entry{
		perdure.AppEvent("mine", []byte("one")), perdure.AppEvent("mine", []byte("two")), perdure.LabelEvent("a title", nil),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range h.Events(ctx, id, perdure.Range{Kinds: []string{"app"}, Last: 1}) {
		if err != nil {
			log.Fatal(err)
		}
		_, data, _ := ev.App()
		fmt.Println(ev.Seq, string(data))
	}
	// Output:
	// 3 two
}
