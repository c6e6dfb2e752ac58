package workspace

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Capture captures a directory for a session. What is no project is refused in words.
func (s *Set) Capture(ctx context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	p, done, err := s.at(r.Dir)
	if err != nil {
		return refused(err)
	}
	defer done()
	unlock, err := p.lease(ctx, sys.Shared)
	if err != nil {
		return engine.Captured{}, err
	}
	defer unlock()
	if paths := p.below(r.Paths); len(paths) > 0 {
		p.files.Changed(paths...)
	}
	room, err := s.room(ctx, r.Session)
	if err != nil {
		return engine.Captured{}, err
	}
	got, err := s.look(ctx, p, capture.Rung(r.Rung), room)
	if err != nil {
		return refused(err)
	}
	if r.Why == session.CaptureTurn || r.Why == session.CapturePause {
		p.files.Rest() // watches are few, and a session that waits for a person may wait for days
	}
	b := &session.FilesCaptured{
		Tree: got.Tree, Rung: session.CaptureRung(got.Rung), Files: got.Files, Bytes: got.Bytes, Changed: got.Changed, Torn: shown(got.Torn),
	}
	if got.Before != r.Last && !r.Last.IsZero() { // somebody else has looked since
		b.Changed = s.changed(ctx, r.Last, got)
	}
	for _, sk := range got.Skipped {
		b.Skipped = append(b.Skipped, session.Skipped{Path: shownPath(sk.Path), Why: string(sk.Why), Bytes: sk.Bytes})
	}
	if r.Why != session.CaptureAct && got.Tree != r.Last {
		b.Repos = p.repos(got.Repos)
	}
	return engine.Captured{Body: b, Release: func() { _ = got.Release() }}, nil
}

// changed counts the entries that are not as they were in the tree that a session knows. Where that is not kept any more it
// is what has changed since the capture before, of whatever session.
func (s *Set) changed(ctx context.Context, last store.Digest, got capture.Result) (n int64) {
	err := tree.Diff(Arrived(s.cfg.Blobs), last, got.Tree, func(tree.Change) error {
		n++
		return ctx.Err()
	})
	if err != nil {
		return got.Changed
	}
	return n
}

func (s *Set) room(ctx context.Context, id string) (*capture.Room, error) {
	if s.cfg.Room == nil {
		return nil, nil //nolint:nilnil // no bound
	}
	return s.cfg.Room(ctx, id)
}

// look captures a workspace, and tells how far it is.
func (s *Set) look(ctx context.Context, p *place, rung capture.Rung, room *capture.Room) (capture.Result, error) {
	w := s.cfg.Progress.Begin("looking at files", p.root)
	defer w.End()
	w.Follow(p.files.Progress)
	return p.files.CaptureWithin(ctx, rung, room)
}

// Progress says how far work in a directory is, see [engine.Progress].
func (s *Set) Progress(dir string) string {
	root, err := Where(dir)
	if err != nil {
		return ""
	}
	stand, ok := s.cfg.Progress.At(root)
	if !ok {
		return ""
	}
	return stand.String()
}

// refused makes an answer of what a guard said.
func refused(err error) (engine.Captured, error) {
	if errors.Is(err, capture.ErrRefused) {
		return engine.Captured{Body: &session.FilesCaptured{Refused: err.Error()}}, nil
	}
	return engine.Captured{}, err
}

// below gives those of the absolute paths that lie in the workspace, relative to it.
func (p *place) below(paths []string) (out []string) {
	for _, path := range paths {
		if rel, ok := strings.CutPrefix(path, p.root+"/"); ok {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// maxRepos bounds the repositories whose facts are read.
const maxRepos = 16

// repos are the facts of the repositories in the workspace; one that cannot be read is named without them.
func (p *place) repos(dirs []string) (out []session.RepoFact) {
	for _, dir := range dirs[:min(len(dirs), maxRepos)] {
		fact := session.RepoFact{Dir: shownPath(dir)}
		if f, err := repo.LookClose(filepath.Join(p.root, dir), p.files.Stat(dir)); err == nil {
			fact.Head, fact.Branch, fact.Index, fact.Dirty = f.Commit, f.Branch, f.Index, f.Modified
		}
		out = append(out, fact)
	}
	return out
}

func shown(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, shownPath(p))
	}
	return out
}

// shownPath is a path as JSON can hold it: one that is no UTF-8 is quoted.
func shownPath(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.Quote(path)
}
