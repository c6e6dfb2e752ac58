package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// Restore is a restore of files that is asked for, or under way. It is known by the seq of its request.
type Restore struct {
	Request int64        `json:"request"`
	Target  store.Digest `json:"target"`
	To      string       `json:"to"`
	Paths   []string     `json:"paths,omitempty"`
	Force   bool         `json:"force,omitempty"`
	Undo    *int64       `json:"undo,omitempty"`
	// Merge is the tree that Target's changes are against, of the session that they come from: what differs from it on both
	// sides is a conflict. Zero: Target is of this session, and what is to be undone is what this session has changed.
	Merge store.Digest `json:"merge,omitzero"`
	By    store.Actor  `json:"by"`
	// Started is the seq of files.restore_started; 0: no file has been touched.
	Started int64        `json:"started,omitempty"`
	Time    int64        `json:"time,omitempty"` // ms UTC, of that event
	Dir     string       `json:"dir,omitempty"`
	Base    store.Digest `json:"base,omitzero"`
	Before  store.Digest `json:"before,omitzero"`
}

// Words name what is being done.
func (r *Restore) Words() string {
	if !r.Merge.IsZero() {
		return "applying " + r.To
	}
	return "a restore to " + r.To
}

// RestoreRequested asks for the files to be as in a tree again. A person asks for that, or
// has set the session to ask for it after an act of which nobody can tell what it did.
type RestoreRequested struct {
	headOnly
	Key    string       `json:"key,omitempty"` // idempotency key of the inbox
	Target store.Digest `json:"target,omitzero"`
	To     string       `json:"to"`              // Target in words: "checkpoint NAME", "before turn 3", with Merge "the changes of session ID"
	Paths  []string     `json:"paths,omitempty"` // below the directory, '/' between names; none: all
	Force  bool         `json:"force,omitempty"` // also what somebody else has changed since
	Merge  store.Digest `json:"merge,omitzero"`  // what another session began with, whose changes up to Target are applied here
	// Undo is the seq of the [FilePoint] that it goes back to: that one and those after it are then over.
	Undo *int64 `json:"undo,omitempty"`
}

func (b *RestoreRequested) summary() string {
	text := "to " + b.To
	if !b.Merge.IsZero() {
		text = "apply " + b.To
	}
	if len(b.Paths) > 0 {
		text += ", only " + things(len(b.Paths), "path")
	}
	return text
}

func (b *RestoreRequested) apply(s *State, e store.Event) {
	w := &s.Workspace
	switch {
	case w.Restore != nil:
		s.fault(e, "the restore of event %d is not over", w.Restore.Request)
		return
	case b.Target.IsZero():
		s.fault(e, "a restore to nothing")
		return
	case len(b.Paths) > maxRestorePaths:
		s.fault(e, "a restore of more than %d paths", maxRestorePaths)
		return
	}
	w.Restore = &Restore{
		Request: e.Seq, Target: b.Target, To: b.To, Paths: b.Paths, Force: b.Force, Undo: b.Undo, Merge: b.Merge, By: e.Actor,
	}
}

// TakesRestore says why files cannot be restored now by whoever runs the session, and gives the request its tree if it
// names a point to undo.
func (s *State) TakesRestore(b *RestoreRequested) error {
	if s.Workspace.Restore == nil && s.Turn != nil && len(s.turnActions()) > 0 {
		return fmt.Errorf("turn %d is running: wait for its end, or pause the session and ask again when it rests", s.Turn.N)
	}
	return s.TakesRestoreAtRest(b)
}

// TakesRestoreAtRest is TakesRestore for a holder that lets no turn go on. An open turn stays open: the restore is done
// before it goes on, and the model is told.
func (s *State) TakesRestoreAtRest(b *RestoreRequested) error {
	w := &s.Workspace
	switch {
	case w.Restore != nil:
		return fmt.Errorf("%s is not over", w.Restore.Words())
	case len(b.Paths) > maxRestorePaths:
		return fmt.Errorf("at most %d paths are restored at once", maxRestorePaths)
	}
	if b.Undo != nil {
		p, known := w.Point(*b.Undo)
		if !known {
			return fmt.Errorf("there is nothing to undo at event %d", *b.Undo)
		}
		if b.Target.IsZero() {
			b.Target = p.Tree
		}
		if b.Target != p.Tree {
			return fmt.Errorf("what is to be undone at event %d is another tree", *b.Undo)
		}
	}
	if b.Target.IsZero() {
		return fmt.Errorf("there is nothing to restore: no tree is named")
	}
	return nil
}

// RestoreCounts are how many paths a restore touches.
type RestoreCounts struct {
	Added     int64 `json:"added"`
	Modified  int64 `json:"modified"`
	Deleted   int64 `json:"deleted"`
	Conflicts int64 `json:"conflicts"` // somebody else has changed them: kept as they are
}

// Changed is how many paths are not what they were.
func (c RestoreCounts) Changed() int64 { return c.Added + c.Modified + c.Deleted }

func (c RestoreCounts) String() string {
	text := fmt.Sprintf("%d added, %d modified, %d deleted", c.Added, c.Modified, c.Deleted)
	if c.Conflicts == 0 {
		return text
	}
	return text + ", " + things(int(c.Conflicts), "conflict")
}

// RestoreStarted is the intent of a restore: its plan is durable, and no file has been touched.
type RestoreStarted struct {
	headOnly
	Request int64        `json:"request"`       // seq of the request, by which it is known
	Before  store.Digest `json:"before"`        // the files, captured just before
	Base    store.Digest `json:"base,omitzero"` // the newest tree that the session knew before that
	Target  store.Digest `json:"target"`
	Dir     string       `json:"dir"`
	RestoreCounts
}

func (b *RestoreStarted) summary() string {
	return fmt.Sprintf("event %d: %s", b.Request, b.RestoreCounts)
}

func (b *RestoreStarted) apply(s *State, e store.Event) {
	r := s.Workspace.Restore
	switch {
	case r == nil || r.Request != b.Request:
		s.fault(e, "no restore was asked for by event %d", b.Request)
		return
	case r.Started != 0:
		s.fault(e, "the restore of event %d is started already", b.Request)
		return
	}
	own := *r // shared with copies
	own.Started, own.Time, own.Dir, own.Base, own.Before = e.Seq, e.Time, b.Dir, b.Base, b.Before
	s.Workspace.Restore = &own
}

// RestoreOutcome says what became of a restore.
type RestoreOutcome string

// The outcomes of a restore.
const (
	RestoreDone   RestoreOutcome = "done"
	RestoreUndone RestoreOutcome = "undone" // it could not be finished, and the files are again what they were before it
	RestoreFailed RestoreOutcome = "failed" // it was not begun, or, if it was started, is half done
)

// FilesRestored is the outcome of a restore, and the words that the model is told it by.
type FilesRestored struct {
	Request int64          `json:"request"`
	Outcome RestoreOutcome `json:"outcome"`
	Tree    store.Digest   `json:"tree,omitzero"` // the files as they are now; zero: that is not known, or nothing was begun
	Error   string         `json:"error,omitempty"`
	RestoreCounts
	Kept    []string     `json:"kept,omitempty"`    // conflicts, at most 64
	Changed []FileChange `json:"changed,omitempty"` // known files that are not as the session knows them
	Text    []byte       `json:"-"`                 // what the model is told; UTF-8; empty: nothing
}

func (b *FilesRestored) summary() string {
	return strings.TrimSpace(fmt.Sprintf("event %d: %s: %s %s", b.Request, b.Outcome, b.RestoreCounts, b.Error))
}

func (b *FilesRestored) show(m map[string]any) {
	if len(b.Text) > 0 {
		viewText(m, "text", b.Text)
	}
}

func (b *FilesRestored) parts() []*[]byte { return []*[]byte{&b.Text} }

// Bound cuts the list of conflicts to 64.
func (b *FilesRestored) Bound() {
	b.Kept = slices.Clip(b.Kept[:min(len(b.Kept), maxKept)])
	b.Error = CutEnd(b.Error, maxWhyNot)
}

const maxKept = 64

func (b *FilesRestored) apply(s *State, e store.Event) {
	w := &s.Workspace
	r := w.Restore
	if r == nil || r.Request != b.Request {
		s.fault(e, "no restore was asked for by event %d", b.Request)
		return
	}
	w.Restore = nil
	for _, c := range b.Changed {
		s.told(c)
	}
	s.Context.Fresh += int64(len(b.Text))
	if r.Started == 0 {
		return
	}
	switch {
	case b.Outcome == RestoreUndone:
	case b.Outcome == RestoreDone && r.Undo != nil:
		if i := slices.IndexFunc(w.Points, func(p FilePoint) bool { return p.Seq >= *r.Undo }); i >= 0 {
			w.Points = slices.Clip(w.Points[:i])
		}
	default:
		s.addPoint(FilePoint{Seq: r.Started, Dir: r.Dir, Tree: r.Before, Time: r.Time})
	}
	w.Dir, w.Seq, w.Time = r.Dir, e.Seq, e.Time
	switch {
	case !b.Tree.IsZero():
		w.Tree, w.Refused, w.Unsure = b.Tree, "", 0
	case b.Outcome == RestoreUndone:
		w.Tree, w.Refused = r.Before, ""
	default:
		w.Tree, w.Refused = r.Before, "the files were not captured after a restore that failed"
	}
}
