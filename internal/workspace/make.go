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
// are made, too. Errors: those of [restore.Materialise].
func (s *Set) Make(ctx context.Context, dir string, root store.Digest) (restore.Made, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // as mkdir makes them: the user's umask holds
		return restore.Made{}, fmt.Errorf("make %s: %w", dir, err)
	}
	return s.Materialise(ctx, dir, root, "")
}
