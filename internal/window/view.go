package window

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// leastSteps is how many bytes of steps are worth a summary, which with what is kept beside it takes about as much itself.
const leastSteps = 6000

// TooSmall reports a conversation that a compaction would make no smaller, and how many tokens of the request its steps
// are: all else that a request holds is kept by every compaction.
func TooSmall(st *session.State, t *session.Transcript) (steps int64, small bool) {
	least := int64(leastSteps)
	if mark := st.Mark(); mark > 0 {
		least = min(least, mark*bytesPerToken/4)
	}
	for _, p := range Parts(st, t) {
		if p.Name == partSteps {
			return p.Tokens, p.Bytes < least
		}
	}
	return 0, true
}

// partSteps is what was said and done, as it was.
const partSteps = "steps"

// Parts lists what the next request holds, in the order in which it stands. The tokens of each are its share of the
// state's estimate, by bytes.
func Parts(st *session.State, t *session.Transcript) []view.ContextPart {
	out := []view.ContextPart{{Name: "system", Bytes: int64(len(st.Agent.System))}, {Name: "tools", Bytes: int64(len(st.Agent.Tools))}}
	add := func(name string, n int64) {
		if last := &out[len(out)-1]; last.Name == name {
			last.Bytes += n
			return
		}
		out = append(out, view.ContextPart{Name: name, Bytes: n})
	}
	all, kept := t.Upcoming(), int64(0)
	for _, p := range t.Kept() {
		name := p.Name
		if name == PartAbout && len(out) > 2 {
			name = PartMessage
		}
		add(name, int64(len(p.Text)))
		kept += int64(len(p.Text))
	}
	steps := -kept
	for _, g := range t.Given() {
		add(g.Part.Name, g.Bytes)
		steps -= g.Bytes
	}
	for _, m := range all {
		steps += size(m, 0)
	}
	add(partSteps, steps)
	total := int64(0)
	for _, p := range out {
		total += p.Bytes
	}
	for i := range out {
		out[i].Tokens = st.Estimate() * out[i].Bytes / max(total, 1)
	}
	return out
}
