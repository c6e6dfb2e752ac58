package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/store"
)

// Make makes a directory that is not there, or is empty, from a captured tree: whole, or not at all. Directories above it
// are made, too. Progress counts entries; it may be nil. Errors: those of [restore.Materialise].
func (s *Set) Make(ctx context.Context, dir string, root store.Digest, progress func(done, total int)) (restore.Made, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // as mkdir makes them: the user's umask holds
		return restore.Made{}, fmt.Errorf("make %s: %w", dir, err)
	}
	cfg := s.config()
	cfg.Progress, cfg.Builds = progress, s.cfg.Builds
	return restore.Materialise(ctx, dir, Trees(s.cfg.Blobs), root, cfg)
}
