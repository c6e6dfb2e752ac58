package homes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/spare"
	"github.com/perdure/perdure/internal/sys"
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
	// SessionQuota is how many bytes of them one session may hold that no other one needs; 0: no bound of its own.
	SessionQuota int64
}

// spareBytes is what a restore leaves free on the disk.
const spareBytes = 64 << 20

// buildsDir has the records of directories that are being made out of trees.
const buildsDir = "building"

const blobsDir = "blobs"

const usualQuota = 20 << 30

// care makes what captures and restores the files of this home's sessions.
func (h *Home) care() error {
	f := h.cfg.Files
	if f == nil {
		return nil
	}
	if err := cmp.Or(h.cfg.elsewhere, sys.Captures()); err != nil {
		return err
	}
	for _, name := range []string{blobsDir, spacesDir, buildsDir} { // nothing is kept, nor taken away, behind a link
		if err := realdir.Check(h.dir, name); err != nil {
			return err
		}
	}
	quota := f.Quota
	if quota == 0 {
		quota = usualQuota
	}
	var err error
	if h.blobs, err = blob.Open(filepath.Join(h.dir, blobsDir), blob.Config{Quota: quota, PackSize: h.cfg.packSize}); err != nil {
		return err
	}
	h.spaces = workspace.New(workspace.Config{
		Dir: filepath.Join(h.dir, spacesDir), Blobs: h.blobs, Avoid: []string{h.dir}, UserHome: h.getenv("HOME"),
		Keep: f.Keep, MaxFile: f.MaxFile, MaxFiles: f.MaxFiles, MaxBytes: f.MaxBytes, Free: spare.Free, Spare: spareBytes, Room: h.room, Builds: filepath.Join(h.dir, buildsDir),
		Progress: h.cfg.Progress,
	})
	h.cfg.captures, h.cfg.captured = captures{h}, bundledFiles{h, h.blobs}
	return nil
}

// captures is the engine's way to the home's workspaces.
type captures struct{ h *Home }

var (
	_ engine.Contents = captures{}
	_ engine.Progress = captures{}
	_ engine.Keeper   = captures{}
)

func (c captures) Capture(ctx context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	return roomy(ctx, c.h, r.Session, func() (engine.Captured, error) { return c.h.spaces.Capture(ctx, r) })
}

func (c captures) Prepare(ctx context.Context, r engine.RestoreRequest) (engine.Prepared, error) {
	if r.Merge {
		p, err := c.h.spaces.Prepare(ctx, r, nil) // what others have changed there is what differs from the base
		return p, usedUp(err)
	}
	var err error
	if r.Partial, err = c.h.fromElsewhere(ctx, r.Session); err != nil {
		return engine.Prepared{}, err
	}
	return roomy(ctx, c.h, r.Session, func() (engine.Prepared, error) { return c.h.spaces.Prepare(ctx, r, c.h.others(ctx, r)) })
}

func (c captures) Finish(ctx context.Context, r engine.RestoreRequest) (engine.Restored, error) {
	return roomy(ctx, c.h, r.Session, func() (engine.Restored, error) { return c.h.spaces.Finish(ctx, r) })
}

func (c captures) Abandon(ctx context.Context, r engine.RestoreRequest) error {
	return c.h.spaces.Abandon(ctx, r)
}

// Progress is as [engine.Progress] says.
func (c captures) Progress(dir string) string { return c.h.spaces.Progress(dir) }

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
func (c captures) Keep(ctx context.Context, id string, open func() (io.ReadCloser, error)) (store.Digest, int64, func(), error) {
	type content struct {
		digest  store.Digest
		size    int64
		release func()
	}
	got, err := roomy(ctx, c.h, id, func() (content, error) {
		r, err := open()
		if err != nil {
			return content{}, err
		}
		d, n, release, err := c.h.keep(ctx, id, r)
		_ = r.Close() // it was only read
		return content{d, n, release}, err
	})
	return got.digest, got.size, got.release, err
}
