package homes

import (
	"context"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/sys"
)

// maxSpaces bounds the directories that are looked at for interrupted applies.
const maxSpaces = 10_000

// OpenApplies are the applies to directories with no session that were interrupted, of all directories or, with the id
// of a session, those of its changes and those to the directory that it works on. It changes nothing and waits for
// nobody; what a live process is at is none of them, and what cannot be read is left out: who applies there again is
// told.
func (h *Home) OpenApplies(ctx context.Context, id string) (open []Applied) {
	dir := ""
	if id != "" {
		if st, err := h.State(ctx, id); err == nil {
			dir = filesDir(st)
		}
	}
	spaces, err := os.ReadDir(filepath.Join(h.dir, spacesDir))
	if err != nil {
		return nil
	}
	for _, s := range spaces[:min(len(spaces), maxSpaces)] {
		r := h.interruptedIn(s.Name())
		if r != nil && (id == "" || r.Session == id || r.Dir == dir) {
			open = append(open, *r)
		}
	}
	return open
}

// interruptedIn is the interrupted apply to the directory of a workspace; nil: there is none.
func (h *Home) interruptedIn(space string) *Applied {
	root, err := realdir.Open(h.dir, spacesDir, space, appliesDir)
	if err != nil {
		return nil
	}
	a := applies{root: root}
	defer a.close()
	if a.lock, err = root.OpenFile(lockName, os.O_RDONLY|sys.NoFollow, 0); err != nil || sys.Flock(a.lock, sys.Exclusive|sys.Try) != nil {
		return nil
	}
	if a.all, err = readApplies(root); err != nil {
		return nil
	}
	return a.open()
}
