package homes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/spare"
	"github.com/perdure/perdure/store"
)

// Room that a spool leaves on the disk, in bytes, and how often it is looked at.
const (
	spoolRoom  = 64 << 20
	spoolEvery = 16 << 20
)

// Spool keeps a stream in a file of the home that has no name, so that it can be read several times and goes with this
// process, however that ends. It takes at most limit bytes (0: 64 GiB). Errors: bundle.ErrTooLarge, store.ErrFull.
func (h *Home) Spool(ctx context.Context, from io.Reader, limit int64) (*os.File, error) {
	if limit <= 0 {
		limit = 64 << 30
	}
	root, err := realdir.Make(h.dir, "tmp")
	if err != nil {
		return nil, err
	}
	name := "spool-" + rand.Text()
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err == nil {
		err = root.Remove(name)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	if err := h.fillSpool(ctx, f, from, limit); err != nil {
		return nil, errors.Join(fmt.Errorf("read: %w", err), f.Close())
	}
	return f, nil
}

func (h *Home) fillSpool(ctx context.Context, f *os.File, from io.Reader, limit int64) error {
	work := h.Progress().Begin("reading the bundle", "")
	defer work.End()
	for total := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if free := spare.Free(h.dir); free >= 0 && free < spoolRoom+spoolEvery {
			return fmt.Errorf("%w (%d MiB are left at %s)", store.ErrFull, free>>20, h.dir)
		}
		n, err := io.CopyN(f, from, min(spoolEvery, limit+1-total))
		total += n
		work.Add(0, n)
		switch {
		case total > limit:
			return fmt.Errorf("%w: more than %d bytes", bundle.ErrTooLarge, limit)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
