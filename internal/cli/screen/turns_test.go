package screen

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: before a turn whose files could not be kept there is no way back, nor from a quiet turn before it: what was
// kept later already has that turn's changes in it. Elsewhere a missing snapshot is taken for an empty one, silently.
func TestNoWayBackBeforeWhatWasNotKept(t *testing.T) {
	st := &session.State{}
	tree := store.Sum([]byte("tree"))
	st.Workspace.Points = []session.FilePoint{{Seq: 12, Turn: 1, Tree: tree}, {Seq: 45, Turn: 4, Tree: tree}}
	turns := []turnBack{{at: 50, prompt: "quiet, last"}, {at: 40, prompt: "kept"}, {at: 30, prompt: "not kept", refused: "too large"}, {at: 20, prompt: "quiet"}, {at: 10, prompt: "kept"}}
	files(nil, st, turns, nil)
	for i, want := range []string{noneSince, "", notKept, notKept, ""} {
		if turns[i].Turn.Why != want || want == "" && turns[i].to.Tree != tree {
			t.Errorf("%s: %q, want %q", turns[i].prompt, turns[i].Turn.Why, want)
		}
	}
	if turns[1].to.Seq != 45 || turns[4].to.Seq != 12 || turns[2].Turn.Changed != -1 {
		t.Errorf("%+v", turns)
	}
}

// Goal: a turn that was undone does not say that it changed no file. An undo of a restore, or one that was not done,
// undoes no turn; neither does one that went back to another turn's change.
func TestATurnThatWasUndoneSaysSo(t *testing.T) {
	undo := func(at int64) *session.RestoreRequested {
		seq := at + 1000
		return &session.RestoreRequested{Undo: &seq}
	}
	log := map[int64]session.Body{
		22: undo(12), 23: &session.RestoreStarted{Request: 1022}, 24: &session.FilesRestored{Request: 1022, Outcome: session.RestoreDone},
		42: undo(35), 43: &session.FilesRestored{Request: 1042, Outcome: session.RestoreUndone},
		51: &session.RestoreRequested{}, 52: &session.RestoreStarted{Request: 1051}, 53: &session.FilesRestored{Request: 1051, Outcome: session.RestoreDone},
		54: undo(52), 55: &session.RestoreStarted{Request: 1054}, 56: &session.FilesRestored{Request: 1054, Outcome: session.RestoreDone},
	}
	var u undos
	for seq := int64(100); seq > 0; seq-- {
		u.see(seq+1000, log[seq], 1000)
	}
	turns := []turnBack{{at: 50, prompt: "restored"}, {at: 40, prompt: "quiet"}, {at: 30, prompt: "not undone"}, {at: 20, prompt: "quiet"}, {at: 10, prompt: "undone"}}
	files(nil, &session.State{}, turns, u.points)
	for _, turn := range turns {
		if want := turn.prompt == "undone"; turn.Undone != want || (turn.Turn.Why == wasUndone) != want {
			t.Errorf("%s: undone %t, %q; points %v", turn.prompt, turn.Undone, turn.Turn.Why, u.points)
		}
	}
}

// Goal: of a turn that is over and after whose calls nothing had to be captured it is known that it changed no file; of one
// that is open, or at which a fork began, it is not. What cannot be told and what is known to be nothing are not the same.
func TestATurnAfterWhichNothingWasCapturedChangedNoFile(t *testing.T) {
	tree := store.Sum([]byte("tree"))
	st := &session.State{ID: "s"}
	st.Workspace.Points = []session.FilePoint{{Seq: -8, Turn: 1, Tree: tree}, {Seq: 12, Turn: 2, Tree: tree}, {Seq: 25, Turn: 3, Tree: tree}}
	for _, open := range []bool{false, true} {
		if st.Turn = nil; open {
			st.Turn = &session.Turn{}
		}
		turns := []turnBack{{in: "s", at: 20, prompt: "newest"}, {in: "s", at: 10, prompt: "over"}, {in: "parent", at: -10, prompt: "forked"}}
		files(nil, st, turns, nil)
		for i, known := range []bool{!open, true, false} {
			if got := turns[i].Turn.Changed; got != 0 && known || got != -1 && !known {
				t.Errorf("%s, open %t: %d files changed", turns[i].prompt, open, got)
			}
		}
	}
}
