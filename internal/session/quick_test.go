package session

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

var quickKinds = []store.Kind{
	KindFileSeen, KindToolDecided, KindToolStarted, KindToolFinished, KindModelRequested, KindModelResponded,
}

// ordinaryHeads are what engines write most of the time.
func ordinaryHeads(tb testing.TB) map[store.Kind][]byte {
	code, cost := 1, int64(-5)
	out := map[store.Kind][]byte{}
	for _, b := range []Body{
		&FileSeen{File: File{Path: "/w/a b", Digest: store.Sum(nil), Mode: 0o644, Size: 1, Use: FileRead}},
		&ToolDecided{Act: "t1.s1.b1.a1", Effect: EffectEdit, Decision: Decision{
			Allow: true, Rule: "Bash(git:*)", Reason: "r", Bound: store.Sum(nil), Pre: store.Sum([]byte("x")), Epoch: 3, Human: true,
		}},
		&ToolStarted{Act: "t1.s1.b1.a1", Start: Start{Epoch: 2, BootID: "b", Time: 1_700_000_000_000, Command: "ls -l"}},
		&ToolFinished{
			Act: "t1.s1.b1.a1", Outcome: OutcomeError, Collected: true, ExitCode: &code, Cwd: "/w", Output: "/o",
			Content: []model.Part{model.TextPart("x"), {Type: model.BlockImage, Media: "image/png"}},
		},
		&ModelRequested{
			Act: "t1.s1.b0.a1", Turn: 1, Step: 2, Attempt: 3, Epoch: 4, Model: "p/m", Through: 5, Prefix: store.Sum(nil),
			MaxTokens: 6, Estimate: 7,
		},
		&ModelResponded{
			Act: "t1.s1.b0.a1", Response: "r", Model: "p/m", Provider: "p", Stop: modelapi.StopToolUse,
			Usage: model.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, LostInput: 5}, Cost: &cost,
			Blocks: []SealedBlock{{Type: model.BlockText, Text: true}, {Type: model.BlockToolUse, ID: "u", Name: "Bash"}},
		},
	} {
		head, err := json.Marshal(b)
		if err != nil {
			tb.Fatal(err)
		}
		out[KindOf(b)] = head
	}
	return out
}

// TestQuickIsUsed: without it a log still folds, three times as slowly.
func TestQuickIsUsed(t *testing.T) {
	heads := ordinaryHeads(t)
	for _, k := range quickKinds {
		if !readQuick(emptyBody(k).(quick), heads[k]) {
			t.Errorf("%s is not read quickly: %s", k, heads[k])
		}
		sameAsJSON(t, k, heads[k])
	}
}

// TestQuickLeavesTheRest to encoding/json.
func TestQuickLeavesTheRest(t *testing.T) {
	for _, head := range []string{
		``, `{`, `null`, `[]`, `{"act":"a\n"}`, `{"act":"é"}`, `{"act":null}`, `{"Act":"a"}`, `{"act":"a","new":1}`,
		`{ "act":"a"}`, `{"act":"a",}`, `{"act":"a"}}`, `{"act":"a"} `, `{"act"}`, `{"":1}`, `{"content":[{}],"content":[{}]}`,
		`{"exit_code":1.0}`, `{"exit_code":1e3}`, `{"exit_code":01}`, `{"exit_code":-}`, `{"exit_code":99999999999}`,
		`{"exit_code":9223372036854775808}`, `{"content":[{"type":"text"}`, `{"content":[,]}`, `{"content":[{}{}]}`, `{"act":"a`,
	} {
		if readQuick(&ToolFinished{}, []byte(head)) {
			t.Errorf("%s is read quickly", head)
		}
		for _, k := range quickKinds {
			sameAsJSON(t, k, []byte(head))
		}
	}
}

// sameAsJSON compares the two ways to read a head.
func sameAsJSON(t *testing.T, k store.Kind, head []byte) {
	t.Helper()
	fast, slow := emptyBody(k), emptyBody(k)
	if !readQuick(fast.(quick), head) {
		return
	}
	if err := json.Unmarshal(head, slow); err != nil {
		t.Fatalf("%s %q is read quickly, but is %s", k, head, err)
	}
	if !reflect.DeepEqual(fast, slow) {
		t.Fatalf("%s %q reads as\n%+v and\n%+v", k, head, fast, slow)
	}
}

// FuzzQuick finds no head that is read differently.
func FuzzQuick(f *testing.F) {
	heads := ordinaryHeads(f)
	for i, k := range quickKinds {
		f.Add(i, heads[k])
	}
	f.Fuzz(func(t *testing.T, kind int, head []byte) {
		sameAsJSON(t, quickKinds[uint(kind)%uint(len(quickKinds))], head)
	})
}

// A mode that no file has is left to encoding/json, which refuses it.
func TestQuickLeavesOddModes(t *testing.T) {
	for mode, read := range map[string]bool{"420": true, "4294967295": true, "4294967296": false, "-1": false} {
		if got := readQuick(&FileSeen{}, []byte(`{"file":{"path":"/x","mode":`+mode+`}}`)); got != read {
			t.Errorf("mode %s is read quickly: %t", mode, got)
		}
	}
}
