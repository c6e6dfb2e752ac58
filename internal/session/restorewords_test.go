package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// A restore is taken if none is under way and it names a tree, itself or by a point; of a point's tree there is no other.
func TestWhatCanBeRestored(t *testing.T) {
	one, two, seq, none := store.Digest{1}, store.Digest{2}, int64(7), int64(8)
	for name, c := range map[string]struct {
		under *session.Restore
		asked session.RestoreRequested
		want  string // part of the refusal; "": it is taken
		tree  store.Digest
	}{
		"a tree":                    {nil, session.RestoreRequested{Target: two}, "", two},
		"a point":                   {nil, session.RestoreRequested{Undo: &seq}, "", one},
		"a point and its tree":      {nil, session.RestoreRequested{Undo: &seq, Target: one}, "", one},
		"a point and another tree":  {nil, session.RestoreRequested{Undo: &seq, Target: two}, "is another tree", two},
		"no such point":             {nil, session.RestoreRequested{Undo: &none, Target: one}, "nothing to undo at event 8", one},
		"nothing":                   {nil, session.RestoreRequested{}, "no tree is named", store.Digest{}},
		"a thousand paths":          {nil, session.RestoreRequested{Target: one, Paths: make([]string, 1000)}, "", one},
		"more paths than that":      {nil, session.RestoreRequested{Target: one, Paths: make([]string, 1001)}, "at most 1000 paths", one},
		"beside a restore":          {&session.Restore{To: "turn 1"}, session.RestoreRequested{Target: one}, "a restore to turn 1 is not over", one},
		"beside an apply":           {&session.Restore{To: "the changes of session k", Merge: two}, session.RestoreRequested{Target: one}, "applying the changes of session k is not over", one},
		"a point without any point": {nil, session.RestoreRequested{Undo: new(int64)}, "nothing to undo at event 0", store.Digest{}},
	} {
		st := session.New("s")
		st.Workspace.Points = []session.FilePoint{{Seq: 6, Tree: two}, {Seq: seq, Tree: one}}
		st.Workspace.Restore = c.under
		for how, takes := range map[string]func(*session.RestoreRequested) error{"": st.TakesRestore, ", at rest": st.TakesRestoreAtRest} {
			asked := c.asked
			err := takes(&asked)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || asked.Target != c.tree {
				t.Errorf("%s%s: %v, target %v", name, how, err, asked.Target)
			}
		}
	}
}

// A checkpoint's name is taken by one that is asked for as by one that is made; "now" is no name, and both lists have ends.
func TestWhichCheckpointsAreTaken(t *testing.T) {
	many := func(n int) (all []session.Checkpoint) {
		for i := range n {
			all = append(all, session.Checkpoint{Name: fmt.Sprint("c", i)})
		}
		return all
	}
	asked := func(n int) (all []session.CheckpointAsk) {
		for i := range n {
			all = append(all, session.CheckpointAsk{Name: fmt.Sprint("a", i)})
		}
		return all
	}
	for what, c := range map[string]struct {
		w    session.Workspace
		name string
		good bool
	}{
		"the first":                  {session.Workspace{}, "good", true},
		"now":                        {session.Workspace{}, "now", false},
		"no name":                    {session.Workspace{}, "-x", false},
		"made":                       {session.Workspace{Checkpoints: many(2)}, "c1", false},
		"asked for":                  {session.Workspace{Asked: asked(2)}, "a1", false},
		"the last one":               {session.Workspace{Checkpoints: many(253), Asked: asked(2)}, "good", true},
		"one more":                   {session.Workspace{Checkpoints: many(254), Asked: asked(2)}, "good", false},
		"the last that can wait":     {session.Workspace{Asked: asked(63)}, "good", true},
		"one more than that":         {session.Workspace{Asked: asked(64)}, "good", false},
		"a name of sixty-four bytes": {session.Workspace{}, strings.Repeat("a", 64), true},
		"one byte more":              {session.Workspace{}, strings.Repeat("a", 65), false},
	} {
		if err := c.w.TakesCheckpoint(c.name); (err == nil) != c.good {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What a workspace is asked about itself: whether files may have been touched, and which point or checkpoint there is.
func TestWhatAWorkspaceKnows(t *testing.T) {
	w := session.Workspace{Points: []session.FilePoint{{Seq: 1, Turn: 1}, {Seq: 2, Turn: 2}}, Checkpoints: []session.Checkpoint{{Name: "a", Seq: 1}, {Name: "b", Seq: 2}}}
	if w.Restoring() || w.Marked(1) || !w.Marked(2) || (&session.Workspace{}).Marked(0) {
		t.Error("it is restoring, or marked before another turn")
	}
	if w.Restore = (&session.Restore{}); w.Restoring() {
		t.Error("a restore that was only asked for touches files")
	}
	if w.Restore.Started = 3; !w.Restoring() {
		t.Error("a restore that was started touches none")
	}
	p, known := w.Point(2)
	c, named := w.Checkpoint("b")
	_, other := w.Point(3)
	_, unnamed := w.Checkpoint("c")
	if !known || p.Turn != 2 || !named || c.Seq != 2 || other || unnamed {
		t.Errorf("%+v %t %t, %+v %t %t", p, known, other, c, named, unnamed)
	}
}

// Counts of a restore in words, and lists of an outcome within their bounds.
func TestCountsOfARestoreInWords(t *testing.T) {
	for n, want := range []string{"1 added, 2 modified, 3 deleted", "1 added, 2 modified, 3 deleted, 1 conflict", "1 added, 2 modified, 3 deleted, 2 conflicts"} {
		c := session.RestoreCounts{Added: 1, Modified: 2, Deleted: 3, Conflicts: int64(n)}
		if c.String() != want || c.Changed() != 6 {
			t.Errorf("%q, %d; want %q", c.String(), c.Changed(), want)
		}
	}
	b := session.FilesRestored{Kept: slices.Repeat([]string{"x"}, 65), Error: strings.Repeat("x", 401)}
	if b.Bound(); len(b.Kept) != 64 || len(b.Error) != 400 {
		t.Errorf("%d kept, %d bytes", len(b.Kept), len(b.Error))
	}
	if b.Bound(); len(b.Kept) != 64 || len(b.Error) != 400 {
		t.Errorf("within its bounds: %d kept, %d bytes", len(b.Kept), len(b.Error))
	}
}

// An artifact has a name and bytes; what is without one of them is a fault of the log, and is not kept.
func TestAnArtifactHasANameAndBytes(t *testing.T) {
	for what, c := range map[string]struct {
		a    session.Artifact
		good bool
	}{
		"both":     {session.Artifact{Name: "a", Digest: store.Digest{1}}, true},
		"no name":  {session.Artifact{Digest: store.Digest{1}}, false},
		"no bytes": {session.Artifact{Name: "a"}, false},
	} {
		w := newWorld("s")
		w.append(human, &session.Opened{ID: "s", Cwd: "/w"}, &session.ArtifactAdded{Artifact: c.a})
		if got := w.st.Workspace.Artifacts; (len(got) == 1) != c.good || (len(w.st.Faults) == 0) != c.good {
			t.Errorf("%s: %+v, faults %q", what, got, w.st.Faults)
		}
	}
}
