package workflow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
)

func steps(words ...string) (out []session.Step) {
	for _, w := range words {
		s := session.Step{Content: w[1:], Status: session.StepPlanned}
		if w[0] == '+' {
			s.Status = session.StepDone
		}
		out = append(out, s)
	}
	return out
}

// Goal: what a person changed and what the session did meanwhile both hold.
func TestMerge(t *testing.T) {
	for name, c := range map[string]struct{ base, theirs, now, want []session.Step }{
		"nothing":                {steps("-a", "-b"), steps("-a", "-b"), steps("+a", "-b", "-c"), steps("+a", "-b", "-c")},
		"done meanwhile":         {steps("-a", "-b"), steps("-a", "-b", "-c"), steps("+a", "+b"), steps("+a", "+b", "-c")},
		"removed":                {steps("-a", "-b", "-c"), steps("-a", "-c"), steps("+a", "+b", "-c"), steps("+a", "-c")},
		"all removed":            {steps("-a"), nil, steps("+a"), nil},
		"moved":                  {steps("-a", "-b", "-c"), steps("-c", "-a", "-b"), steps("+a", "-b", "-c"), steps("-c", "+a", "-b")},
		"reworded":               {steps("-a", "-b"), steps("-a", "-b2"), steps("+a", "+b"), steps("+a", "+b2")},
		"reworded and accepted":  {steps("-a", "-b"), steps("-a", "-b2"), steps("+a", "-b2", "-n"), steps("+a", "-b2", "-n")},
		"added and accepted":     {steps("-a"), steps("-a", "-b"), steps("+a", "+b"), steps("+a", "+b")},
		"the agent took it out":  {steps("-a", "-b"), steps("-a", "-b"), steps("-b"), steps("-b")},
		"both added":             {steps("-a"), steps("-a", "-h"), steps("-m", "-a", "-n"), steps("-m", "-a", "-n", "-h")},
		"marked done":            {steps("-a", "-b"), steps("+a", "-b"), steps("-a", "-b"), steps("+a", "-b")},
		"no base":                {nil, steps("+a", "-x"), steps("-a", "-b"), steps("+a", "-b", "-x")},
		"no base, nothing there": {nil, steps("+a"), nil, steps("+a")},
		"twins":                  {steps("-a", "-a"), steps("-a", "+a"), steps("-a", "-a"), steps("-a", "+a")},
	} {
		if got := Merge(c.base, c.theirs, c.now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
		}
	}
}

// Goal: without a person's change nothing changes; without the session's the person's is taken whole; and what was
// accepted once is not taken twice.
func TestMergeHolds(t *testing.T) {
	plan := rapid.Custom(func(t *rapid.T) []session.Step {
		words := rapid.SliceOfNDistinct(rapid.StringMatching("[-+][a-f]"), 0, 6, func(s string) string { return s[1:] }).Draw(t, "words")
		return steps(words...)
	})
	rapid.Check(t, func(t *rapid.T) {
		base, theirs, now := plan.Draw(t, "base"), plan.Draw(t, "theirs"), plan.Draw(t, "now")
		if got := Merge(now, now, now); !slices.Equal(got, now) {
			t.Fatalf("nobody changed anything: %+v", got)
		}
		if got := Merge(base, theirs, base); !slices.Equal(got, theirs) && len(base) > 0 {
			t.Fatalf("only the person changed it: %+v", got)
		}
		once := Merge(base, theirs, now)
		if len(once) > len(theirs)+len(now) {
			t.Fatalf("%d steps of %d and %d", len(once), len(theirs), len(now))
		}
		for _, s := range theirs { // what the person added is there
			if !slices.ContainsFunc(base, func(b session.Step) bool { return b.Content == s.Content }) && !slices.ContainsFunc(once, func(o session.Step) bool { return o.Content == s.Content }) {
				t.Fatalf("%q is gone: %+v", s.Content, once)
			}
		}
	})
}
