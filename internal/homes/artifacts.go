package homes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrNoArtifact says that a session has no artifact of that name.
var ErrNoArtifact = errors.New("it has no such artifact")

// KeepArtifact keeps what is read with a session, under a.Name; one that has the name already is replaced in the list.
// Its bytes are durable before the log names them. Errors: engine.ErrRefused for a name that cannot be, those of the
// reader, a full disk or quota, store.ErrNotFound.
func (h *Home) KeepArtifact(ctx context.Context, id string, a session.Artifact, r io.Reader) (session.Artifact, error) {
	if h.blobs == nil {
		return a, errOff
	}
	if _, err := h.store.Get(ctx, id); err != nil {
		return a, err
	}
	seeker, again := r.(io.ReadSeeker)
	first := true
	a, err := roomy(ctx, h, id, func() (session.Artifact, error) {
		if !first && !again {
			return a, errors.New("it cannot be read twice: try again")
		}
		if !first {
			if _, err := seeker.Seek(0, io.SeekStart); err != nil {
				return a, err
			}
		}
		first = false
		return h.keepArtifact(ctx, id, a, r)
	})
	if err != nil {
		return a, fmt.Errorf("session %s: keep %q: %w", id, a.Name, err)
	}
	return a, nil
}

func (h *Home) keepArtifact(ctx context.Context, id string, a session.Artifact, r io.Reader) (session.Artifact, error) {
	d, n, release, err := h.keep(ctx, id, r)
	if err != nil {
		return a, err
	}
	defer release()
	a.Digest, a.Size = d, n
	return a, h.Deliver(ctx, id, h.eng.NewKey(), &session.ArtifactAdded{Artifact: a})
}

// keep makes what is read durable, within the room of a session. No sweep takes it before release; after an error there
// is nothing to release.
func (h *Home) keep(ctx context.Context, id string, r io.Reader) (d store.Digest, size int64, release func(), err error) {
	batch, err := h.blobs.Batch(ctx)
	if err != nil {
		return d, 0, nil, err
	}
	room, err := h.room(ctx, id)
	if err == nil {
		room.Bound(batch)
		d, size, err = batch.PutFrom(reading{ctx, r})
	}
	if err == nil {
		err = room.Commit(batch)
	}
	if err != nil {
		return d, 0, nil, errors.Join(err, batch.Close())
	}
	return d, size, func() {
		if err := batch.Close(); err != nil {
			h.cfg.Log.Warn("what was kept was not let go", "error", err)
		}
	}, nil
}

// reading reads until its context is done.
type reading struct {
	ctx context.Context //nolint:containedctx // of one call
	r   io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Artifacts lists what is kept with a session, the oldest first. Names and notes are data.
func (h *Home) Artifacts(ctx context.Context, id string) ([]session.Artifact, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(st.Workspace.Artifacts), nil
}

// WriteArtifact writes what a session has kept under a name; only bytes that are as they were kept count as written.
// Errors: ErrNoArtifact, blob.ErrMissing, blob.ErrDamaged, the writer's.
func (h *Home) WriteArtifact(ctx context.Context, id, name string, w io.Writer) (session.Artifact, error) {
	all, err := h.Artifacts(ctx, id)
	if err != nil {
		return session.Artifact{}, err
	}
	i := slices.IndexFunc(all, func(a session.Artifact) bool { return a.Name == name })
	if i < 0 {
		return session.Artifact{}, fmt.Errorf("session %s: %q: %w", id, name, ErrNoArtifact)
	}
	err = h.readBlob(ctx, all[i].Digest, w)
	if err != nil {
		err = fmt.Errorf("session %s: %q: %w", id, name, err)
	}
	return all[i], err
}

func (h *Home) readBlob(ctx context.Context, d store.Digest, w io.Writer) error {
	return h.withBlobs(func(blobs *blob.Store) error {
		r, _, err := blobs.Open(d)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, reading{ctx, r})
		return errors.Join(err, r.Close())
	})
}
