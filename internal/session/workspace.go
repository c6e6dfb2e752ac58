package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// Bounds of what a state keeps of files.
const (
	maxPoints       = 64   // the newest ones
	maxCheckpoints  = 256  // one more is refused
	maxAskedFor     = 64   // checkpoints that are asked for and not made; one more is refused
	maxArtifacts    = 1024 // the newest ones
	maxRestorePaths = 1000
)

// Workspace is what a session knows of the files that it works on. A tree is a captured set of files by the digest of
// its root.
type Workspace struct {
	Dir  string       `json:"dir,omitempty"`  // the directory that was captured last
	Tree store.Digest `json:"tree,omitzero"`  // the newest one; zero: none is known
	Seq  int64        `json:"seq,omitempty"`  // of the event that brought it
	Time int64        `json:"time,omitempty"` // ms UTC, of that event
	// Refused is why the files of today were not captured, so that Tree is older than it should be; empty: it is not.
	Refused string `json:"refused,omitempty"`
	// Unsure is the seq of the newest event after which the files may not be as in Tree: an act that may change them, or
	// a task, has ended, and nothing was captured since. 0: there is none.
	Unsure int64 `json:"unsure,omitempty"`
	// Turn is the newest turn in which an act began that may change files.
	Turn        int             `json:"turn,omitempty"`
	Points      []FilePoint     `json:"points,omitempty"`      // oldest first
	Checkpoints []Checkpoint    `json:"checkpoints,omitempty"` // oldest first
	Asked       []CheckpointAsk `json:"asked,omitempty"`       // checkpoints to be made, oldest first
	Restore     *Restore        `json:"restore,omitempty"`     // the one that is asked for, or under way
	Artifacts   []Artifact      `json:"artifacts,omitempty"`   // oldest first
}

// FilePoint is a state of the files that one step of undo goes back to: as they were before the first change of a turn,
// or before a restore.
type FilePoint struct {
	Seq  int64        `json:"seq"`            // of the event that it was kept for: the start of the act, or of the restore
	Turn int          `json:"turn,omitempty"` // 0: a restore
	Dir  string       `json:"dir"`
	Tree store.Digest `json:"tree"`
	Time int64        `json:"time"` // ms UTC
}

// Checkpoint is a state of the files that somebody has given a name.
type Checkpoint struct {
	Name string       `json:"name"`
	Seq  int64        `json:"seq"` // of its files.captured
	Dir  string       `json:"dir"`
	Tree store.Digest `json:"tree"`
	Time int64        `json:"time"` // ms UTC
}

// CheckpointAsk is a checkpoint that is to be made.
type CheckpointAsk struct {
	Seq  int64  `json:"seq"` // of the request
	Name string `json:"name"`
}

// Restoring reports whether files are being restored: the first may have been touched, and what became of it is not in
// the log.
func (w *Workspace) Restoring() bool { return w.Restore != nil && w.Restore.Started != 0 }

// Marked reports whether there is a point to go back to before the changes of a turn.
func (w *Workspace) Marked(turn int) bool {
	n := len(w.Points)
	return n > 0 && w.Points[n-1].Turn == turn
}

// Point finds a point by its seq.
func (w *Workspace) Point(seq int64) (FilePoint, bool) {
	i := slices.IndexFunc(w.Points, func(p FilePoint) bool { return p.Seq == seq })
	if i < 0 {
		return FilePoint{}, false
	}
	return w.Points[i], true
}

// Checkpoint finds a checkpoint by its name.
func (w *Workspace) Checkpoint(name string) (Checkpoint, bool) {
	i := slices.IndexFunc(w.Checkpoints, func(c Checkpoint) bool { return c.Name == name })
	if i < 0 {
		return Checkpoint{}, false
	}
	return w.Checkpoints[i], true
}

// TakesCheckpoint says why no checkpoint of that name can be made: its form, a name that is taken, or too many.
func (w *Workspace) TakesCheckpoint(name string) error {
	if err := CheckpointName(name); err != nil {
		return err
	}
	_, taken := w.Checkpoint(name)
	taken = taken || slices.ContainsFunc(w.Asked, func(a CheckpointAsk) bool { return a.Name == name })
	switch {
	case name == "now":
		return errors.New("now is the word for the files as they are")
	case taken:
		return fmt.Errorf("there is a checkpoint %s", name)
	case len(w.Checkpoints)+len(w.Asked) >= maxCheckpoints:
		return fmt.Errorf("a session has at most %d checkpoints", maxCheckpoints)
	case len(w.Asked) >= maxAskedFor:
		return fmt.Errorf("%d checkpoints wait to be made", len(w.Asked))
	}
	return nil
}

// maxCheckpointName bounds a checkpoint's name, in bytes.
const maxCheckpointName = 64

// CheckpointName says why a text is no name of a checkpoint: it has 1 to 64 letters, digits, ".", "_" or "-" of ASCII, not
// only digits, and does not begin with "-" or ".".
func CheckpointName(name string) error {
	const digits = "0123456789"
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-" + digits
	switch {
	case name == "" || len(name) > maxCheckpointName:
		return fmt.Errorf("a checkpoint's name has 1 to %d characters", maxCheckpointName)
	case strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(letters, r) }):
		return fmt.Errorf("a checkpoint's name has letters, digits, '.', '_' and '-', nothing else")
	case strings.Trim(name, digits) == "":
		return fmt.Errorf("a checkpoint's name is not a number: a number is an event")
	case name[0] == '-' || name[0] == '.':
		return fmt.Errorf("a checkpoint's name begins with a letter, a digit or '_'")
	}
	return nil
}

// mayChangeFiles notes that an act began that may change files. The first of a turn makes a point of what the files were
// before it, if that is known.
func (s *State) mayChangeFiles(e store.Event) {
	w := &s.Workspace
	w.Turn = s.Turn.N
	if !w.Marked(s.Turn.N) && w.Dir != "" && !w.Tree.IsZero() && w.Refused == "" {
		s.addPoint(FilePoint{Seq: e.Seq, Turn: s.Turn.N, Dir: w.Dir, Tree: w.Tree, Time: e.Time})
	}
}

// hasChangedFiles notes that a call that was begun has its outcome: it may have changed files.
func (s *State) hasChangedFiles(c *Call, e store.Event) {
	if c.Start != nil && !c.Left && c.Effect.Changes() {
		s.Workspace.Unsure = e.Seq
	}
}

// addPoint keeps a point; the oldest leaves. Lists that were handed out before do not change.
func (s *State) addPoint(p FilePoint) {
	w := &s.Workspace
	if n := len(w.Points) - maxPoints + 1; n > 0 {
		w.Points = w.Points[n:]
		s.Dropped.Points += int64(n)
	}
	w.Points = append(slices.Clip(w.Points), p)
}

// imported drops what was asked for elsewhere. What the files of this machine are is not known: no tree of a bundle is
// taken for it.
func (w *Workspace) imported() {
	w.Dir, w.Asked, w.Restore, w.Unsure = "", nil, nil, 0
}

// renamed has what is known of the files in a directory hold of those in another. Lists that were handed out before do not
// change.
func (w *Workspace) renamed(from, to string) {
	if w.Dir == from {
		w.Dir = to
	}
	w.Points, w.Checkpoints = slices.Clone(w.Points), slices.Clone(w.Checkpoints)
	for i := range w.Points {
		if w.Points[i].Dir == from {
			w.Points[i].Dir = to
		}
	}
	for i := range w.Checkpoints {
		if w.Checkpoints[i].Dir == from {
			w.Checkpoints[i].Dir = to
		}
	}
}

// inherit makes a parent's files, as of a seq, those of a fork: what the parent was asked for is the parent's to do.
// Positions count down from 0.
func (w *Workspace) inherit(parent int64) {
	w.Asked, w.Restore, w.Unsure = nil, nil, 0
	w.Seq -= parent
	w.Points, w.Checkpoints, w.Artifacts = slices.Clone(w.Points), slices.Clone(w.Checkpoints), slices.Clone(w.Artifacts)
	for i := range w.Points {
		w.Points[i].Seq -= parent
	}
	for i := range w.Checkpoints {
		w.Checkpoints[i].Seq -= parent
	}
	for i := range w.Artifacts {
		w.Artifacts[i].Seq -= parent
	}
}
