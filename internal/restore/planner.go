//go:build unix

package restore

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/tree"
)

// planner turns the steps of a merge into ops.
type planner struct {
	in    *Input
	ops   map[string]*op
	kept  []Kept
	stays []string // paths that are not for this restore, and that stay
	err   error    // the first one
}

// step takes one step of the merge in; parents come first.
func (b *planner) step(s *tree.Step) {
	if sameRestored(s.Mine, s.Theirs) {
		return // only set-id bits differ
	}
	switch {
	case isRepository(s.Path, s.Mine, s.Theirs):
	case offLimits(s.Path) != "":
		b.keep(s.Path, OffLimits)
	case s.Mine != nil && (s.Mine.Kind == tree.Other || s.Mine.Flags.Has(tree.Skipped)):
		b.keep(s.Path, NotCaptured)
	case s.Theirs != nil && (s.Theirs.Kind == tree.Other || s.Theirs.Flags.Has(tree.Skipped)):
		b.keep(s.Path, NotStored)
	case s.Verb == tree.Keep && !emptied(s) && !b.forced(s):
		b.keep(s.Path, unknown(s))
	case b.others(s.Path) == Alien && !b.forced(s):
		b.keep(s.Path, changedBy(s))
	case b.others(s.Path) == Unclear && !b.forced(s):
		b.keep(s.Path, unknown(s))
	case (s.Verb == tree.Conflict || b.others(s.Path) == Mixed) && !b.forced(s):
		b.conflict(s)
	default:
		b.ops[s.Path] = &op{Path: s.Path, From: s.Mine, To: s.Theirs}
	}
}

func (b *planner) others(p string) Others {
	if b.in.Others == nil {
		return Own
	}
	return b.in.Others(p)
}

// changedBy words what somebody else did.
func changedBy(s *tree.Step) Reason {
	if s.Mine == nil {
		return Gone
	}
	return Edited
}

// unknown words what the session or somebody else did.
func unknown(s *tree.Step) Reason {
	if s.Mine == nil {
		return UnknownGone
	}
	return Unknown
}

// forced reports a conflict that goes the target's way. A directory that would have to go stays, with all that is in it:
// it may hold what no tree has.
func (b *planner) forced(s *tree.Step) bool {
	if !b.in.Force {
		return false
	}
	if s.Why == tree.FileDir && s.Mine != nil && s.Mine.Kind == tree.Dir {
		return false
	}
	return !slices.ContainsFunc(b.kept, func(k Kept) bool { return k.Why == InTheWay && within(s.Path, k.Path) })
}

func (b *planner) conflict(s *tree.Step) {
	if b.join(s) {
		return
	}
	k := Kept{Path: s.Path, Why: Edited}
	switch {
	case s.Mine == nil:
		k.Why = Gone
	case s.Why == tree.FileDir:
		k.Why = InTheWay
	}
	if s.Theirs != nil && s.Theirs.Kind != tree.Dir && b.standing(s.Path) {
		for n := 1; k.Copy == "" && n <= maxCopies; n++ {
			name := conflictName(s.Path, n)
			if b.beside(name, s.Theirs) {
				k.Copy = name
			} else if free, _ := b.free(name); free {
				k.Copy = name
				b.ops[name] = &op{Path: name, To: s.Theirs, Copy: true}
			}
		}
	}
	b.kept = append(b.kept, k)
}

// join brings the two versions of a file together where they differ from the third in different places, if it is known that
// the third is the newest of the session's.
func (b *planner) join(s *tree.Step) bool {
	if b.in.Join == nil || b.in.Unsure || b.err != nil || s.Verb != tree.Conflict || b.others(s.Path) != Own {
		return false
	}
	for _, e := range []*tree.Entry{s.Base, s.Mine, s.Theirs} {
		if e == nil || e.Kind != tree.File || e.Flags.Has(tree.Skipped) || e.Flags.Has(tree.Torn) {
			return false
		}
	}
	var to *tree.Entry
	if to, b.err = b.in.Join(s.Base, s.Mine, s.Theirs); to == nil {
		return false
	}
	b.ops[s.Path] = &op{Path: s.Path, From: s.Mine, To: to, joined: true}
	return true
}

// maxCopies bounds how many wanted versions lie beside one file.
const maxCopies = 1000

// standing reports whether a path's directory is one, or becomes one: a copy can lie there.
func (b *planner) standing(p string) bool {
	up, _ := split(p)
	if up == "" {
		return true
	}
	if e, err := tree.Find(b.in.Trees, b.in.Now, up); err == nil {
		return e.Kind == tree.Dir && !e.Flags.Has(tree.Skipped)
	}
	o, ok := b.ops[up]
	return ok && o.To != nil && o.To.Kind == tree.Dir || !ok && b.standing(up)
}

// beside reports whether a version lies at a path already, as an earlier restore puts it there, and stays: what the session
// itself knows there may go.
func (b *planner) beside(p string, want *tree.Entry) bool {
	there, err := tree.Find(b.in.Trees, b.in.Now, p)
	if err != nil || !sameRestored(&there, want) {
		return false
	}
	_, err = tree.Find(b.in.Trees, b.in.Base, p)
	return errors.Is(err, fs.ErrNotExist)
}

// free reports whether none of the trees has a path.
func (b *planner) free(p string) (bool, error) {
	if _, taken := b.ops[p]; taken {
		return false, nil
	}
	if _, err := tree.Find(b.in.Trees, b.in.Now, p); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	_, err := tree.Find(b.in.Trees, b.in.Target, p)
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, nil
}

func (b *planner) keep(p string, why Reason) { b.kept = append(b.kept, Kept{Path: p, Why: why}) }

// parents adds the directories that selected paths and copies need and that are not there.
func (b *planner) parents() error {
	for _, o := range b.list() {
		if o.To == nil {
			continue
		}
		for up, _ := split(o.Path); up != ""; up, _ = split(up) {
			if _, planned := b.ops[up]; planned {
				break
			}
			now, err := tree.Find(b.in.Trees, b.in.Now, up)
			if err == nil && now.Kind == tree.Dir {
				break
			}
			if err == nil { // something else stands where the directory was; it is not selected
				delete(b.ops, o.Path)
				b.keep(o.Path, InTheWay)
				break
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			want, err := tree.Find(b.in.Trees, b.in.Target, up)
			if errors.Is(err, fs.ErrNotExist) || err == nil && want.Kind != tree.Dir {
				want, err = tree.Entry{Name: "d", Kind: tree.Dir, Mode: 0o755}, nil
			}
			if err != nil {
				return err
			}
			b.ops[up] = &op{Path: up, To: &want}
		}
	}
	return nil
}

// hold lets directories stand in which something stays.
func (b *planner) hold() {
	stays := b.stays
	for _, k := range b.kept {
		if k.Why != Gone && k.Why != UnknownGone && k.Why != NotStored {
			stays = append(stays, k.Path)
		}
	}
	for _, p := range stays {
		for up, _ := split(p); up != ""; up, _ = split(up) {
			o, ok := b.ops[up]
			if !ok || o.From == nil || o.From.Kind != tree.Dir || o.To != nil && o.To.Kind == tree.Dir {
				continue
			}
			delete(b.ops, up)
			if o.To == nil {
				continue
			}
			b.keep(up, InTheWay)
			for p := range b.ops {
				if within(p, up) {
					delete(b.ops, p)
				}
			}
		}
	}
}

// closed adds the directories in which something changes though their modes do not let their own user do that.
func (b *planner) closed() error {
	for _, o := range b.list() {
		up, _ := split(o.Path)
		for ; up != ""; up, _ = split(up) {
			if other, ok := b.ops[up]; ok {
				other.Open = other.Open || narrow(other.From) || narrow(other.To)
				continue
			}
			now, err := tree.Find(b.in.Trees, b.in.Now, up)
			if err != nil || now.Kind != tree.Dir {
				continue
			}
			if narrow(&now) {
				b.ops[up] = &op{Path: up, From: &now, To: &now, Open: true}
			}
		}
	}
	return nil
}

// narrow reports a directory in which its own user cannot work.
func narrow(e *tree.Entry) bool { return isDir(e) && e.Mode&0o700 != 0o700 }

// list gives the ops by path, each directory before what is in it.
func (b *planner) list() []*op {
	all := make([]*op, 0, len(b.ops))
	for _, o := range b.ops {
		all = append(all, o)
	}
	slices.SortFunc(all, func(x, y *op) int { return strings.Compare(x.Path, y.Path) })
	return all
}

func (b *planner) plan() *Plan {
	p := &Plan{Base: b.in.Base, Now: b.in.Now, Target: b.in.Target, Kept: b.kept}
	for _, o := range b.list() {
		p.ops = append(p.ops, *o)
		if o.stages() {
			p.Need += o.To.Size + perFile
		}
		if !o.Copy && !sameRestored(o.From, o.To) {
			p.Changes = append(p.Changes, Change{Path: o.Path, Before: o.From, After: o.To, Joined: o.joined})
		}
	}
	slices.SortFunc(p.Kept, func(x, y Kept) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), strings.Compare(string(x.Why), string(y.Why)))
	})
	return p
}

// perFile is what a new file costs a disk besides its content.
const perFile = 4096

// plain is an entry as it can be on disk after a restore: without set-id bits.
func plain(e *tree.Entry) *tree.Entry {
	if e == nil || e.Kind == tree.Link {
		return e
	}
	c := *e
	if c.Kind == tree.Dir {
		c.Mode &= dirBits
	} else {
		c.Mode &= fileBits
	}
	return &c
}

// sameRestored compares what a restore would give.
func sameRestored(a, b *tree.Entry) bool { return tree.Same(plain(a), plain(b)) }

func isDir(e *tree.Entry) bool { return e != nil && e.Kind == tree.Dir }

// leaves reports an op that takes away what stands there before anything comes in its place.
func (o *op) leaves() bool { return o.From != nil && (o.To == nil || isDir(o.From) != isDir(o.To)) }

// makes reports an op that makes a directory.
func (o *op) makes() bool { return isDir(o.To) && !isDir(o.From) }

// stages reports an op whose content is written first.
func (o *op) stages() bool {
	return o.To != nil && !isDir(o.To) && !o.onlyMode()
}

// parts is how many parts of the work an op is, as [work.tell] counts them.
func (o *op) parts() (n int) {
	for _, does := range []bool{o.leaves(), o.makes(), o.stages(), o.To != nil && !isDir(o.To), isDir(o.To)} {
		if does {
			n++
		}
	}
	return n
}

// onlyMode reports a file whose content stays.
func (o *op) onlyMode() bool {
	return o.From != nil && o.To != nil && o.From.Kind == tree.File && o.To.Kind == tree.File && o.From.Digest == o.To.Digest
}

// back is the op that undoes this one.
func (o op) back() op {
	o.From, o.To = o.To, o.From
	return o
}
