package workspace

import (
	"context"

	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/store"
)

// Materialise makes a directory out of a tree, see [restore.Materialise]: whole and durable, or not at all.
func (s *Set) Materialise(ctx context.Context, to string, root store.Digest, progress func(done, total int)) (restore.Made, error) {
	cfg := s.config()
	cfg.Progress, cfg.Builds = progress, s.cfg.Builds
	return restore.Materialise(ctx, to, Trees(s.cfg.Blobs), root, cfg)
}
