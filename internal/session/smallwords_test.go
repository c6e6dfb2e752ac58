package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// A capture's lists are cut to their bounds, and what was cut is counted; what is within them stays.
func TestTheListsOfACaptureAreBounded(t *testing.T) {
	for over := range 3 {
		b := session.FilesCaptured{
			Skipped: make([]session.Skipped, 63+over), Torn: make([]string, 63+over), Repos: make([]session.RepoFact, 15+over),
			Refused: strings.Repeat("é", 199+over), Dropped: 5,
		}
		b.Bound()
		cut := max(0, over-1)
		if len(b.Skipped) != 63+over-cut || len(b.Torn) != 63+over-cut || len(b.Repos) != 15+over-cut || b.Dropped != int64(5+3*cut) || len(b.Refused) != 2*(199+over-cut) {
			t.Errorf("%d: %d skipped, %d torn, %d repositories, %d dropped, %d bytes", over, len(b.Skipped), len(b.Torn), len(b.Repos), b.Dropped, len(b.Refused))
		}
	}
}

// An artifact's name can be shown on a line; the model takes neither a person's name nor more than half of the list.
func TestNamesOfArtifacts(t *testing.T) {
	for name, good := range map[string]bool{"report.pdf": true, "ü b": true, strings.Repeat("a", 255): true, "": false, "a\nb": false, "a\x1b[2J": false, "a\u202eb": false, strings.Repeat("a", 256): false} {
		if err := session.ArtifactName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	w := session.Workspace{Artifacts: []session.Artifact{{Name: "person's"}, {Name: "model's", Act: "t1"}}}
	for name, good := range map[string]bool{"person's": false, "model's": true, "new": true} {
		if err := w.TakesArtifact(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	for len(w.Artifacts) < 1000 {
		if err := w.TakesArtifact("new"); err != nil {
			break
		}
		w.Artifacts = append(w.Artifacts, session.Artifact{Name: fmt.Sprint(len(w.Artifacts)), Act: "t1"})
	}
	full := len(w.Artifacts)
	if w.TakesArtifact("model's") != nil || w.TakesArtifact("person's") == nil || full == 1000 {
		t.Errorf("%d artifacts: a name that was used before is refused, or there is no end", full)
	}
}

// What becomes of files is one of four words, and a person who is asked is offered three answers, with what it was
// about quoted.
func TestWordsAboutLostActs(t *testing.T) {
	for how, good := range map[string]bool{"tell": true, "ask": true, "keep": true, "rollback": true, "": false, "undo": false} {
		if err := session.CheckOnLost(how); (err == nil) != good {
			t.Errorf("%q: %v", how, err)
		}
	}
	q := session.LostQuestion(&session.Call{Tool: "Bash", About: "make \"x\"\nyes"})
	if !strings.HasSuffix(q.Question, `: Bash "make \"x\"\nyes"`) || !slices.Equal(q.Options, []string{session.LostKeep, session.LostTakeBack, session.LostStop}) {
		t.Errorf("%+v", q)
	}
	if q := session.LostQuestion(&session.Call{Tool: "Bash"}); !strings.HasSuffix(q.Question, ": Bash") {
		t.Errorf("%q", q.Question)
	}
}

// A command whose log has a name in the place of a value is known by any of its parts, and so are such variables.
func TestHiddenPartsAreKnown(t *testing.T) {
	const hidden = "--token=[secret:TOKEN]"
	for i, got := range []bool{session.HidesCommand([]string{"a", hidden}, "", ""), session.HidesCommand(nil, hidden, ""), session.HidesCommand(nil, "", "/"+hidden)} {
		if !got {
			t.Errorf("part %d is not known", i)
		}
	}
	if session.HidesCommand([]string{"secret:"}, "[secret", "/secret:") {
		t.Error("what hides nothing is taken for hidden")
	}
	one, other, clean := hidden, "[secret:B]", "clean"
	if got := session.HiddenNames(command.EnvDelta{"B": &other, "A": &one, "CLEAN": &clean, "GONE": nil}); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("%q", got)
	}
}

// What a call is about is a field that says it best, else its first text; a long one is cut in whole characters.
func TestWhatACallIsAbout(t *testing.T) {
	for input, want := range map[string]string{
		`{"a":"first","command":"make"}`: "make", `{"b":"second","a":"first"}`: "first", `{"a":7,"b":"text"}`: "text",
		`{"pattern":"x+","path":"src"}`: "x+ src", `{"pattern":"x+"}`: "x+", `{"path":"src"}`: "src", `{}`: "", `[]`: "", `{`: "", `{"a":""}`: "",
	} {
		if got := session.About([]byte(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	long := session.About([]byte(`{"a":"` + strings.Repeat("é", 5000) + `"}`))
	n := strings.Count(long, "é")
	for size, whole := range map[int]bool{400: true, 401: false} {
		if got := session.About([]byte(`{"a":"` + strings.Repeat("x", size) + `"}`)); len(got) != 400 || strings.HasSuffix(got, "x") != whole {
			t.Errorf("of %d bytes: %d, …%s", size, len(got), got[len(got)-5:])
		}
	}
	if long != strings.Repeat("é", n)+"…" || session.About([]byte(`{"a":"`+strings.Repeat("x", len(long))+`"}`)) != strings.Repeat("x", len(long)) {
		t.Errorf("%d characters are left of %q", n, long[max(0, len(long)-9):])
	}
}

// A text is cut within its bound, at whole characters, and stays as it is if it fits.
func TestTextsAreCutAtCharacters(t *testing.T) {
	for _, c := range []struct {
		n                  int
		end, start, middle string
	}{
		{0, "", "", "\n[…]\n"},
		{1, "a", "z", "\n[…]\n"},
		{2, "a", "z", "a\n[…]\nz"},
		{3, "aé", "éz", "a\n[…]\nz"},
		{4, "aé", "éz", "a\n[…]\nz"},
		{5, "aéé", "ééz", "a\n[…]\nz"},
		{6, "aééz", "aééz", "aééz"},
		{7, "aééz", "aééz", "aééz"},
	} {
		end, start, middle := session.CutEnd("aééz", c.n), session.CutStart("aééz", c.n), session.CutMiddle("aééz", c.n)
		if end != c.end || start != c.start || middle != c.middle {
			t.Errorf("%d: %q, %q, %q; want %q, %q, %q", c.n, end, start, middle, c.end, c.start, c.middle)
		}
	}
	fits := []model.Part{model.TextPart(strings.Repeat("a", 90))}
	if got := model.Text(session.Shorten("t1.s1.c1.a2", fits, 90)); got != strings.Repeat("a", 90) {
		t.Errorf("what fits became %q", got)
	}
	long := []model.Part{model.TextPart(strings.Repeat("a", 80) + strings.Repeat("m", 40) + strings.Repeat("z", 80))}
	if got, want := model.Text(session.Shorten("t1.s1.c1.a2", long, 120)), strings.Repeat("a", 80)+
		"\n[80 bytes of this result are left out here. History with {\"act\": \"t1.s1.c1\"} reads the whole of it.]\n"+strings.Repeat("z", 40); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What must be kept for an event is each tree and each content that it names, and nothing else.
func TestWhatEventsKeep(t *testing.T) {
	d := func(n byte) store.Digest { return store.Digest{n} }
	for i, c := range []struct {
		body         session.Body
		trees, blobs []store.Digest
	}{
		{&session.FilesCaptured{Tree: d(1)}, []store.Digest{d(1)}, nil},
		{&session.FilesCaptured{Refused: "no"}, nil, nil},
		{&session.RestoreRequested{Target: d(1), Merge: d(2)}, []store.Digest{d(1), d(2)}, nil},
		{&session.RestoreRequested{Target: d(1)}, []store.Digest{d(1)}, nil},
		{&session.RestoreStarted{Before: d(1), Base: d(2), Target: d(3)}, []store.Digest{d(1), d(2), d(3)}, nil},
		{&session.FilesRestored{Tree: d(1)}, []store.Digest{d(1)}, nil},
		{&session.ArtifactAdded{Artifact: session.Artifact{Digest: d(1)}}, nil, []store.Digest{d(1)}},
		{&session.PlanSet{}, nil, nil},
	} {
		if trees, blobs := session.Keeps(c.body); !slices.Equal(trees, c.trees) || !slices.Equal(blobs, c.blobs) {
			t.Errorf("%d: %v, %v", i, trees, blobs)
		}
	}
	if !session.Knows(session.KindFilesCaptured) || session.Knows("files.invented") {
		t.Error("a kind is known that is none, or one is not")
	}
}

// A message says nothing if it has white space, or what cannot be seen, and no image: APIs refuse it for ever.
func TestBlankMessages(t *testing.T) {
	image := model.Part{Type: model.BlockImage, Data: []byte{1}}
	for i, c := range []struct {
		parts []model.Part
		blank bool
	}{
		{nil, true},
		{[]model.Part{model.TextPart(" \t\r\n\u200b\ufeff\u00a0\x00")}, true},
		{[]model.Part{{Type: model.BlockImage}}, true},
		{[]model.Part{model.TextPart(""), model.TextPart("a")}, false},
		{[]model.Part{model.TextPart(""), image}, false},
		{[]model.Part{model.TextPart("\u200bx\u200b")}, false},
	} {
		if got := session.Blank(c.parts); got != c.blank {
			t.Errorf("%d: %t", i, got)
		}
	}
	var none *session.PlanSet
	if session.CheckNil(&session.PlanSet{}) != nil || !errors.Is(session.CheckNil(&session.PlanSet{}, none), session.ErrUnfit) || !errors.Is(session.CheckNil(nil), session.ErrUnfit) {
		t.Error("no event at all is taken for one")
	}
}
