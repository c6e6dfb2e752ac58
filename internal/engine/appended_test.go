package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Goal: Append acknowledges nothing that the fold drops: it is refused whole, before anything is written.
func TestAppendRefusesWhatDoesNotFit(t *testing.T) {
	user := store.Actor{Type: store.ActorUser}
	text := func(s string) []model.Part { return []model.Part{model.TextPart(s)} }
	var none *session.App
	big := &session.StateSet{Key: "k", Value: []byte(strings.Repeat("v", 600_000))}
	s := newStage(t)
	_, se := s.start("go")
	if err := se.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, bodies := range map[string][]session.Body{
		"scratch over 1 MiB":     {&session.StateSet{Key: "k", Value: make([]byte, 1<<20)}},
		"scratch over it by two": {big, &session.StateSet{Key: "l", Value: big.Value}},
		"an unknown lifecycle":   {&session.LifecycleSet{To: "nonsense"}},
		"a second opening":       {&session.Opened{ID: "s"}},
		"a reply to nothing":     {&session.ModelResponded{Act: "t1.s1.b0.a1"}},
		"a request of nothing":   {&session.TurnStarted{N: 1}, &session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: 1}},
		"the end of no act":      {&session.ToolFinished{Act: "t9.s9.b9.a9"}},
		"a blank message":        {&session.MessageReceived{Content: text(" \n\t")}},
		"no namespace":           {&session.App{}},
		"nil":                    {nil},
		"a nil of its type":      {none},
		"one of two":             {&session.App{Namespace: "a"}, &session.LifecycleSet{To: "nonsense"}},
	} {
		before := se.State().Head
		err := se.Append(t.Context(), user, bodies...)
		if !errors.Is(err, session.ErrUnfit) || se.Head() != before {
			t.Errorf("%s: %v, %d events more", name, err, se.Head().Seq-before.Seq)
		}
	}
	if err := se.Append(t.Context(), store.Actor{}, &session.App{Namespace: "a"}); !errors.Is(err, session.ErrUnfit) {
		t.Errorf("nobody's event: %v", err)
	}
	for i := range 1024 {
		err := se.Append(t.Context(), user, &session.MessageReceived{Content: text("more")})
		if full := i >= 1023; (err != nil) != full { // the prompt waits already
			t.Fatalf("message %d: %v", i+2, err)
		}
	}
	before := se.Head().Seq
	err := se.Append(t.Context(), user, &session.App{Namespace: "a", Data: []byte("x")})
	if err != nil || se.Head().Seq != before+1 || len(se.State().Faults) > 0 {
		t.Errorf("append: %+v, %v, faults %q", se.Head(), err, se.State().Faults)
	}
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := se.Append(t.Context(), user, &session.App{Namespace: "a"}); !errors.Is(err, engine.ErrReleased) {
		t.Errorf("append after close: %v", err)
	}
}
