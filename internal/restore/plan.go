package restore

import (
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Input is what a plan is made from. Trees are zero where they are empty.
type Input struct {
	Root   string // the directory, absolute; it is only looked at to find out whether it tells upper from lower case
	Trees  tree.Reader
	Base   store.Digest // what the session knew last
	Now    store.Digest // what is in the directory, captured just before
	Target store.Digest // what is wanted
	Paths  []string     // only these and what is below them; none: everything
	Force  bool         // conflicts take the target's side; what cannot be brought back stays all the same
	Unsure bool         // the session may have changed, since Base, what somebody else may have changed: each such path is named
	// Others says who changed a path since Target was captured, though Base has that change. Nil: nobody else did.
	Others func(path string) Others
	// Join brings two versions of a file together that were made from a third, where all three are known and kept: the
	// result's content must be in the store when the plan begins. Nil, or a nil entry: it is a conflict.
	Join func(base, mine, theirs *tree.Entry) (*tree.Entry, error)
	Fold func(root string) Folding
}

// Others says who changed a path.
type Others uint8

// Who changed a path since the target was captured.
const (
	Own   Others = 0 // the session alone, as far as is known
	Mixed Others = 1 // the session and somebody else: a conflict
	Alien Others = 2 // somebody else alone: it is not the session's to restore, and stays
	// Unclear is the session or somebody else: nothing was captured in between. It stays, and is named.
	Unclear Others = 3
)

// Plan is what a restore would do, and what it would not and why. It is made from trees alone: whether the directory is
// still what Now says is looked at by each step.
type Plan struct {
	Base, Now, Target store.Digest
	Changes           []Change // by path
	Kept              []Kept   // by path; what stays though the target has it otherwise
	Others            int      // files and links that only somebody else changed or deleted since: they stay, and force restores them
	Need              int64    // bytes that are written before anything is replaced

	ops []op
}

// Change is one path that becomes another.
type Change struct {
	Path          string
	Before, After *tree.Entry // nil: not there
	Joined        bool        // After has what somebody else changed, and what is restored
}

// Verb says what happens to a path.
type Verb string

// The verbs of changes.
const (
	Added    Verb = "added"
	Modified Verb = "modified"
	Deleted  Verb = "deleted"
)

// Verb is added, modified or deleted.
func (c Change) Verb() Verb {
	switch {
	case c.Before == nil:
		return Added
	case c.After == nil:
		return Deleted
	}
	return Modified
}

// Kept is a path that stays as it is.
type Kept struct {
	Path string
	Why  Reason
	With string // the path that it collides with
	Copy string // where the wanted version is written, if it is
	Late bool   // it was found only while the restore was running
}

// Reason says why a path stays.
type Reason string

// The reasons for which a path stays as it is.
const (
	Edited      Reason = "it was changed since by somebody else"
	Gone        Reason = "it was deleted since by somebody else"
	InTheWay    Reason = "it is a directory on one side and not on the other, and something in it stays"
	NotEmpty    Reason = "something is in it that no tree of the session has"
	NotCaptured Reason = "its content was not captured, so that it could not be brought back"
	NotStored   Reason = "the content that is wanted was not captured"
	Unknown     Reason = "it was changed since the files were captured last, by whom is not known"
	UnknownGone Reason = "it was deleted since the files were captured last, by whom is not known"
	Collides    Reason = "this file system takes the two names for one"
	Forbidden   Reason = "the system does not let it be changed"
	OffLimits   Reason = "a restore does nothing there"
)

// Nothing reports whether there is nothing to do.
func (p *Plan) Nothing() bool { return len(p.ops) == 0 }

// Counts says how many paths are added, modified, deleted and kept. Directories count like files.
func (p *Plan) Counts() (added, modified, deleted, kept int) {
	for _, c := range p.Changes {
		switch c.Verb() {
		case Added:
			added++
		case Modified:
			modified++
		case Deleted:
			deleted++
		}
	}
	return added, modified, deleted, len(p.Kept)
}

// String is a line for people.
func (p *Plan) String() string {
	added, modified, deleted, kept := p.Counts()
	switch {
	case added+modified+deleted+kept > 0:
	case p.Others == 1:
		return "nothing of the session's own to restore; 1 file that somebody else changed since stays as it is"
	case p.Others > 1:
		return fmt.Sprintf("nothing of the session's own to restore; %d files that somebody else changed since stay as they are", p.Others)
	default:
		return "nothing to restore: all is as it was"
	}
	return fmt.Sprintf("%d added, %d modified, %d deleted, %d kept as they are", added, modified, deleted, kept)
}

// ErrPath is wrapped by errors about selected paths that are none of a tree.
var ErrPath = errors.New("not a path in a workspace")

// op is one path to be changed: exactly From stands there, exactly To is wanted. Nil is nothing.
type op struct {
	Path     string
	From, To *tree.Entry
	Copy     bool // a wanted version beside a path that stays
	joined   bool // To is of both sides, and its content in no tree
	Open     bool // a directory that needs more rights while something in it changes; From and To are its modes
}
