package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/store"
)

// When blobs are swept without being asked to: at the end of a process that has kept some, once in a while, if much was
// added since, and for a moment only.
const (
	sweepEvery  = 24 * time.Hour
	sweepOver   = 256 << 20 // bytes that were added since the last time
	sweepMoment = 2 * time.Second
	sweptName   = "swept" // beside the packs: when they were swept last, in ms, and how many bytes were left

	roomEvery = 10 * time.Minute // between two attempts of a process to make room below the quota
	roomMost  = 20 * time.Second // that one takes: who asks may have a batch open, for which it waits
)

// swept is what a home knows of its sweeping.
type swept struct {
	mu   sync.Mutex
	room time.Time // of the last attempt to make room
	kept bool      // this process has kept something
}

// Sweep takes away what of captured files and artifacts no session needs any more: old captures are thinned, and what
// belonged to deleted sessions goes. It may be killed or canceled at any point. An error means that
// something may not have been found, so that all stays that is left.
func (h *Home) Sweep(ctx context.Context) (blob.Swept, error) {
	var out blob.Swept
	work := h.Progress().Begin("sweeping what no session needs", "")
	defer work.End()
	err := h.withBlobs(func(blobs *blob.Store) error {
		var found []store.Digest
		k := h.keeping(blobs, func(_ string, d store.Digest) { found = append(found, d) })
		roots := func(ctx context.Context) (func(func(store.Digest) bool), error) {
			found = found[:0]
			if err := errors.Join(k.look(ctx), k.keepApplies(ctx), k.keepRestores()); err != nil {
				return nil, err
			}
			return slices.Values(found), nil
		}
		// The roots are all that is kept: they name nothing that is not among them.
		links := func(store.Digest) ([]store.Digest, error) { return nil, nil }
		var err error
		if out, err = blobs.Sweep(ctx, roots, links, work.Sized); err != nil {
			return err
		}
		u, err := blobs.Usage()
		if err == nil {
			h.noteSwept(u.Bytes)
		}
		return err
	})
	return out, err
}

// withBlobs gives the home's blobs, also where nothing is captured.
func (h *Home) withBlobs(do func(*blob.Store) error) error {
	if h.blobs != nil {
		return do(h.blobs)
	}
	blobs, err := blob.Open(filepath.Join(h.dir, "blobs"), blob.Config{})
	if err != nil {
		return err
	}
	return errors.Join(do(blobs), blobs.Close())
}

// noteSwept writes down when and what was left, where there are blobs. It is only a hint.
func (h *Home) noteSwept(left int64) {
	text := fmt.Sprintf("%d %d\n", h.cfg.Now().UnixMilli(), left)
	_ = os.WriteFile(filepath.Join(h.dir, "blobs", sweptName), []byte(text), 0o600)
}

// lastSwept reads what noteSwept wrote; false: there is nothing to go by.
func (h *Home) lastSwept() (when time.Time, left int64, ok bool) {
	b, err := os.ReadFile(filepath.Join(h.dir, "blobs", sweptName))
	if err != nil {
		return time.Time{}, 0, errors.Is(err, fs.ErrNotExist)
	}
	ms, rest, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	at, err := strconv.ParseInt(ms, 10, 64)
	if err == nil {
		left, err = strconv.ParseInt(rest, 10, 64)
	}
	return time.UnixMilli(at), left, err == nil
}

// sweepAtEnd sweeps for a moment at the end of a process, if it is time and over so many bytes were added.
func (h *Home) sweepAtEnd(over int64) {
	h.swept.mu.Lock()
	kept := h.swept.kept
	h.swept.mu.Unlock()
	if !kept || h.blobs == nil {
		return
	}
	when, left, ok := h.lastSwept()
	if ok && h.cfg.Now().Sub(when) < sweepEvery {
		return
	}
	u, err := h.blobs.Usage()
	if err != nil || u.Bytes-left < over {
		return
	}
	h.noteSwept(u.Bytes) // also if it is not done in time: the next try is tomorrow's
	ctx, cancel := context.WithTimeout(context.Background(), sweepMoment)
	defer cancel()
	if _, err := h.Sweep(ctx); err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("what no session needs was not swept", "error", err)
	}
}

// hasKept notes that this process has kept something.
func (h *Home) hasKept() {
	h.swept.mu.Lock()
	defer h.swept.mu.Unlock()
	h.swept.kept = true
}

// makeRoom sweeps because the quota is used up, and reports whether that gave any room.
func (h *Home) makeRoom(ctx context.Context) bool {
	h.swept.mu.Lock()
	defer h.swept.mu.Unlock() // who comes meanwhile waits, and tries again with what it gave
	now := h.cfg.Now()
	if d := now.Sub(h.swept.room); d >= 0 && d < roomEvery {
		return false
	}
	h.swept.room = now
	ctx, cancel := context.WithTimeout(ctx, roomMost)
	defer cancel()
	done, err := h.Sweep(ctx)
	if err != nil {
		h.cfg.Log.Warn("the quota of files is used up, and nothing could be swept", "error", err)
	}
	return done.Freed > 0
}

// roomy does what may need more than the quotas have, of a session or, with an empty id, of none; then room is made
// once, and it is done again.
func roomy[T any](ctx context.Context, h *Home, id string, do func() (T, error)) (T, error) {
	h.hasKept()
	v, err := do()
	if errors.Is(err, blob.ErrBound) && id != "" {
		more, roomErr := h.makeSessionRoom(ctx, id)
		if roomErr != nil {
			h.cfg.Log.Warn("a session's room is used up, and what it holds cannot be told", "session", id, "error", roomErr)
		}
		if more {
			v, err = do()
		}
	}
	if errors.Is(err, blob.ErrQuota) && h.makeRoom(ctx) {
		v, err = do()
	}
	return v, usedUp(err)
}

// usedUp gives the error about a quota in words that say what can be done.
func usedUp(err error) error {
	switch {
	case errors.Is(err, blob.ErrBound):
		return errSessionRoom
	case errors.Is(err, blob.ErrQuota):
		return errHomeRoom
	}
	return err
}
