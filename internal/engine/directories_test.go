package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// folders has the instructions of directories.
type folders struct {
	of   map[string]instructions.File
	gone map[string]bool
}

func (f folders) Start(string) []instructions.File { return nil }
func (f folders) Below(_, at string) (instructions.File, bool) {
	file, ok := f.of[at]
	return file, ok
}
func (f folders) Told(string) []string  { return nil }
func (f folders) Gone(path string) bool { return f.gone[path] }

func file(path, words string) instructions.File {
	return instructions.File{Path: path, Text: words, Digest: store.Sum([]byte(words))}
}

// The instructions of a directory are given once, however many of its files are known; a directory without any stays
// without until another holder looks, and the root has those that the session began with.
func TestInstructionsOfADirectoryAreGivenOnce(t *testing.T) {
	st := session.New("s")
	st.Config.Root, st.Cwd = "/w", "/w"
	know := func(seq int64, path string) {
		if st.Files == nil {
			st.Files = map[string]session.File{}
		}
		st.Files[path] = session.File{Path: path, Seq: seq}
	}
	know(1, "/w/a/x.go")
	know(2, "/w/a/y.go")
	know(3, "/w/b/deep/z.go")
	know(4, "/elsewhere/f.go")
	from := folders{of: map[string]instructions.File{
		"/w": file("/w/AGENTS.md", "of the root"), "/w/a": file("/w/a/AGENTS.md", "of a"), "/w/b/deep": file("/w/b/deep/AGENTS.md", "of deep"),
		"/elsewhere": file("/elsewhere/AGENTS.md", "not ours"), "/w/c": file("/w/c/AGENTS.md", "of c"),
	}}
	s := at(Config{Instructions: from}, st)
	paths := func() (out []string) {
		for _, g := range s.nestedInstructions(from) {
			out = append(out, g.Path)
		}
		return out
	}
	if got, want := paths(), []string{"/w/a/AGENTS.md", "/w/b/deep/AGENTS.md"}; !slices.Equal(got, want) {
		t.Errorf("given %v, want %v", got, want)
	}
	from.of["/w/b"] = file("/w/b/AGENTS.md", "of b")
	know(5, "/w/b/deep/later.go")
	if got := paths(); len(got) > 0 {
		t.Errorf("given again: %v", got)
	}
	st.Cwd = "/w/c"
	if got, want := paths(), []string{"/w/c/AGENTS.md"}; !slices.Equal(got, want) {
		t.Errorf("of the working directory %v, want %v", got, want)
	}
}

// That a file of instructions went is told, also where another one has taken its place.
func TestAFileThatWentIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		below map[string]instructions.File
		gone  bool
		want  []string // the paths that something is told of
	}{
		"as it was":            {map[string]instructions.File{"/w/a": file("/w/a/CLAUDE.md", "old")}, false, nil},
		"changed":              {map[string]instructions.File{"/w/a": file("/w/a/CLAUDE.md", "new")}, false, []string{"/w/a/CLAUDE.md"}},
		"gone":                 {nil, true, []string{"/w/a/CLAUDE.md"}},
		"unreadable":           {nil, false, nil},
		"another in its place": {map[string]instructions.File{"/w/a": file("/w/a/AGENTS.md", "new")}, true, []string{"/w/a/CLAUDE.md"}},
		"another beside it":    {map[string]instructions.File{"/w/a": file("/w/a/AGENTS.md", "new")}, false, nil},
	} {
		st := session.New("s")
		st.Config.Root = "/w"
		st.Given = []session.Given{{Name: session.GivenInstructions, Path: "/w/a/CLAUDE.md", Digest: store.Sum([]byte("old"))}}
		from := folders{of: c.below, gone: map[string]bool{"/w/a/CLAUDE.md": c.gone}}
		s := at(Config{Instructions: from}, st)
		s.transcript = &session.Transcript{}
		var got []string
		for _, g := range s.changedInstructions(t.Context(), from) {
			got = append(got, g.Path)
			if told := strings.Contains(string(g.Said), "no longer there"); told != c.gone {
				t.Errorf("%s: %s", name, g.Said)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: told of %v, want %v", name, got, c.want)
		}
	}
}
