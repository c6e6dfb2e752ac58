package talk_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// reply is a random reply of a model.
func reply(r *rand.Rand) (blocks []session.SealedBlock) {
	words := []string{"", " ", "\n\n", "one", "two words", "three\nlines\nof it", "日本語", "`code`"}
	word := func() string { return words[r.IntN(len(words))] }
	for range r.IntN(7) {
		switch r.IntN(6) {
		case 0, 1:
			blocks = append(blocks, text(word()+word()))
		case 2:
			blocks = append(blocks, thinks(word()+word()))
		case 3:
			blocks = append(blocks, session.SealedBlock{Type: model.BlockThinking, Raw: []byte(`{"type":"redacted_thinking","data":"x"}`)})
		case 4:
			blocks = append(blocks, runs("true"))
		case 5:
			blocks = append(blocks, session.SealedBlock{Type: model.BlockOther, Raw: []byte(`{}`)})
		}
	}
	return blocks
}

// stream has the words of a reply come in pieces, with looks at what has changed in between.
func stream(t *tape, r *rand.Rand, act string, blocks []session.SealedBlock) {
	for _, b := range blocks {
		kind, words := modelapi.DeltaText, string(b.Shown)
		switch b.Type {
		case model.BlockThinking:
			kind, words = modelapi.DeltaThinking, talk.Thought(b)
		case model.BlockToolUse:
			kind, words = modelapi.DeltaTool, string(b.Input)
		}
		for words != "" {
			n := 1 + r.IntN(len(words))
			t.fold.Delta(act, string(kind), words[:n])
			words = words[n:]
			if r.IntN(3) == 0 {
				t.shown()
			}
		}
	}
}

// Whoever sees the words of a reply come, in whatever pieces, has the same items in the same order when it is there as one
// who sees the whole reply alone.
func TestAReplyThatCameInPiecesIsTheWholeReply(t *testing.T) {
	r := seeded(t)
	for range 3000 {
		blocks := reply(r)
		whole, pieces := newTape().asks(1, "go"), newTape().asks(1, "go")
		if r.IntN(2) == 0 {
			pieces.shown()
		}
		stream(pieces, r, act(1, 1, 1), blocks)
		for _, tp := range []*tape{whole, pieces} {
			tp.add(replied(1, 1, blocks...))
			tp.shown()
		}
		if !reflect.DeepEqual(whole.sheet.items, pieces.sheet.items) {
			t.Fatalf("of %+v:\nwhole\n%sin pieces\n%s", blocks, &whole.sheet, &pieces.sheet)
		}
	}
}

// A call that fails and is made again leaves none of its words, whenever somebody looks.
func TestARetryLeavesNoWordOfTheFailedCall(t *testing.T) {
	r := seeded(t)
	for range 500 {
		tp := newTape().asks(1, "go")
		stream(tp, r, act(1, 1, 1), []session.SealedBlock{thinks("bad thoughts"), text("bad words"), thinks("bad again")})
		if r.IntN(2) == 0 {
			tp.add(&session.ModelFailed{Act: act(1, 1, 1), Message: "overloaded", Status: 529})
		} else {
			tp.add(&session.ModelLost{Act: act(1, 1, 1), Reason: "interrupted", Text: []byte("bad words")})
		}
		if r.IntN(2) == 0 {
			tp.shown()
		}
		tp.add(requested(1, 1, 2))
		stream(tp, r, act(1, 1, 2), []session.SealedBlock{text("good words")})
		tp.add(&session.ModelResponded{Act: act(1, 1, 2), Blocks: []session.SealedBlock{text("good words")}})
		if got := tp.shown().String(); strings.Contains(got, "bad") || strings.Count(got, "good words") != 1 {
			t.Fatal(got)
		}
	}
}

// However often a call is tried again, the conversation says so in one line.
func TestTriesAreOneLine(t *testing.T) {
	tp := newTape().asks(1, "go")
	for n := 1; n <= 5; n++ {
		tp.add(&session.ModelFailed{Act: act(1, 1, n), Message: "overloaded\x1b[31m", Status: 529}, requested(1, 1, n+1))
		tp.shown()
	}
	tp.want(t, "person: go", "trouble: the model call failed (529): overloaded")
}

// What was said until somebody cancelled stays, whether it was seen to come or not.
func TestWhatWasSaidUntilTheEndStays(t *testing.T) {
	lost := &session.ModelLost{Act: act(1, 1, 1), Reason: "cancelled", Text: []byte("half a sen")}
	end := &session.TurnEnded{N: 1, Stop: session.TurnCancelled}
	tp := newTape().asks(1, "go")
	tp.add(lost, end)
	tp.want(t, "person: go", "text: half a sen", "note: cancelled")

	tp = newTape().asks(1, "go")
	tp.fold.Delta(act(1, 1, 1), "thinking", "hm")
	tp.fold.Delta(act(1, 1, 1), "text", "half ")
	tp.shown()
	tp.add(lost, end) // some of the words did not come
	tp.want(t, "person: go", "thinking: hm", "text: half a sen", "note: cancelled")

	tp = newTape().asks(1, "go")
	tp.fold.Delta(act(1, 1, 1), "thinking", "hm")
	tp.add(lost, end)
	tp.want(t, "person: go", "thinking: hm", "text: half a sen", "note: cancelled")
}

// The words of a reply come below what they answer, even if both come in the same moment.
func TestAReplyIsBelowTheMessage(t *testing.T) {
	tp := newTape().asks(1, "go")
	tp.fold.Delta(act(1, 1, 1), "text", "I ")
	tp.fold.Delta(act(1, 1, 1), "text", "go")
	tp.want(t, "person: go", "text: I go")
	tp.fold.Delta(act(1, 1, 1), "text", " on")
	tp.want(t, "person: go", "text: I go on")
}

// The words of a summary are no part of the conversation, and neither is what the model thinks about it.
func TestASummaryIsNotSaid(t *testing.T) {
	tp := newTape().asks(1, "go")
	tp.add(&session.ModelRequested{Act: "c1.a1", Reason: "window", Estimate: 1234})
	if !session.ForSummary("c1.a1") {
		t.Fatal("c1.a1 is not the act of a summary")
	}
	tp.fold.Delta("c1.a1", "thinking", "what matters here?")
	tp.fold.Delta("c1.a1", "summary", "it was")
	tp.add(&session.ModelResponded{Act: "c1.a1", Blocks: []session.SealedBlock{text("it was long")}}, &session.Compacted{N: 1, TokensBefore: 90_000, TokensAfter: 8000})
	tp.want(t, "person: go", "note: compacting: the model is asked for a summary of about 1,234 tokens",
		"note: compacted: 90,000 → about 8,000 tokens; the log keeps everything")
}

// Words that come late, after the reply that holds them or the failure that took them, are not said again.
func TestLateWordsAreNotSaidAgain(t *testing.T) {
	tp := newTape().asks(1, "go")
	tp.add(replied(1, 1, text("all of it"), runs("true")))
	tp.fold.Delta(act(1, 1, 1), "text", "all of")
	tp.fold.Delta(act(1, 1, 1), "thinking", "hm")
	tp.want(t, "person: go", "text: all of it", "planned Bash true: ")
	tp.add(requested(1, 2, 1), &session.ModelFailed{Act: act(1, 2, 1), Message: "no"})
	tp.fold.Delta(act(1, 2, 1), "text", "bad")
	tp.want(t, "person: go", "text: all of it", "planned Bash true: ", "trouble: the model call failed: no")
}

// What a model thinks is found in a reply under each of the names that providers give it.
func TestThoughts(t *testing.T) {
	for _, raw := range []string{
		`{"type":"thinking","thinking":"hm"}`, `{"type":"thinking","text":"hm"}`, `{"type":"thinking","reasoning_content":"hm"}`, `{"type":"thinking","reasoning":"hm"}`,
	} {
		tp := newTape().asks(1, "go").add(replied(1, 1, session.SealedBlock{Type: model.BlockThinking, Raw: []byte(raw)}, text("ok")))
		tp.want(t, "person: go", "thinking: hm", "text: ok")
	}
	tp := newTape().asks(1, "go").add(replied(1, 1, session.SealedBlock{Type: model.BlockThinking, Raw: []byte(`no JSON`)}, text("ok")))
	tp.want(t, "person: go", "text: ok")
	if tp.sheet.items[1].Kind != transcript.Text {
		t.Error("it is no text")
	}
}

// Thousands of small pieces between two looks cost about what their length does.
func BenchmarkPieces(b *testing.B) {
	piece := strings.Repeat("x", 40)
	for b.Loop() {
		tp := newTape().asks(1, "go")
		tp.shown()
		for range 20_000 {
			tp.fold.Delta(act(1, 1, 1), "text", piece)
		}
		tp.shown()
	}
}
