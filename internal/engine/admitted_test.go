package engine

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// admitting is a session of which only what it admits is looked at.
func admitting(st session.State) *Session {
	st.Lifecycle = session.LifecycleOpen
	return newSession(&Engine{cfg: Config{Secrets: noSecrets{}}}, store.Lease{}, &st)
}

// Goal: a person who awaits a line of a task is told of what the model has not read yet; a task's end is awaited from
// nowhere, and a place that is given is kept.
func TestLineIsAwaitedFromWhereTheModelHasRead(t *testing.T) {
	for _, c := range []struct {
		await session.Await
		from  int64
	}{
		{session.Await{Event: session.AwaitLine, Task: "bash_1", Pattern: "ready"}, 7},
		{session.Await{Event: session.AwaitLine, Task: "bash_1", Pattern: "ready", From: 3}, 3},
		{session.Await{Event: session.AwaitEnd, Task: "bash_1"}, 0},
	} {
		s := admitting(session.State{Tasks: []session.Task{{ID: "bash_1", Act: "act", Ending: command.Ending{Status: command.Running}, Position: 7}}})
		b := &session.AwaitSet{Await: c.await}
		if err := s.admissible(b, "key"); err != nil || b.Await.From != c.from || b.Await.TaskAct != "act" {
			t.Errorf("%+v becomes %+v, %v", c.await, b.Await, err)
		}
	}
}

// Goal: a session takes facts until it holds as many as it can.
func TestFactsAreTakenWhileTheyFit(t *testing.T) {
	for held, want := range map[int]bool{0: true, 4095: true, 4096: false} {
		s := admitting(session.State{Facts: make([]session.Fact, held)})
		if err := s.admissible(&session.FactAdded{Fact: session.Fact{Kind: "fact", Text: "one more", Provenance: "user"}}, ""); (err == nil) != want {
			t.Errorf("beside %d: %v", held, err)
		}
	}
}

// Goal: an item is held to the same as an entry that is appended, whoever put it into the inbox.
func TestItemsThatMeanNothingAreRefused(t *testing.T) {
	fact := session.Fact{Kind: "fact", Text: "it is so", Provenance: "user"}
	with := func(change func(*session.Fact)) session.Body {
		f := fact
		change(&f)
		return &session.FactAdded{Fact: f}
	}
	for name, c := range map[string]struct {
		body session.Body
		says string
	}{
		"a fact":            {&session.FactAdded{Fact: fact}, ""},
		"of no kind":        {with(func(f *session.Fact) { f.Kind = "opinion" }), "failed_approach"},
		"of nobody":         {with(func(f *session.Fact) { f.Provenance = "me" }), "user, tool, model and import"},
		"of no words":       {with(func(f *session.Fact) { f.Text = " \u200b" }), "without words"},
		"an event":          {&session.App{Namespace: "n"}, ""},
		"without namespace": {&session.App{}, "namespace"},
	} {
		err := admitting(session.State{}).admissible(c.body, "key")
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
