package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
)

// Instructions are the files that people keep for agents.
type Instructions interface {
	// Start reads those that a session in dir begins with.
	Start(dir string) []instructions.File
	// Below reads those of one directory within the project that dir is in; ok reports whether there are any.
	Below(dir, at string) (f instructions.File, ok bool)
	// Told are the files, beside those of the usual names, that sessions in dir are given: absolute.
	Told(dir string) []string
	// Gone reports whether a file that was read is no longer there.
	Gone(path string) bool
}

// reached is how far a session was followed to directories with instructions of their own.
type reached struct {
	dirs  map[string]bool
	files int64 // seq of the newest known file whose directory was looked at
}

// tellInstructions tells the model what changed in the instructions that it was given, once in a turn, and gives it
// those of directories that the session has reached since.
func (s *instructor) tellInstructions(ctx context.Context, first bool) error {
	from := s.eng.cfg.Instructions
	if from == nil || s.state.Config.Root == "" {
		return nil
	}
	if first {
		if err := s.give(ctx, session.GivenChanged, s.changedInstructions(ctx, from)); err != nil {
			return err
		}
	}
	return s.give(ctx, session.GivenTouched, s.nestedInstructions(from))
}

func (s *instructor) give(ctx context.Context, why string, texts []session.GivenText) error {
	if len(texts) == 0 {
		return nil
	}
	return s.append(ctx, engineActor, &session.ContextGiven{Why: why, Texts: texts})
}

// instructed finds what was given of a file.
func (s *instructor) instructed(path string) (session.Given, bool) {
	i := slices.IndexFunc(s.state.Given, func(g session.Given) bool { return g.Name == session.GivenInstructions && g.Path == path })
	if i < 0 {
		return session.Given{}, false
	}
	return s.state.Given[i], true
}

// changedInstructions are the files that are not as they were given, with what changed in them.
func (s *instructor) changedInstructions(ctx context.Context, from Instructions) []session.GivenText {
	now := map[string]instructions.File{}
	var paths []string
	see := func(f instructions.File) {
		if _, seen := now[f.Path]; !seen {
			now[f.Path] = f
			paths = append(paths, f.Path)
		}
	}
	for _, f := range from.Start(s.state.Config.Root) {
		see(f)
	}
	for _, g := range s.state.Given {
		if _, seen := now[g.Path]; seen || g.Name != session.GivenInstructions || g.Digest.IsZero() {
			continue
		}
		if f, ok := from.Below(s.state.Config.Root, filepath.Dir(g.Path)); ok && f.Path == g.Path {
			see(f)
		} else if from.Gone(g.Path) {
			see(instructions.File{Path: g.Path})
		}
	}
	var out []session.GivenText
	room := s.instructionRoom()
	for _, p := range paths {
		f := now[p]
		g, known := s.instructed(p)
		if known && g.Digest == f.Digest || !known && len(s.state.Given)+len(out) >= session.MaxGiven {
			continue
		}
		text := s.changedText(ctx, f)
		if n := int64(len(text.Text)); n > room+g.Size {
			text = leftOut(f)
		}
		room -= int64(len(text.Text)) - g.Size
		out = append(out, text)
	}
	return out
}

// instructionRoom is how many bytes more of instructions the session has room for.
func (s *instructor) instructionRoom() int64 { return window.GivenRoom(s.state, instructions.MaxTotal) }

// leftOut stands in the place of instructions that there is no room for.
func leftOut(f instructions.File) session.GivenText {
	return window.Give(session.GivenInstructions, f.Path, "[What this file says is left out here: there is no more room for instructions. Read reads it.]", f.Digest)
}

// changedText is a file as it is now, and in words what changed since the model was given it.
func (s *instructor) changedText(ctx context.Context, f instructions.File) session.GivenText {
	if f.Digest.IsZero() {
		said := window.Element(session.GivenInstructions, f.Path, "[This file is no longer there: what it said holds no more.]")
		return session.GivenText{Name: session.GivenInstructions, Path: f.Path, Said: []byte(said)}
	}
	g := window.Give(session.GivenInstructions, f.Path, s.eng.hideText(f.Text), f.Digest)
	old := s.givenText(ctx, f.Path)
	if old == "" {
		return g
	}
	const words = "[This file changed since you were given it. What changed, as a diff:]\n"
	diff := udiff.Unified("before", "now", old, string(g.Text))
	if said := window.Element(session.GivenInstructions, f.Path, words+diff); len(said) < len(g.Text) {
		g.Said = []byte(said)
	}
	return g
}

// givenText is the newest text of a file as the model was given it; empty if there is none.
func (s *instructor) givenText(ctx context.Context, path string) string {
	t, err := s.Transcript(ctx)
	if err != nil {
		return "" // the model call that follows meets it again
	}
	for _, p := range t.NewestGiven(len(t.Upcoming()) + 1) {
		if p.Name == session.GivenInstructions && p.Path == path {
			return string(p.Text)
		}
	}
	return ""
}

// maxNested bounds how many directories are looked at before one request.
const maxNested = 64

// nestedInstructions are the files of directories that were not reached before: of the files that the session knows
// since the last look, and of its working directory.
func (s *instructor) nestedInstructions(from Instructions) []session.GivenText {
	root := s.state.Config.Root
	var dirs []string
	add := func(dir string) {
		for _, d := range instructions.Between(root, dir) {
			if d != root && !s.reached.dirs[d] && len(dirs) < maxNested {
				s.reached.dirs[d] = true
				dirs = append(dirs, d)
			}
		}
	}
	if s.reached.dirs == nil {
		s.reached.dirs = map[string]bool{}
	}
	add(s.state.Cwd)
	newest := s.reached.files
	for _, f := range s.state.Files {
		if f.Seq > s.reached.files {
			add(filepath.Dir(f.Path))
			newest = max(newest, f.Seq)
		}
	}
	s.reached.files = newest
	slices.SortFunc(dirs, strings.Compare) // a parent before its children, and the same order at every run
	var out []session.GivenText
	room := s.instructionRoom()
	for _, d := range dirs {
		f, ok := from.Below(root, d)
		if _, known := s.instructed(f.Path); !ok || known || len(s.state.Given)+len(out) >= session.MaxGiven {
			continue
		}
		text := window.Give(session.GivenInstructions, f.Path, s.eng.hideText(f.Text), f.Digest)
		if int64(len(text.Text)) > room {
			text = leftOut(f)
		}
		room -= int64(len(text.Text))
		out = append(out, text)
	}
	return out
}

// GivenAtStart makes the event of what a session begins with; nil if there is nothing.
func GivenAtStart(files []instructions.File, more ...session.GivenText) *session.ContextGiven {
	b := &session.ContextGiven{Why: session.GivenStart}
	for _, f := range files {
		b.Texts = append(b.Texts, window.Give(session.GivenInstructions, f.Path, f.Text, f.Digest))
	}
	for _, g := range more {
		if len(g.Text) > 0 {
			b.Texts = append(b.Texts, g)
		}
	}
	if len(b.Texts) == 0 {
		return nil
	}
	return b
}
