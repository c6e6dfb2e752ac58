package homes

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// maxCopies bounds the directories of sessions' own that are looked at for one project.
const maxCopies = 10_000

// Copies gives the sessions that work in a directory of their own which was made from this one, also by way of another
// copy, the newest first: a person takes them for sessions of this project.
func (h *Home) Copies(ctx context.Context, project string) (out []view.Listing, err error) {
	root, err := realdir.Open(h.dir, isolatedDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxCopies)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, id := range names {
		if o, err := h.origin(id); err != nil || filepath.Clean(o.From) != filepath.Clean(project) {
			continue
		}
		info, err := h.store.Get(ctx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && h.ownDir(id, info.Heads.Cwd) == "" { // gone, or it works elsewhere now
			continue
		}
		if err != nil {
			return nil, err
		}
		l, err := h.listing(ctx, info)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b view.Listing) int { return cmp.Compare(b.Updated, a.Updated) })
	return out, nil
}
