package talk

import (
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Goal: words that come say which items came before them, and which of them are whole, so that a screen that gets much at
// once has all in its order.
func TestDeltasKeepTheirPlace(t *testing.T) {
	f := New(Config{})
	f.Event(store.Event{Seq: 1}, &session.MessageReceived{Key: "k", Content: []model.Part{model.TextPart("hello")}})
	f.Event(store.Event{Seq: 2}, &session.TurnStarted{N: 1, Message: 1})
	f.Delta("a", string(model.DeltaThinking), "hm")
	f.Delta("a", string(model.DeltaText), "I ")
	f.Delta("a", string(model.DeltaText), "look")
	f.Event(store.Event{Seq: 3}, &session.ModelResponded{Act: "a", Blocks: []session.SealedBlock{{Type: model.BlockText, Shown: []byte("I look")}}})
	f.Delta("b", string(model.DeltaText), "and")
	f.Event(store.Event{Seq: 4}, &session.TurnEnded{Stop: session.TurnCancelled})
	got := f.Take()
	var said []string
	var after []int
	for _, s := range got.Said {
		said, after = append(said, s.Text), append(after, s.After)
	}
	if !slices.Equal(said, []string{"hm", "I look", "and"}) || !slices.Equal(after, []int{1, 1, 2}) {
		t.Errorf("said %q after %v", said, after)
	}
	if want := []string{partID("a", 1), partID("a", 2), partID("b", 1)}; !slices.Equal(got.Whole, want) {
		t.Errorf("whole are %q, want %q", got.Whole, want)
	}
	if f.Changed() || len(f.Take().Items) > 0 {
		t.Error("it is given twice")
	}
}
