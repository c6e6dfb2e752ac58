package learn

import (
	"context"
	"iter"
	"testing"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// counted is a store of one log that counts what is read of it.
type counted struct {
	*log
	read int
}

func (c *counted) Get(context.Context, string) (store.Info, error) { return store.Info{ID: "s"}, nil }

func (c *counted) Read(_ context.Context, _ string, from, _ int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for _, e := range c.list[from-1:] {
			c.read++
			if !yield(e.Event, nil) {
				return
			}
		}
	}
}

// Goal: a later end of a session reads what came since, and all of it, once, only where something is to be judged. What a
// command printed before the earlier end is a command's still.
func TestALaterEndReadsWhatCameSince(t *testing.T) {
	const first, second = "the build needs version 3 of the linker", "the tests of the parser need a running server"
	c := &counted{log: newLog(t)}
	c.agent("I look.", "Bash")
	c.add(store.ActorTool, &session.ToolFinished{Act: "t1.s1.b1.a1", Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart("note: " + second)}})
	for range 100 {
		c.agent("I go on.")
	}
	c.agent("[GOTCHA] " + first)
	since := int64(len(c.list))
	c.agent("I go on.")
	for name, want := range map[string]struct {
		since int64
		words string
		read  int
		texts []string
	}{
		"the first end":   {0, "", 2 * len(c.list), []string{first}},
		"nothing is new":  {since, "", 1, nil},
		"words of an end": {since, "Learned:\n[GOTCHA] " + second, 1 + len(c.list), []string{second}},
	} {
		c.read = 0
		found, err := Newer(t.Context(), c, "s", want.since, want.words)
		if err != nil || len(found) != len(want.texts) || c.read != want.read {
			t.Errorf("%s: %+v, %v; %d events were read, want %d", name, found, err, c.read, want.read)
			continue
		}
		for i, f := range found {
			source, seq := knowledge.SourceModel, since
			if f.Text != first {
				source, seq = knowledge.SourceTool, 0
			}
			if f.Source != source || f.Seq != seq {
				t.Errorf("%s: %+v, want source %s", name, found[i], source)
			}
		}
	}
}
