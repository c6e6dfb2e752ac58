package homes

import (
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// How long captures are kept that nobody named and that no step of undo goes back to.
const (
	keepActs  = time.Hour      // after each act
	keepTurns = 24 * time.Hour // before and after each turn, and around restores
)

// Thinned is why an old tree is not there, in words.
const Thinned = "captures that nobody named are thinned: those after each call are kept for an hour, those around each turn for a day, and the newest, the checkpoints and those that undo goes back to as long as the session"

// outlives reports whether what an event names is kept as long as its log, and if not, for how long.
func outlives(body session.Body) (always bool, age time.Duration) {
	switch b := body.(type) {
	case *session.ArtifactAdded:
		return true, 0
	case *session.FilesCaptured:
		switch b.Why {
		case session.CaptureNamed, session.CaptureFork, session.CapturePause:
			return true, 0
		case session.CaptureAct:
			return false, keepActs
		}
		return b.Name != "", keepTurns
	case *session.RestoreRequested, *session.RestoreStarted, *session.FilesRestored:
		return false, keepTurns
	default:
		return true, 0
	}
}

// ofState gives what a session's state needs: what its files are, what undo and its checkpoints go back to, the trees of a
// restore that is not over, and its artifacts. Of its points those are given that stay.
func ofState(w *session.Workspace, points []session.FilePoint) (trees, blobs []store.Digest) {
	trees = append(trees, w.Tree)
	for _, p := range points {
		trees = append(trees, p.Tree)
	}
	for _, c := range w.Checkpoints {
		trees = append(trees, c.Tree)
	}
	if r := w.Restore; r != nil {
		trees = append(trees, r.Target, r.Base, r.Before)
	}
	for _, a := range w.Artifacts {
		blobs = append(blobs, a.Digest)
	}
	return trees, blobs
}

// thinning is what of a session's captures goes before its time, since its room is used up. Its zero value is nothing.
type thinning struct {
	Acts   int64 `json:"acts,omitempty"`   // captures that nobody named, up to the event of this seq
	Points int64 `json:"points,omitempty"` // if Some: points that undo goes back to, up to this one; a fork inherits those below 0
	Some   bool  `json:"some,omitempty"`
}

// points are those of a session's that stay.
func (t thinning) points(all []session.FilePoint) []session.FilePoint {
	for t.Some && len(all) > 0 && all[0].Seq <= t.Points {
		all = all[1:]
	}
	return all
}

// How many of the newest points are left to undo as a session's room gets less: the less, the later.
var pointsLeft = [...]int{64, 16, 4, 1}

// harder are the ways to thin a session, from what holds of it now on, each taking more than the one before.
func (t thinning) harder(st *session.State) []thinning {
	out := []thinning{t}
	all := st.Workspace.Points
	for _, n := range pointsLeft {
		next := thinning{Acts: st.Head.Seq, Points: t.Points, Some: t.Some}
		if len(all) > n && (!t.Some || all[len(all)-n-1].Seq > t.Points) {
			next.Points, next.Some = all[len(all)-n-1].Seq, true
		}
		if next != out[len(out)-1] {
			out = append(out, next)
		}
	}
	return out
}
