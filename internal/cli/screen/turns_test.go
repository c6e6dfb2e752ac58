package screen

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: before a turn whose files could not be kept there is no way back, nor from a quiet turn before it: what was kept later
// already has that turn's changes in it. Elsewhere a missing snapshot is taken for an empty one, silently.
func TestNoWayBackBeforeWhatWasNotKept(t *testing.T) {
	st := &session.State{}
	tree := store.Sum([]byte("tree"))
	st.Workspace.Points = []session.FilePoint{{Seq: 12, Turn: 1, Tree: tree}, {Seq: 45, Turn: 4, Tree: tree}}
	turns := []turnBack{{at: 50, prompt: "quiet, last"}, {at: 40, prompt: "kept"}, {at: 30, prompt: "not kept", refused: "too large"}, {at: 20, prompt: "quiet"}, {at: 10, prompt: "kept"}}
	files(nil, st, turns)
	for i, want := range []string{noneSince, "", notKept, notKept, ""} {
		if turns[i].Turn.Why != want || want == "" && turns[i].to.Tree != tree {
			t.Errorf("%s: %q, want %q", turns[i].prompt, turns[i].Turn.Why, want)
		}
	}
	if turns[1].to.Seq != 45 || turns[4].to.Seq != 12 || turns[2].Turn.Changed != -1 {
		t.Errorf("%+v", turns)
	}
}
