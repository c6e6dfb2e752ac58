package session

import (
	"slices"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Goal: the conversation begins with what a compaction kept, in one message; if it kept nothing, with none: APIs refuse a
// message without content.
func TestAConversationBeginsWithWhatWasKept(t *testing.T) {
	for n := range 3 {
		tr, parts := &Transcript{}, make([]ContextPart, n)
		for i := range parts {
			parts[i] = ContextPart{Name: "part", Text: []byte("kept")}
		}
		tr.Apply(store.Event{Seq: 9}, &Compacted{N: 1, Parts: parts})
		if got := tr.Messages(); len(got) != min(n, 1) || n > 0 && len(got[0].Blocks) != n {
			t.Errorf("of %d parts: %+v", n, got)
		}
	}
}

// Goal: what follows a cut is the rest of the range that it is in, and the ranges after it. A cut that no range holds gives
// the whole conversation, but never once more what the compaction before it left out.
func TestTailAfterACut(t *testing.T) {
	parent, first, second := Range{"p", 1, 40}, Range{"s", 3, 9}, Range{"s", 20, 30}
	all := []Range{parent, first, second}
	for name, c := range map[string]struct {
		compacted int64
		cut       Cut
		want      []Range
	}{
		"inside a range":               {0, Cut{In: "s", Through: 24}, []Range{{"s", 25, 30}}},
		"before its first event":       {0, Cut{In: "s", Through: 19}, []Range{second}},
		"at its last event":            {0, Cut{In: "s", Through: 30}, nil},
		"in the parent":                {0, Cut{In: "p", Through: 10}, []Range{{"p", 11, 40}, first, second}},
		"between ranges":               {0, Cut{In: "s", Through: 18}, all},
		"after everything":             {0, Cut{In: "s", Through: 31}, all},
		"in no session of it":          {0, Cut{In: "x", Through: 24}, all},
		"after a compaction":           {1, Cut{In: "s", Through: 5}, []Range{{"s", 6, 9}, second}},
		"in the range of a compaction": {1, Cut{In: "p", Through: 10}, []Range{first, second}},
	} {
		s := &State{ID: "s", Base: []Range{parent}}
		s.Context.Ranges = []Range{first, second}
		if got := s.TailAfter(&Transcript{overlay: overlaid{n: c.compacted}}, c.cut); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Goal: once a prompt was sent after a reply that paused, the pause is over: the conversation can be cut before the next
// reply, and a note is sent as after any other.
func TestAPauseEndsWithTheNextPrompt(t *testing.T) {
	tr, seq := &Transcript{in: "s"}, int64(0)
	apply := func(b Body) int64 {
		seq++
		tr.Apply(store.Event{Seq: seq}, b)
		return seq
	}
	say := func(words string) {
		at := apply(&MessageReceived{Content: []model.Part{model.TextPart(words)}})
		apply(&ModelRequested{Through: apply(&TurnStarted{Message: at})})
	}
	reply := func(stop modelapi.StopReason) {
		apply(&ModelResponded{Act: "t1.s1.b0.a1", Stop: stop, Blocks: []SealedBlock{{Type: model.BlockText, Shown: []byte("reply")}}})
	}
	say("one")
	reply(modelapi.StopPause)
	say("two")
	if note := apply(&PlanEdited{Text: []byte("a note")}); len(tr.Upcoming()[2].Blocks) != 2 {
		t.Errorf("the note of event %d waits: %+v", note, tr.Upcoming())
	}
	reply(modelapi.StopEndTurn)
	if cuts := tr.Cuts(); len(cuts) != 2 || cuts[1].Message != 3 {
		t.Errorf("%+v", cuts)
	}
}
