package tree

import "github.com/perdure/perdure/store"

// Verb is what a merge says of a path.
type Verb uint8

// The verbs of a merge.
const (
	Take     Verb = 1 // theirs changed it, mine did not: it becomes theirs
	Keep     Verb = 2 // mine stays: mine changed it and theirs did not, or it is a directory in which something of mine stays
	Agree    Verb = 3 // both changed it alike
	Conflict Verb = 4 // both changed it, and differently; mine stays until somebody decides
)

// Why says what kind of a conflict it is.
type Why uint8

// The kinds of conflicts.
const (
	BothChanged    Why = 1 // or both made it
	ChangedDeleted Why = 2 // mine changed it, theirs has it no more
	DeletedChanged Why = 3 // mine has it no more, theirs changed it
	FileDir        Why = 4 // it is a directory here and something else there, or lies below such a path
)

// Step is what a merge says of one path that is not the same in all three trees. Nil is no entry.
type Step struct {
	Path               string
	Verb               Verb
	Why                Why // of a conflict; else 0
	Base, Mine, Theirs *Entry
}

// Result is the entry that the path has after the merge, nil if none.
func (s *Step) Result() *Entry {
	if s.Verb == Take {
		return s.Theirs
	}
	return s.Mine
}

// Merge visits what two trees that come from one base have each made of it, path by path, each directory before what is
// in it. Nothing is guessed within files, and a file that moved is one that went and one that came. What comes out is a
// tree again: a directory in which something of mine stays is kept though theirs has it no more, one that something of
// theirs needs is taken again though mine has it no more, and below a path that cannot become a directory, or cannot
// cease to be one, all stays as mine has it.
//
// With mine as base it is a comparison, and every change is Take. Bounds are those of [Walk]; memory is in proportion to
// what differs. It ends at the first error of visit.
func Merge(r Reader, base, mine, theirs store.Digest, visit func(Step) error) error {
	return MergeMax(r, base, mine, theirs, MaxWalk, visit)
}

// MergeMax is [Merge] with a bound of the caller's on the number of entries that are looked at.
func MergeMax(r Reader, base, mine, theirs store.Digest, max int, visit func(Step) error) error {
	m := merger{walker: walker{r: r, left: max}}
	if _, err := m.dirs([3]store.Digest{base, mine, theirs}, "", 0); err != nil {
		return err
	}
	for _, s := range m.steps {
		if s.Verb == 0 {
			continue
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

type merger struct {
	walker
	steps []Step // a directory's before those below it; the verb is 0 where there is nothing to say
}

// dirs merges what is in three directories, of which some may be none, and reports whether anything is in the result.
func (m *merger) dirs(d [3]store.Digest, path string, depth int) (bool, error) {
	if d[0] == d[1] && d[1] == d[2] {
		return !d[1].IsZero(), nil
	}
	var lists [3][]Entry
	for i := range d {
		var err error
		if lists[i], err = m.list(d[i], path, depth); err != nil {
			return false, err
		}
	}
	any := false
	err := zip(lists, func(name string, e [3]*Entry) error {
		there, err := m.entry(e, Join(path, name), depth)
		any = any || there
		return err
	})
	return any, err
}

// entry merges one path and what is below it, and reports whether the result has it.
func (m *merger) entry(e [3]*Entry, path string, depth int) (bool, error) {
	at := len(m.steps)
	m.steps = append(m.steps, decide(e, path))
	filled, err := m.dirs([3]store.Digest{e[0].dir(), e[1].dir(), e[2].dir()}, path, depth+1)
	if err != nil {
		return false, err
	}
	s, below := &m.steps[at], m.steps[at+1:]
	if result := s.Result(); filled && (result == nil || result.Kind != Dir) {
		m.hold(s, below)
	}
	if s.Verb == 0 && len(below) == 0 {
		m.steps = m.steps[:at]
		return e[1] != nil, nil
	}
	return s.Result() != nil, nil
}

// hold settles a path that the result would not have as a directory though something is to be in it.
func (m *merger) hold(s *Step, below []Step) {
	switch mine, theirs := s.Mine, s.Theirs; {
	case theirs == nil: // mine is the directory
		s.Verb, s.Why = Keep, 0
	case mine == nil:
		s.Verb, s.Why = Take, 0
	default:
		s.Verb, s.Why = Conflict, FileDir
		for i := range below {
			if below[i].Verb == Take {
				below[i].Verb, below[i].Why = Conflict, FileDir
			}
		}
	}
}

// decide says what becomes of a path by itself.
func decide(e [3]*Entry, path string) Step {
	base, mine, theirs := e[0], e[1], e[2]
	s := Step{Path: path, Base: base, Mine: mine, Theirs: theirs}
	switch {
	case Same(mine, theirs):
		if !Same(base, mine) {
			s.Verb = Agree
		}
	case Same(base, mine):
		s.Verb = Take
	case Same(base, theirs):
		s.Verb = Keep
	default:
		s.Verb, s.Why = Conflict, why(mine, theirs)
	}
	return s
}

func why(mine, theirs *Entry) Why {
	switch {
	case theirs == nil:
		return ChangedDeleted
	case mine == nil:
		return DeletedChanged
	case (mine.Kind == Dir) != (theirs.Kind == Dir):
		return FileDir
	}
	return BothChanged
}
