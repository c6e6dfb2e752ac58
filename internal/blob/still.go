package blob

import (
	"bytes"
	"slices"
)

// Mark names the packs that are there. It is for what a caller believes to be stored, from one batch to a later one, of
// another process too: as long as that one finds it [Batch.Still] true, nothing was taken away that this batch had.
func (b *Batch) Mark() []byte {
	b.store.mu.RLock()
	defer b.store.mu.RUnlock()
	ids := make([]packID, 0, len(b.store.packs))
	for id := range b.store.packs {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b packID) int { return bytes.Compare(a[:], b[:]) })
	mark := make([]byte, 0, len(ids)*len(packID{}))
	for _, id := range ids {
		mark = append(mark, id[:]...)
	}
	return mark
}

// Still reports whether all that was there when a mark was made is there, and stays until Close. If not, each content
// that is to be relied on is asked for with Has, or put again. An empty mark is of an empty store.
func (b *Batch) Still(mark []byte) bool {
	const n = len(packID{})
	if len(mark)%n != 0 {
		return false
	}
	b.store.mu.RLock()
	defer b.store.mu.RUnlock()
	for ; len(mark) > 0; mark = mark[n:] {
		if b.store.packs[packID(mark[:n])] == nil {
			return false
		}
	}
	return true
}
