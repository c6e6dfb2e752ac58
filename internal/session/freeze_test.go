package session_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// full is a series that leaves no field empty.
type full struct{ n int }

func (f *full) number(n int) int {
	f.n++
	switch n {
	case 2:
		return 1 // pointers and flags are set
	case 4:
		return 2 // lists and maps have one entry
	case 6:
		return 2 + f.n%4 // numbers are not zero
	case len(words):
		return 1 + f.n%5
	}
	return 1 + f.n%(n-1)
}

// freezeFormats writes what is missing: every kind with every field, and a small session.
func freezeFormats(t *testing.T) {
	src, chain := &full{}, session.Chain{Session: "s"}
	var events []store.Event
	seal := func(b session.Body) {
		e, err := chain.Event(store.Actor{Type: store.ActorImport, ID: "fixture"}, 1_700_000_000_000+int64(len(events)), b)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	for _, k := range kinds {
		b := emptyBody(k)
		fill(src, reflect.ValueOf(b).Elem())
		seal(b)
	}
	cost := int64(5)
	reply := &session.ModelResponded{Act: "t1.s1.b0.a1", Model: "m", Provider: "p", Stop: modelapi.StopToolUse, Cost: &cost}
	for _, typ := range []model.BlockType{
		model.BlockText, model.BlockThinking, model.BlockToolUse, model.BlockImage, model.BlockDocument, model.BlockOther,
	} {
		reply.Blocks = append(reply.Blocks, session.SealedBlock{
			Type: typ, ID: "u", Name: "n", Text: true, Raw: []byte("{ \"raw\": 1.0}\xff"), Input: []byte(" {}"), Shown: []byte("shown"),
		})
	}
	seal(reply)
	text := "v"
	seal(&session.ToolFinished{Act: "t1.s1.b1.a1", Env: command.EnvDelta{"A": nil, "B": &text}, Content: []model.Part{
		model.TextPart("naïve"), {Type: model.BlockImage, Media: "image/png", Data: []byte("\x89PNG")},
	}})
	seal(&session.ToolFinished{Act: "t1.s1.b1.a1", Env: command.EnvDelta{}})
	writeFixture(t, "v1", events)
	freezeKinds(t, "v2", session.KindCompactRequested, session.KindCompacted, session.KindModelRequested, session.KindConfigured)
	freezeKinds(t, "v2-plan", session.KindPlanEdited, session.KindToolStarted)
	freezeKinds(t, "v3", session.KindGiven, session.KindCompacted, session.KindHandoffRequested, session.KindHandoffWritten)
	freezeKinds(t, "v3-queue", session.KindMessageWithdrawn)
	freezeKinds(t, "v4-files", session.KindFilesCaptured, session.KindCheckpointRequested, session.KindRestoreRequested,
		session.KindRestoreStarted, session.KindFilesRestored, session.KindArtifactAdded)
	freezeKinds(t, "v3-imported", session.KindImported)
	freezeKinds(t, "v5-moved", session.KindConfigured, session.KindRestoreRequested)
	freezeKinds(t, "v5-titles", session.KindTitleRequested, session.KindTitleGiven)

	w := newWorld("s")
	s := &script{w: w}
	for _, line := range strings.Split(`open price=3
rules allow:Bash deny:Fetch
message "hello"
run
start t1.s1.b0.a1
resume
settle t1.s1.b0.a1 lost
do t1.s1.b0.a2 text "Look." tool Bash {"command":"ls"} tool Edit {"file":"f"} tool Ask {"q":1} tool Fetch {"n":1}
run
do t1.s1.b2.a1 ok "f" cwd=/w/sub
answer t1.s1.b4.a1 "yes"
run
approve t1.s1.b3.a1 allow grant=Edit
run
do t1.s1.b3.a1 ok "edited"
run
do t1.s2.b0.a1 text "Done."
run
message "queued"
lifecycle paused`, "\n") {
		if _, err := s.command(tokens(line)); err != nil {
			t.Fatalf("%s: %s", line, err)
		}
	}
	writeFixture(t, "v1-session", w.events)
	folded := "testdata/formats/v1-session.folded"
	if _, err := os.Stat(folded); err != nil {
		put(t, folded, []byte(stateLines(w.st)+messageLines(w.tr.Upcoming())))
	}
}

// freezeKinds writes one event of each kind, with every field.
func freezeKinds(t *testing.T, name string, of ...store.Kind) {
	src, chain := &full{}, session.Chain{Session: "s"}
	var events []store.Event
	for _, k := range of {
		b := emptyBody(k)
		fill(src, reflect.ValueOf(b).Elem())
		e, err := chain.Event(store.Actor{Type: store.ActorImport, ID: "fixture"}, 1_700_000_000_000, b)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	writeFixture(t, name, events)
}

func writeFixture(t *testing.T, name string, events []store.Event) {
	file := "testdata/formats/" + name
	if _, err := os.Stat(file + ".log"); err == nil {
		return
	}
	var said strings.Builder
	for _, e := range events {
		said.WriteString(describe(t, e) + "\n")
	}
	put(t, file+".jsonl", []byte(said.String()))
	put(t, file+".log", writeLog(events))
}

func put(t *testing.T, name string, b []byte) {
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
