package knowledge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/repo"
)

// Look parses a handoff and tells what of it is no longer so: files are looked at where they are said to lie, relative
// ones in its directory or, where it names none, in the project; commits in the project's repository. What cannot be
// looked at is not called gone. It fails only for what is no text.
func (h Handoffs) Look(ctx context.Context, f HandoffFile, now time.Time) (handoff.Document, handoff.Stale, error) {
	d, err := handoff.Parse(f.Text)
	if err != nil {
		return d, handoff.Stale{}, err
	}
	d.Written = f.Written
	if d.Directory == "" {
		d.Directory = h.s.root
	}
	_, commits := handoff.Named(d)
	var have map[string]bool
	if r, err := repo.Look(ctx, h.s.root); err == nil {
		have, _ = r.Have(ctx, commits) // what nobody knows is not gone
	}
	commit := func(hash string) bool {
		there, known := have[hash]
		return there || !known
	}
	return d, handoff.Check(d, within(h.s.root, since(f.Written)), commit, now), nil
}

// within looks only below a directory: a document that others wrote must not have the reader told what lies elsewhere.
func within(root string, look func(path string) (bool, bool)) func(path string) (exists, changed bool) {
	return func(path string) (bool, bool) {
		if rel, err := filepath.Rel(root, path); err != nil || !filepath.IsLocal(rel) {
			return true, false
		}
		return look(path)
	}
}

// mtimeSlack is how much later than its handoff a file may have been changed: what a session wrote last it wrote in the
// same second.
const mtimeSlack = 2 * time.Second

// since tells of a path whether it exists and whether it is a file that was changed after a time.
func since(written time.Time) func(path string) (exists, changed bool) {
	return func(path string) (bool, bool) {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return false, false
		case err != nil:
			return true, false // nobody may look
		}
		return true, info.Mode().IsRegular() && !written.IsZero() && info.ModTime().After(written.Add(mtimeSlack))
	}
}
