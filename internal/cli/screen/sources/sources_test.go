package sources_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen/sources"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// step is a step of a script that calls tools.
func step(tools ...string) string { return `{"text":"now","tools":[` + strings.Join(tools, ",") + `]}` }

func tool(name, input string) string { return fmt.Sprintf(`{"name":%q,"input":%s}`, name, input) }

// edited is a home with a session that wrote and edited files.
func edited(t *testing.T) *clitest.World {
	w := clitest.New(t)
	clitest.WriteFile(t, filepath.Join(w.Dir, "old.txt"), "one\ntwo\nthree\n")
	w.Create("s")
	steps := []string{
		step(tool("Write", `{"file_path":"sub/new.txt","content":"a\nb\na\n"}`), tool("Read", `{"file_path":"old.txt"}`)),
		step(tool("Edit", `{"file_path":"sub/new.txt","old_string":"a\n","new_string":"c\n","replace_all":true}`), tool("Edit", `{"file_path":"old.txt","old_string":"two","new_string":"2"}`)),
		step(tool("Edit", `{"file_path":"old.txt","old_string":"nowhere","new_string":"x"}`), tool("Write", `{"file_path":"old.txt","content":"all new\n"}`)),
		step(tool("Edit", `{"file_path":"old.txt","old_string":"all","new_string":"quite"}`)),
		`{"text":"done"}`,
	}
	w.Prompt("s", `{"turns":[{"match":"go","steps":[`+strings.Join(steps, ",")+`]}]}`, "go", "bypass")
	return w
}

// Where no turn has changed a file, nothing went wrong: the page of what differs says so, not that it failed.
func TestWithoutAChangeNothingDiffers(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.Prompt("s", `{"turns":[{"match":"go","steps":[{"text":"done"}]}]}`, "go", "bypass")
	h := w.Open("{}")
	defer w.Close(h)
	files, err := sources.Differs(h, "s", "").Files(t.Context())
	if err != nil || !strings.Contains(files.None, "no turn has changed a file") || len(files.Modified) > 0 {
		t.Errorf("%+v %v", files, err)
	}
}

// A file's page has what the session did with it, and for each change what the log knows: the whole file where the
// session made or wrote it, else the part that the call named. A call that failed changed nothing.
func TestTheChangesOfAFileAreReadFromTheLog(t *testing.T) {
	w := edited(t)
	h := w.Open("{}")
	defer w.Close(h)
	src := sources.Files(h, "s")
	files, err := src.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(files.Created) != 1 || files.Created[0].Name != "sub/new.txt" || files.Created[0].Size != 6 || len(files.Modified) != 1 || files.Modified[0].Name != "old.txt" {
		t.Fatalf("%+v", files)
	}
	for path, want := range map[string][]panels.Change{
		files.Created[0].Path: {
			{Title: "Write", New: "a\nb\na\n"},
			{Title: "Edit", Old: "a\nb\na\n", New: "c\nb\nc\n"},
		},
		files.Modified[0].Path: {
			{Title: "Edit", Old: "two", New: "2", Part: true},
			{Title: "Write", New: "all new\n", Note: "what was there before is not in the log"},
			{Title: "Edit", Old: "all new\n", New: "quite new\n"},
		},
		filepath.Join(w.Dir, "other"): nil,
	} {
		got, err := src.Changes(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].At.IsZero() {
				t.Errorf("%s %d: no time", path, i)
			}
			got[i].At = want[min(i, len(want)-1)].At
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", path, got, want)
		}
	}
}

// Plan, context and cost are those of the session; looking holds and changes nothing.
func TestWhatThePagesShowIsTheSessionsState(t *testing.T) {
	w := edited(t)
	agent := store.Actor{Type: store.ActorModel, ID: "m"}
	w.Append("s", agent, &session.PlanSet{Steps: []session.Step{{Content: "look", Status: session.StepBlocked, Blocker: "a key"}}},
		&session.FactAdded{Fact: session.Fact{Kind: "failed_approach", Text: "by hand", Reason: "too slow", Provenance: "model"}})
	h := w.Open("{}")
	defer w.Close(h)
	before, err := h.State(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sources.Plan(h, "s").Plan(t.Context())
	want := panels.Plan{
		Steps: []panels.Step{{Text: "look", Status: "blocked", Blocker: "a key"}},
		Facts: []panels.Fact{{Kind: "failed_approach", Text: "by hand", Reason: "too slow", From: "model"}},
	}
	if err != nil || !reflect.DeepEqual(plan, want) {
		t.Errorf("%+v %v", plan, err)
	}
	c, err := sources.Context(h, "s").Context(t.Context())
	if err != nil || c.Tokens <= 0 || len(c.Parts) < 3 || c.Parts[0].Name != "system" || c.CachedAt.IsZero() {
		t.Errorf("%+v %v", c, err)
	}
	cost, err := sources.Cost(h, "s").Cost(t.Context())
	if err != nil || cost.Turn == nil || cost.TurnOpen || cost.Session.Calls != 5 || len(cost.Models) != 1 || cost.Session.Output != before.Total().Output {
		t.Errorf("%+v %v", cost, err)
	}
	after, err := h.State(t.Context(), "s")
	if err != nil || after.Head != before.Head {
		t.Errorf("looking has written: %v %v %v", before.Head, after.Head, err)
	}
	for _, err := range []error{
		second(sources.Plan(h, "none").Plan(t.Context())), second(sources.Context(h, "none").Context(t.Context())),
		second(sources.Files(h, "none").Files(t.Context())), second(sources.Files(h, "none").Changes(t.Context(), "/x")), second(sources.Cost(h, "none").Cost(t.Context())),
	} {
		if err == nil {
			t.Error("a session that is not there is shown")
		}
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "sub", "new.txt")); err != nil {
		t.Error(err)
	}
}

// A call that began and failed, or was void, changed nothing; of one that nobody knows the end of that is said, and what
// the next call found tells whether it was written. What another tool changed is not in the log.
func TestOnlyWhatWasWrittenIsAChange(t *testing.T) {
	r := sources.NewChangeReader("/f")
	sum := func(s string) store.Digest { return store.Sum([]byte(s)) }
	do := func(step int, tool, input, pre, post string, end session.Body) {
		act := fmt.Sprintf("t1.s%d", step)
		block := session.SealedBlock{Type: model.BlockToolUse, Name: tool, Input: []byte(input)}
		r.Take(store.Event{Time: 1}, &session.ModelResponded{Act: act + ".m.a1", Blocks: []session.SealedBlock{block}})
		base := session.CallBase(act+".m.a1", 0)
		r.Take(store.Event{Time: 2}, &session.ToolStarted{Act: base + ".a1", Start: session.Start{Edit: &session.Edit{Path: "/f", Pre: sum(pre), Post: sum(post)}}})
		switch b := end.(type) {
		case *session.ToolFinished:
			b.Act = base + ".a1"
		case *session.ToolUnknown:
			b.Act = base + ".a1"
		default:
		}
		r.Take(store.Event{Time: 3}, end)
	}
	do(1, "Write", `{"content":"a b"}`, "", "a b", &session.ToolFinished{Outcome: session.OutcomeError})
	do(2, "Write", `{"content":"a b"}`, "", "a b", &session.ToolUnknown{})
	do(3, "Edit", `{"old_string":"b","new_string":"c"}`, "a b", "a c", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(4, "Edit", `{"old_string":"c","new_string":"d"}`, "somebody else's c", "somebody else's d", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(6, "Write", `{"content":"w"}`, "d", "w", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(7, "Write", `{"content":"v"}`, "changed by hand", "v", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(8, "Write", `{"content":"p\r\nq"}`, "v", "p\r\nq", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(9, "Edit", `{"old_string":"p\nq","new_string":"r"}`, "p\r\nq", "r", &session.ToolFinished{Outcome: session.OutcomeOK})
	do(10, "Patch", `{"x":1}`, "y", "z", &session.ToolFinished{Outcome: session.OutcomeOK})
	at := time.UnixMilli(3)
	want := []panels.Change{
		{Title: "Write", At: at, New: "a b", Note: "unknown whether it was written"},
		{Title: "Edit", At: at, Old: "a b", New: "a c"},
		{Title: "Edit", At: at, Old: "c", New: "d", Part: true},
		{Title: "Write", At: at, New: "w", Note: "what was there before is not in the log"},
		{Title: "Write", At: at, New: "v", Note: "what was there before is not in the log"},
		{Title: "Write", At: at, Old: "v", New: "p\r\nq"},
		{Title: "Edit", At: at, Old: "p\nq", New: "r", Part: true}, // the tool follows the line ends of the file
		{Title: "Patch", At: at, Note: "what it changed is not in the log"},
	}
	if !reflect.DeepEqual(r.Changes(), want) {
		t.Errorf("\n got %+v\nwant %+v", r.Changes(), want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestShortPaths(t *testing.T) {
	for in, want := range map[string]string{"/a/b/c": "b/c", "/a": ".", "/x": "/x", "/ab": "/ab", "/a/..c": "..c"} {
		if got := sources.Short(in, "/a"); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
