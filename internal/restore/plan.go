package restore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
	Fold   func(root string) Folding
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

// rememberedTrees bounds the tree objects that a plan keeps in memory, in bytes: it comes to the same directories several
// times.
const rememberedTrees = 8 << 20

// Make plans. It writes nothing. Errors are those of the trees, ErrPath, and the context's.
func Make(ctx context.Context, in Input) (*Plan, error) {
	for _, p := range in.Paths {
		if why := offLimits(p); why != "" && p != "" {
			return nil, fmt.Errorf("%.200q: %s: %w", p, why, ErrPath)
		}
	}
	in.Trees = tree.Remember(in.Trees, rememberedTrees)
	b := planner{in: &in, ops: map[string]*op{}}
	var steps []tree.Step
	others := 0
	err := tree.Merge(in.Trees, in.Base, in.Now, in.Target, func(s tree.Step) error {
		switch {
		case in.selects(s.Path) && (s.Verb == tree.Take || s.Verb == tree.Conflict || in.Force && emptied(&s) || in.since(&s)):
			steps = append(steps, s)
		default:
			if in.selects(s.Path) && s.Verb == tree.Keep && s.Theirs != nil && s.Theirs.Kind != tree.Dir {
				others++
			}
			if s.Mine != nil {
				b.stays = append(b.stays, s.Path)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("plan a restore: %w", err)
	}
	for i := range steps {
		b.step(&steps[i])
	}
	if err := b.parents(); err != nil {
		return nil, fmt.Errorf("plan a restore: %w", err)
	}
	b.hold()
	if err := b.collisions(ctx); err != nil {
		return nil, fmt.Errorf("plan a restore: %w", err)
	}
	if err := b.closed(); err != nil {
		return nil, fmt.Errorf("plan a restore: %w", err)
	}
	p := b.plan()
	p.Others = others
	return p, nil
}

// selects reports whether a path is asked for.
func (in *Input) selects(p string) bool {
	return len(in.Paths) == 0 || slices.ContainsFunc(in.Paths, func(want string) bool { return within(p, want) })
}

// within reports whether a path is another one or lies below it.
func within(p, dir string) bool {
	return dir == "" || p == dir || len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// emptied is a directory that the target has no more, and that may be empty once conflicts in it are forced.
func emptied(s *tree.Step) bool {
	return s.Verb == tree.Keep && s.Theirs == nil && s.Base != nil && s.Mine != nil && s.Mine.Kind == tree.Dir
}

// since reports a path that was changed since the session knew it last, and only since, and that is to be looked at all the
// same: by force what was changed or deleted comes back, and where it is not sure who did it, nothing is passed over.
func (in *Input) since(s *tree.Step) bool {
	if s.Verb != tree.Keep || isDir(s.Mine) && s.Theirs == nil {
		return false
	}
	return in.Unsure || in.Force && s.Theirs != nil && (s.Mine == nil || s.Mine.Kind != tree.Dir || s.Theirs.Kind == tree.Dir)
}

// offLimits says why nothing is done at a path, or nothing.
func offLimits(p string) string {
	for name := range strings.SplitSeq(p, "/") {
		switch {
		case !tree.ValidName(name):
			return "it is no path of its own"
		case isGit(name):
			return "it is git's own"
		case strings.HasPrefix(name, stagingPrefix):
			return "it is a restore's own"
		}
	}
	return ""
}

// isGit reports a name that some file system takes for ".git".
func isGit(name string) bool {
	name = strings.TrimRight(strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1 // some file systems ignore these
		}
		return r
	}, name)), " .")
	return name == ".git" || name == "git~1"
}

// conflictName is the name of the wanted version beside a file that stays; n counts from 1.
func conflictName(p string, n int) string {
	up, name := split(p)
	end := ".perdure-conflict"
	if n > 1 {
		end += fmt.Sprintf("-%d", n)
	}
	if most := 255 - len(end); len(name) > most { // the names of most systems end there
		sum := store.Sum([]byte(name)).String()[:8]
		name = strings.ToValidUTF8(name[:most-9], "") + "~" + sum
	}
	return path.Join(up, name+end)
}
