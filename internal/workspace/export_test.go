package workspace

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// LeaseAlone takes a workspace's lease as a restore does.
func (s *Set) LeaseAlone(ctx context.Context, dir string) (release func(), err error) {
	p, done, err := s.at(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.lease(ctx, sys.Exclusive)
}

// Below are the paths of a workspace among absolute ones.
func Below(root string, paths ...string) []string { return (&place{root: root}).below(paths) }

// Join joins three versions of a file, keeps the result, and reads it.
func (s *Set) Join(ctx context.Context, base, mine, theirs *tree.Entry) (*tree.Entry, []byte, error) {
	j := &joiner{blobs: s.cfg.Blobs, now: s.cfg.Now, results: map[store.Digest][]byte{}}
	e, err := j.join(base, mine, theirs)
	if e == nil || err != nil {
		return nil, nil, err
	}
	release, err := j.keep(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	r, size, err := s.cfg.Blobs.Open(e.Digest)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = r.Close() }()
	b := make([]byte, size)
	_, err = io.ReadFull(r, b)
	return e, b, err
}

// OpenDirs are the workspaces that are open.
func (s *Set) OpenDirs() []string { return slices.Collect(maps.Keys(s.open)) }
