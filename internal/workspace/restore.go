package workspace

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Others finds out who has changed what since a restore's target was captured.
type Others func() (func(path string) restore.Others, error)

// Planned is a restore that was planned: what it would do, and the files as they were captured for it.
type Planned struct {
	*restore.Plan
	Before *session.FilesCaptured

	release func()
	joined  *joiner
}

// Release lets blobs be swept again.
func (p *Planned) Release() { p.release() }

// Plan captures a directory and plans a restore. No file is touched, nothing is written in the workspace's journals.
func (s *Set) Plan(ctx context.Context, r engine.RestoreRequest, others Others) (*Planned, error) {
	got, err := s.Capture(ctx, engine.CaptureRequest{Session: r.Session, Dir: r.Dir, Why: session.CaptureRestore, Rung: session.RungWalk, Last: r.Base})
	if err != nil {
		return nil, err
	}
	if got.Body.Refused != "" {
		return nil, errors.New(got.Body.Refused)
	}
	p := &Planned{Before: got.Body, release: got.Release, joined: &joiner{blobs: s.cfg.Blobs, now: s.cfg.Now, results: map[store.Digest][]byte{}}}
	if p.Plan, err = s.plan(ctx, r, got.Body.Tree, others, p.joined); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

func (s *Set) plan(ctx context.Context, r engine.RestoreRequest, now store.Digest, others Others, joined *joiner) (*restore.Plan, error) {
	root, err := Where(r.Dir)
	if err != nil {
		return nil, err
	}
	in := restore.Input{Root: root, Trees: Trees(s.cfg.Blobs), Base: r.Base, Now: now, Target: r.Target, Paths: r.Paths, Force: r.Force, Unsure: r.Unsure, Join: joined.join}
	if r.Partial {
		here := asHere{ctx, s.cfg.Blobs, map[store.Digest][]byte{}}
		in.Trees = here
		if in.Target, err = here.dir(r.Target, now, 0); err != nil {
			return nil, fmt.Errorf("plan a restore: %w", err)
		}
	}
	if others != nil {
		if in.Others, err = others(); err != nil {
			return nil, err
		}
	}
	work := s.cfg.Progress.Begin("comparing files", root)
	defer work.End()
	plan, err := restore.Make(ctx, in)
	if err != nil {
		return nil, err
	}
	for i, c := range plan.Changes {
		work.Set(int64(i), int64(len(plan.Changes)))
		if c.After == nil || c.After.Kind != tree.File {
			continue
		}
		if there, err := joined.has(c.After.Digest); err != nil || !there {
			return nil, fmt.Errorf("%s: what it held is no longer kept, so that nothing is restored: %w", shownPath(c.Path), errors.Join(restore.ErrContent, err))
		}
	}
	return plan, nil
}

// Prepare makes the plan of a restore durable under its id, see [engine.Captures].
func (s *Set) Prepare(ctx context.Context, r engine.RestoreRequest, others Others) (engine.Prepared, error) {
	p, done, err := s.at(r.Dir)
	if err != nil {
		return engine.Prepared{}, err
	}
	defer done()
	if err := s.clear(ctx, p, r.Session); err != nil {
		return engine.Prepared{}, err
	}
	plan, err := s.Plan(ctx, r, others)
	if err != nil {
		return engine.Prepared{}, err
	}
	letGo, err := plan.joined.keep(ctx)
	if err != nil {
		plan.Release()
		return engine.Prepared{}, err
	}
	release := func() {
		letGo()
		plan.Release()
	}
	if err := s.begin(p, r, plan.Plan); err != nil {
		release()
		return engine.Prepared{}, err
	}
	added, modified, deleted, kept := plan.Counts()
	return engine.Prepared{
		Before: plan.Before, Counts: counts(added, modified, deleted, kept), Release: release,
	}, nil
}

func counts(added, modified, deleted, kept int) session.RestoreCounts {
	return session.RestoreCounts{Added: int64(added), Modified: int64(modified), Deleted: int64(deleted), Conflicts: int64(kept)}
}

// restoresDir has the journals of a workspace's restores.
const restoresDir = "restores"

// journals is the directory of a session's journals in a workspace. Each session has one of its own: two may have begun
// a restore there, and what one has done is to the other a change of somebody else's.
func (p *place) journals(sessionID string) string {
	sum := store.Sum([]byte(sessionID))
	return filepath.Join(p.dir, restoresDir, hex.EncodeToString(sum[:8]))
}

// journal is the name of a restore's journal.
func journal(id string) string {
	sum := store.Sum([]byte(id))
	return hex.EncodeToString(sum[:8])
}

func (s *Set) config() restore.Config {
	return restore.Config{Content: s.cfg.Blobs, Free: s.cfg.Free, Spare: s.cfg.Spare, Builds: s.cfg.Builds, Sync: s.cfg.Sync}
}

// shown is the configuration of work that tells how far it is, until it is over.
func (s *Set) shown(what, at string) (_ restore.Config, over func()) {
	cfg, w := s.config(), s.cfg.Progress.Begin(what, at)
	cfg.Progress = func(at restore.Step) { show(w, at) }
	return cfg, w.End
}

func show(w *progress.Work, at restore.Step) {
	w.Set(int64(at.Done), int64(at.Of))
	w.Sized(at.Bytes, 0)
}

// begin writes the journal.
func (s *Set) begin(p *place, r engine.RestoreRequest, plan *restore.Plan) error {
	cfg := s.config()
	cfg.ID = journal(r.ID)
	j, err := restore.Begin(p.journals(r.Session), p.root, plan, cfg)
	if err != nil {
		return err
	}
	return j.Close()
}

// clear takes away what a session's earlier restores have left: they are over, or were never begun, or the log would
// have it. That one could not be taken back, since another directory lies in the place of its own, is in the log too.
func (s *Set) clear(ctx context.Context, p *place, sessionID string) error {
	dir := p.journals(sessionID)
	ids, err := restore.Pending(dir)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.over(ctx, p, dir, id, false); err != nil {
			return err
		}
	}
	return nil
}

// over takes a journal away. What is not done of it is taken back first; so is all, if that is wanted.
func (s *Set) over(ctx context.Context, p *place, dir, id string, back bool) error {
	cfg := s.config()
	var w *progress.Work
	defer func() { w.End() }()
	cfg.Progress = func(at restore.Step) {
		if w == nil { // only now is it known that there is something to take back
			w = s.cfg.Progress.Begin("taking changes to files back", p.root)
		}
		show(w, at)
	}
	j, err := restore.Open(dir, id, cfg)
	if errors.Is(err, restore.ErrJournal) { // it was never whole: nothing was done by it
		return restore.Discard(dir, id)
	}
	if err != nil {
		return err
	}
	if _, done := j.Done(); !done || back && !j.Undoing() {
		_, err := j.Undo(ctx)
		if errors.Is(err, restore.ErrMoved) && !back {
			return errors.Join(j.GiveUp(ctx), j.Close())
		}
		if err != nil {
			return errors.Join(err, j.Close())
		}
	}
	return errors.Join(j.Forget(), j.Close())
}

// Finish does what is left of a restore, see [engine.Captures].
func (s *Set) Finish(ctx context.Context, r engine.RestoreRequest) (engine.Restored, error) {
	p, done, err := s.at(r.Dir)
	if err != nil {
		return engine.Restored{}, err
	}
	defer done()
	unlock, err := p.lease(ctx, sys.Exclusive)
	if err != nil {
		return engine.Restored{}, err
	}
	defer unlock()
	dir, id := p.journals(r.Session), journal(r.ID)
	what := "restoring files"
	if r.Merge {
		what = "applying changes to files"
	}
	cfg, over := s.shown(what, p.root)
	defer over()
	j, err := restore.Open(dir, id, cfg)
	if err != nil {
		return engine.Restored{}, err
	}
	report, err := j.Run(ctx)
	plan := j.Plan
	if err := errors.Join(err, j.Close()); err != nil {
		return engine.Restored{}, err
	}
	over()
	for _, c := range plan.Changes {
		p.files.Changed(c.Path)
	}
	room, err := s.room(ctx, r.Session)
	if err != nil {
		return engine.Restored{}, err
	}
	if room != nil {
		room.Most = -1 // what it was is kept already, and a restore that has begun must come to its end
	}
	got, err := s.look(ctx, p, capture.Hint, room) // a walk, unless this process watched since it planned
	if err != nil {
		return engine.Restored{}, err
	}
	out := engine.Restored{Tree: got.Tree, Counts: counts(report.Added, report.Modified, report.Deleted, len(report.Kept))}
	out.Kept, out.Paths = words(plan, report)
	out.Release = func() {
		_ = got.Release()
		_ = s.over(context.WithoutCancel(ctx), p, dir, id, false) // what is left of it the next restore takes away
	}
	return out, nil
}

// Bounds of the paths that are named in an outcome.
const (
	maxKept  = 64
	maxPaths = 20
)

// words are the paths of an outcome: what stayed, and what is not what it was.
func words(plan *restore.Plan, report restore.Report) (kept, paths []string) {
	stays := map[string]bool{}
	for _, k := range report.Kept {
		stays[k.Path] = true
		if len(kept) < maxKept {
			kept = append(kept, shownPath(k.Path))
		}
	}
	for _, c := range plan.Changes {
		if !stays[c.Path] && len(paths) < maxPaths {
			paths = append(paths, shownPath(c.Path))
		}
	}
	return kept, paths
}

// Abandon takes back what was done of a restore, see [engine.Captures].
func (s *Set) Abandon(ctx context.Context, r engine.RestoreRequest) error {
	p, done, err := s.at(r.Dir)
	if err != nil {
		return err
	}
	defer done()
	unlock, err := p.lease(ctx, sys.Exclusive)
	if err != nil {
		return err
	}
	defer unlock()
	return s.over(ctx, p, p.journals(r.Session), journal(r.ID), true)
}
