package blob

import "github.com/perdure/perdure/store"

// Record is one record of a pack: a content, or a part of a large one.
type Record struct {
	Digest store.Digest
	Bytes  int64 // in its pack, with its header
}

// Records gives the records that keep a content: one, for a large one its list and its parts, for one that is kept as
// what tells it from its base also that. Others may share them. None: the store does not have it whole. The packs are
// as they were looked at last.
func (s *Store) Records(d store.Digest) []Record {
	p, e, ok := s.find(d)
	if !ok {
		return nil
	}
	out := []Record{{d, e.end() - int64(e.off)}}
	if e.kind.plain() {
		return out
	}
	parts, err := s.needs(p, e)
	if err != nil {
		return nil
	}
	for _, p := range parts {
		_, e, ok := s.find(p)
		if !ok {
			return nil
		}
		out = append(out, Record{p, e.end() - int64(e.off)})
	}
	return out
}
