package workflow

import (
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// Merge brings what a person changed between base and theirs into the plan as it is now: steps that were added, removed,
// moved or written anew, and of the others only the fields that were changed. What a session did meanwhile stays. Without
// a base, all that theirs says counts, and nothing is removed.
func Merge(base, theirs, now []session.Step) []session.Step {
	from, at := session.MatchSteps(base, theirs), matchNow(base, now)
	used := make([]bool, len(now))
	for _, b := range from {
		if b >= 0 && at[b] >= 0 {
			used[at[b]] = true
		}
	}
	same := sameWords(theirs, now, from, at, used)
	for i, b := range from {
		if b >= 0 && at[b] < 0 && same[i] < 0 && theirs[i] == base[b] {
			from[i] = gone // the session took it out, and nobody wants it back
		}
	}
	removed := make([]bool, len(now))
	for b, n := range at {
		if n >= 0 && !used[n] && b >= 0 {
			removed[n] = true
		}
	}
	m := merging{now: now, keep: make([]bool, len(now))}
	for n := range now {
		m.keep[n] = !used[n] && !removed[n]
	}
	m.leading()
	for i, step := range theirs {
		n := same[i]
		switch b := from[i]; {
		case b == gone:
			continue
		case b >= 0 && at[b] >= 0:
			n = at[b]
			step = patched(base[b], step, now[n])
		case n >= 0 && b >= 0:
			step = patched(base[b], step, now[n])
		case n >= 0 && len(base) > 0: // both have added it, or it was accepted before
			step = now[n]
		case n >= 0:
			step = filled(step, now[n])
		}
		m.out = append(m.out, step)
		m.after(n)
	}
	m.rest()
	return m.out
}

// gone marks a step that is left out.
const gone = -2

// matchNow finds for each step of base its successor in the plan as it is now; -1: there is none.
func matchNow(base, now []session.Step) []int {
	out := make([]int, len(base))
	for i := range out {
		out[i] = -1
	}
	for n, b := range session.MatchSteps(base, now) {
		if b >= 0 && akin(base[b].Content, now[n].Content) {
			out[b] = n
		}
	}
	return out
}

// akin reports whether two texts are of one step: the same, or one is the other cut short.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	short, cut := strings.CutSuffix(a, "…")
	return a == b || cut && strings.HasPrefix(b, short)
}

// sameWords finds for steps whose base is not in the plan any more, or who have none, a step of now that says the same,
// and takes it.
func sameWords(theirs, now []session.Step, from, at []int, used []bool) []int {
	out := make([]int, len(theirs))
	for i := range theirs {
		out[i] = -1
		for n := range now {
			lost := from[i] < 0 || at[from[i]] < 0
			if lost && !used[n] && now[n].Content == theirs[i].Content {
				out[i], used[n] = n, true
				break
			}
		}
	}
	return out
}

// merging is a plan under way: what only the session has stays behind the step that it followed.
type merging struct {
	now, out []session.Step
	keep     []bool // steps of now that are still to be placed
}

// leading places what stands before everything else.
func (m *merging) leading() {
	for n := 0; n < len(m.now) && m.keep[n]; n++ {
		m.place(n)
	}
}

// after places what follows the n-th step of now.
func (m *merging) after(n int) {
	for n++; n > 0 && n < len(m.now) && m.keep[n]; n++ {
		m.place(n)
	}
}

func (m *merging) rest() {
	for n := range m.now {
		if m.keep[n] {
			m.place(n)
		}
	}
}

func (m *merging) place(n int) {
	m.out, m.keep[n] = append(m.out, m.now[n]), false
}

// patched is a step with the fields that differ between base and theirs.
func patched(base, theirs, now session.Step) session.Step {
	if theirs.Status != base.Status {
		now.Status = theirs.Status
	}
	for _, f := range []struct {
		base, theirs string
		now          *string
	}{
		{base.Content, theirs.Content, &now.Content},
		{base.ActiveForm, theirs.ActiveForm, &now.ActiveForm},
		{base.Blocker, theirs.Blocker, &now.Blocker},
		{base.Reason, theirs.Reason, &now.Reason},
		{base.Output, theirs.Output, &now.Output},
	} {
		if f.theirs != f.base {
			*f.now = f.theirs
		}
	}
	return now
}

// filled is a step as theirs has it; what it does not say is as it is now.
func filled(theirs, now session.Step) session.Step {
	out := patched(session.Step{Status: theirs.Status}, theirs, now)
	out.Status = theirs.Status
	return out
}
