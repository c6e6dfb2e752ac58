package homes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// Files says how the files that sessions work on are captured. Its zero value is a good start.
type Files struct {
	Keep     []string // names of directories that are captured although they could be made again: node_modules
	MaxFile  int64    // bytes of a file that is captured; 0: 100 MiB
	MaxFiles int64    // of a workspace, more are refused; 0: 200,000
	MaxBytes int64    // of a workspace, more are refused; 0: 2 GiB
	Quota    int64    // bytes that all that is captured may take in the home; 0: 20 GiB
}

// spareBytes is what a restore leaves free on the disk.
const spareBytes = 64 << 20

const usualQuota = 20 << 30

// care makes what captures and restores the files of this home's sessions.
func (h *Home) care() error {
	f := h.cfg.Files
	if f == nil {
		return nil
	}
	quota := f.Quota
	if quota == 0 {
		quota = usualQuota
	}
	var err error
	if h.blobs, err = blob.Open(filepath.Join(h.dir, "blobs"), blob.Config{Quota: quota}); err != nil {
		return err
	}
	h.spaces = workspace.New(workspace.Config{
		Dir: filepath.Join(h.dir, "workspaces"), Blobs: h.blobs, Avoid: []string{h.dir}, UserHome: h.getenv("HOME"),
		Keep: f.Keep, MaxFile: f.MaxFile, MaxFiles: f.MaxFiles, MaxBytes: f.MaxBytes, Free: freeBytes, Spare: spareBytes,
	})
	h.cfg.captures, h.cfg.captured = captures{h}, bundledFiles{h.blobs}
	return nil
}

// freeBytes is how many bytes this user may write below a path; negative if that is unknown.
func freeBytes(path string) int64 {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return -1
	}
	return int64(fs.Bavail) * int64(fs.Bsize) //nolint:gosec,unconvert // their types differ by system
}

// captures is the engine's way to the home's workspaces.
type captures struct{ h *Home }

var (
	_ engine.Contents = captures{}
	_ engine.Keeper   = captures{}
)

func (c captures) Capture(ctx context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	return roomy(ctx, c.h, func() (engine.Captured, error) { return c.h.spaces.Capture(ctx, r) })
}

func (c captures) Prepare(ctx context.Context, r engine.RestoreRequest) (engine.Prepared, error) {
	if r.Merge {
		return c.h.spaces.Prepare(ctx, r, nil) // what others have changed there is what differs from the base
	}
	return roomy(ctx, c.h, func() (engine.Prepared, error) { return c.h.spaces.Prepare(ctx, r, c.h.others(ctx, r)) })
}

func (c captures) Finish(ctx context.Context, r engine.RestoreRequest) (engine.Restored, error) {
	return roomy(ctx, c.h, func() (engine.Restored, error) { return c.h.spaces.Finish(ctx, r) })
}

func (c captures) Abandon(ctx context.Context, r engine.RestoreRequest) error {
	return c.h.spaces.Abandon(ctx, r)
}

// Content gives what a captured file held, if that has at most so many bytes.
func (c captures) Content(d store.Digest, most int64) ([]byte, error) {
	r, size, err := c.h.blobs.Open(d)
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, errors.Join(fmt.Errorf("content %s has %d bytes", d, size), r.Close())
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// Keep keeps what is read in the home's blobs; no sweep takes it until release.
func (c captures) Keep(ctx context.Context, open func() (io.ReadCloser, error)) (store.Digest, int64, func(), error) {
	type content struct {
		digest  store.Digest
		size    int64
		release func()
	}
	got, err := roomy(ctx, c.h, func() (content, error) {
		r, err := open()
		if err != nil {
			return content{}, err
		}
		d, n, release, err := c.h.keep(ctx, r)
		_ = r.Close() // it was only read
		return content{d, n, release}, err
	})
	return got.digest, got.size, got.release, err
}

// Bounds of the search for what others have changed.
const (
	maxNeighbours = 64      // sessions of the same directory, the newest
	maxCapture    = 10_000  // captures of each, the newest
	maxTheirs     = 500_000 // paths
)

// others finds out what other people and sessions have changed in a session's directory since the target of a restore was
// captured: what was found changed before the session's own acts, and what the acts of other sessions changed.
func (h *Home) others(ctx context.Context, r engine.RestoreRequest) workspace.Others {
	return func() (func(string) restore.Others, error) {
		own, err := h.trees(ctx, r.Session)
		if err != nil {
			return nil, err
		}
		i := len(own) - 1
		for i >= 0 && own[i].Tree != r.Target {
			i--
		}
		own = own[max(i, 0):]
		theirs, mine := changedPaths{workspace.Trees(h.blobs), map[string]bool{}}, changedPaths{workspace.Trees(h.blobs), map[string]bool{}}
		since := h.cfg.Now().UnixMilli()
		if len(own) > 0 {
			since = own[0].time
		}
		err = h.steps(own, func(before, after store.Digest, byOthers, bySession bool) error {
			var errs []error
			if byOthers {
				errs = append(errs, theirs.add(before, after))
			}
			if bySession {
				errs = append(errs, mine.add(before, after))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			return nil, err
		}
		if err := h.neighbours(ctx, r, since, theirs); err != nil {
			return nil, err
		}
		return func(path string) restore.Others {
			switch {
			case !theirs.paths[path]:
				return restore.Own
			case mine.paths[path]:
				return restore.Mixed
			}
			return restore.Alien
		}, nil
	}
}

// taken is a capture in a log.
type taken struct {
	*session.FilesCaptured
	time int64
}

// others reports a capture that was made before anything of the session's own could change a file: what it found is
// somebody else's.
func (t taken) others() bool {
	switch t.Why {
	case session.CaptureBefore, session.CaptureNamed, session.CaptureFork, session.CaptureRestore, session.CaptureResume:
		return true
	}
	return false
}

// trees are the captures of a session that have a tree, the newest last. What a restore has made of the files is the
// session's own, like what its acts have.
func (h *Home) trees(ctx context.Context, id string) (out []taken, err error) {
	kinds := []store.Kind{session.KindFilesCaptured, session.KindRestoreStarted, session.KindFilesRestored}
	dir := "" // of the restore that was started last
	for ev, err := range h.Range(ctx, id, Range{Kinds: kinds, Last: maxCapture}) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *session.FilesCaptured:
			if !b.Tree.IsZero() {
				out = append(out, taken{b, ev.Time})
			}
		case *session.RestoreStarted:
			dir = b.Dir
		case *session.FilesRestored:
			if !b.Tree.IsZero() {
				out = append(out, taken{&session.FilesCaptured{Dir: dir, Tree: b.Tree, Why: session.CaptureAct}, ev.Time})
			}
		default:
		}
	}
	return out, nil
}

// changedPaths collects paths that were changed.
type changedPaths struct {
	trees tree.Reader
	paths map[string]bool
}

func (t changedPaths) add(before, after store.Digest) error {
	return tree.Diff(t.trees, before, after, func(c tree.Change) error {
		t.paths[c.Path] = true
		if len(t.paths) > maxTheirs {
			return fmt.Errorf("over %d files were changed meanwhile: name the paths that are to be restored", maxTheirs)
		}
		return nil
	})
}

// neighbours adds what the acts of other sessions in the same directory have changed since a time.
func (h *Home) neighbours(ctx context.Context, r engine.RestoreRequest, since int64, t changedPaths) error {
	root, err := workspace.Where(r.Dir)
	if err != nil {
		return err
	}
	seen := 0
	for after := ""; seen < maxNeighbours; {
		page, err := h.store.List(ctx, store.Query{Limit: 1000, After: after})
		if err != nil {
			return err
		}
		for _, info := range page.Sessions {
			if info.Updated < since || seen >= maxNeighbours {
				return nil // the newest come first
			}
			at, err := workspace.Where(info.Heads.Cwd)
			if info.ID == r.Session || err != nil || at != root && !strings.HasPrefix(at, root+"/") {
				continue
			}
			seen++
			if err := h.neighbour(ctx, info.ID, root, since, t); err != nil {
				return err
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return nil
}

func (h *Home) neighbour(ctx context.Context, id, root string, since int64, t changedPaths) error {
	own, err := h.trees(ctx, id)
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(c taken) bool { at, err := workspace.Where(c.Dir); return err != nil || at != root })
	first := slices.IndexFunc(own, func(c taken) bool { return c.time >= since })
	if first < 0 {
		return nil
	}
	// The first step begins with the newest one from before that time that was not thinned.
	for first--; first > 0; first-- {
		if there, err := h.blobs.Has(own[first].Tree); there || err != nil {
			break
		}
	}
	return h.steps(own[max(first, 0):], func(before, after store.Digest, _, bySession bool) error {
		if !bySession {
			return nil
		}
		return t.add(before, after)
	})
}
