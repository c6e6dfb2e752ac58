package homes

import (
	"context"
	"errors"
	"slices"

	"github.com/perdure/perdure/store"
)

// heldAlone measures how many bytes of packs a session needs that no other one does, for each of several ways to thin it,
// each of which keeps no more than the one before. It reads all trees of the home that are kept.
func (h *Home) heldAlone(ctx context.Context, id string, ways []thinning) ([]int64, error) {
	all, err := h.everySession(ctx)
	if err != nil {
		return nil, err
	}
	forks := map[string][]int64{}
	for _, info := range all {
		if p := info.Parent; p != nil {
			forks[p.Session] = append(forks[p.Session], p.Seq)
		}
	}
	type record struct {
		bytes int64
		way   int32 // the last one that keeps it
	}
	alone := map[store.Digest]record{}
	way := len(ways) - 1
	k := h.keeping(h.blobs, nil)
	k.each = true
	k.found = func(_ string, d store.Digest) {
		for _, r := range h.blobs.Records(d) {
			if _, known := alone[r.Digest]; !known {
				alone[r.Digest] = record{r.Bytes, int32(way)} //nolint:gosec // of a few
			}
		}
	}
	k.thin = func(string) thinning { return ways[way] }
	for slices.Sort(forks[id]); way >= 0; way-- {
		clear(k.read)
		if err := k.session(ctx, id, forks[id]); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	others := h.keeping(h.blobs, func(_ string, d store.Digest) {
		for _, r := range h.blobs.Records(d) {
			delete(alone, r.Digest)
		}
	})
	others.trees = k.trees
	for other, info := range all {
		if other == id || len(alone) == 0 {
			continue
		}
		slices.Sort(forks[other])
		if err := others.session(ctx, info.ID, forks[other]); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	out := make([]int64, len(ways))
	for _, r := range alone {
		for i := range int(r.way) + 1 {
			out[i] += r.bytes
		}
	}
	return out, nil
}
