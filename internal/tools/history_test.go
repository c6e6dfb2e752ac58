package tools

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// logOf gives bodies as the entries of a log.
func logOf(session_ string, bodies ...session.Body) func(context.Context) iter.Seq2[LogEntry, error] {
	return func(context.Context) iter.Seq2[LogEntry, error] {
		return func(yield func(LogEntry, error) bool) {
			for i, b := range bodies {
				if !yield(LogEntry{Session: session_, Event: store.Event{Seq: int64(i + 1)}, Body: b}, nil) {
					return
				}
			}
		}
	}
}

// Goal: what is no longer in the conversation is found by words, by call and by turn, whole; what is not there is said.
func TestHistory(t *testing.T) {
	big := strings.Repeat("a line of output\n", 5000) + "THE END"
	w := newWorld(t)
	w.Log = logOf("test",
		&session.MessageReceived{Content: []model.Part{model.TextPart("fix the Parser")}},
		&session.TurnStarted{N: 1, Message: 1},
		&session.ModelResponded{Act: "t1.s1.b0.a1", Blocks: []session.SealedBlock{
			{Type: model.BlockText, Shown: []byte("I look at the parser.")},
			{Type: model.BlockToolUse, ID: "u", Name: "Bash", Input: []byte(`{"command":"make parser"}`)},
		}},
		&session.ToolFinished{Act: "t1.s1.b2.a1", Outcome: session.OutcomeError, Content: []model.Part{model.TextPart(big)}},
		&session.ModelResponded{Act: "c1.a1", Blocks: []session.SealedBlock{{Type: model.BlockText, Shown: []byte("a summary of the parser")}}},
		&session.MessageReceived{Content: []model.Part{model.TextPart("and now the lexer")}},
		&session.TurnStarted{N: 2, Message: 6},
		&session.ModelResponded{Act: "t2.s1.b0.a1", Blocks: []session.SealedBlock{{Type: model.BlockText, Shown: []byte("done")}}},
		&session.PlanEdited{Text: []byte("[The user changed the plan: more tests]")},
	)
	r := w.call("History", `{"query":"PARSER"}`)
	text := model.Text(r.Content)
	if strings.Count(text, "\n") != 2 || !strings.HasPrefix(text, "event 3, call t1.s1.b2: Bash") || strings.Contains(text, "summary") {
		t.Errorf("query: %s", text)
	}
	r = w.call("History", `{"act":"t1.s1.b2.a1"}`)
	if text = model.Text(r.Content); !strings.Contains(text, "make parser") || !strings.Contains(text, "THE END") || len(r.Full) < len(big) {
		t.Errorf("act: %.300s … %d bytes kept", text, len(r.Full))
	}
	r = w.call("History", `{"turn":2}`)
	if text = model.Text(r.Content); !strings.Contains(text, "and now the lexer") || !strings.Contains(text, "done") || strings.Contains(text, "Parser") {
		t.Errorf("turn: %s", text)
	}
	if text = model.Text(w.call("History", `{"query":"more tests"}`).Content); !strings.Contains(text, "event 9, the user's change of the plan") {
		t.Errorf("a change of the plan: %s", text)
	}
	w.golden(w.call("History", `{"act":"t9.s1.b1"}`), false, "The log has nothing of act t9.s1.b1.")
	w.golden(w.call("History", `{}`), true, `History: give one of "query", "act" and "turn"`)
	w.golden(w.call("History", `{"turn":1,"query":"x"}`), true, `History: give one of "query", "act" and "turn"`)
}

// Goal: a note becomes a fact with its reason and its source, once; a failed approach needs its reason.
func TestNote(t *testing.T) {
	w := newWorld(t)
	w.golden(w.call("Note", `{"kind":"failed","text":"patching the vendor code","reason":"go vet refuses it: \"import cycle\""}`), false, "Noted.")
	want := session.Fact{Kind: "failed_approach", Text: "patching the vendor code", Reason: `go vet refuses it: "import cycle"`, Provenance: "model"}
	if len(w.State.Facts) != 1 {
		t.Fatalf("facts: %+v", w.State.Facts)
	}
	got := w.State.Facts[0]
	got.Seq, got.Time = 0, 0
	if got != want {
		t.Errorf("fact: %+v", got)
	}
	w.golden(w.call("Note", `{"kind":"failed_approach","text":"Patching the vendor code","reason":"go vet refuses it: \"import cycle\""}`), false, "It is noted already.")
	w.golden(w.call("Note", `{"kind":"failed","text":"x"}`), true, `Note: a failed needs its "reason"`)
	w.golden(w.call("Note", `{"kind":"idea","text":"x"}`), true, `Note: "kind" must be one of finding, decision, failed, constraint, failed_approach, got "idea"`)
}
