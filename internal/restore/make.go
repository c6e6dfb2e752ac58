//go:build unix

package restore

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

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
		if err := ctx.Err(); err != nil { // bringing a text together takes a while
			return nil, fmt.Errorf("plan a restore: %w", err)
		}
		b.step(&steps[i])
	}
	if b.err != nil {
		return nil, fmt.Errorf("plan a restore: %w", b.err)
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

// isRepository reports that what differs at a path is only that a repository begins there: its .git, a directory or, in a
// worktree, a file, which no capture looks into. A restore leaves nothing undone there. One below the top that is on one
// side alone is no such case: it keeps its directory from going, or does not come back with it.
func isRepository(p string, mine, theirs *tree.Entry) bool {
	skipped := func(e *tree.Entry) bool { return e == nil || e.Flags.Has(tree.Skipped) }
	switch dir, name := path.Split(p); {
	case !isGit(name) || !skipped(mine) || !skipped(theirs):
		return false
	case dir == "":
		return true
	default:
		return mine != nil && theirs != nil && offLimits(strings.TrimSuffix(dir, "/")) == ""
	}
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
