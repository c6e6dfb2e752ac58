package workspace

import (
	"context"

	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Materialise makes a directory out of a tree, see [restore.Materialise]: whole and durable, or not at all. With like, its
// files share their content with those of that directory where they can.
func (s *Set) Materialise(ctx context.Context, to string, root store.Digest, like string) (restore.Made, error) {
	return s.materialise(ctx, to, Trees(s.cfg.Blobs), root, like)
}

// MaterialiseFrom is [Set.Materialise] of a tree as others read it.
func (s *Set) MaterialiseFrom(ctx context.Context, to string, trees tree.Reader, root store.Digest, like string) (restore.Made, error) {
	return s.materialise(ctx, to, trees, root, like)
}

func (s *Set) materialise(ctx context.Context, to string, trees tree.Reader, root store.Digest, like string) (restore.Made, error) {
	cfg, over := s.shown("writing files", to)
	defer over()
	cfg.Like = like
	return restore.Materialise(ctx, to, trees, root, cfg)
}
