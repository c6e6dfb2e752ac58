package session

import (
	"slices"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: of the given texts that hold, each name and path has its newest one only; what was given with a later message, or
// holds no more, is not among them.
func TestNewestGivenTextHolds(t *testing.T) {
	text := func(name, path, words string) GivenText {
		return GivenText{Name: name, Path: path, Text: []byte(words)}
	}
	tr := &Transcript{}
	tr.Apply(store.Event{Seq: 1}, &Compacted{N: 1, Parts: []ContextPart{
		{Name: GivenInstructions, Path: "/w/AGENTS.md", Given: true, Text: []byte("old")},
		{Name: GivenMemory, Given: true, Text: []byte("remembered")},
		{Name: GivenInstructions, Path: "/w/gone.md", Given: true, Text: []byte("was there")},
		{Name: "summary", Text: []byte("no given text")},
	}})
	tr.Apply(store.Event{Seq: 2}, &ContextGiven{Texts: []GivenText{
		text(GivenInstructions, "/w/AGENTS.md", "new"), text(GivenInstructions, "/w/sub/AGENTS.md", "x"), text(GivenHandoff, "/w/AGENTS.md", "left"),
		text(GivenInstructions, "/w/gone.md", ""),
	}})
	said := func(before int) (out []string) {
		for _, p := range tr.NewestGiven(before) {
			out = append(out, p.Name+" "+p.Path+" "+string(p.Text))
		}
		return out
	}
	kept := []string{"instructions /w/AGENTS.md old", "memory  remembered", "instructions /w/gone.md was there"}
	if got := said(1); !slices.Equal(got, kept) {
		t.Errorf("before the new message: %q", got)
	}
	now := []string{"instructions /w/AGENTS.md new", "memory  remembered", "instructions /w/sub/AGENTS.md x", "handoff /w/AGENTS.md left"}
	if got := said(2); !slices.Equal(got, now) {
		t.Errorf("after it: %q", got)
	}
}

// Goal: a given text is called by its name, and by its file if it has one.
func TestGivenTextIsCalledByItsFile(t *testing.T) {
	for want, g := range map[string]Given{"memory": {Name: "memory"}, "instructions /w/a": {Name: "instructions", Path: "/w/a"}} {
		if got := g.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
