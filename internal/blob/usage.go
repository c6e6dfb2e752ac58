package blob

import "fmt"

// Usage is what a store takes.
type Usage struct {
	Packs   int
	Bytes   int64 // of all packs
	Records int   // contents, and chunks of large ones; several copies of one are counted each
}

// Usage looks at the packs.
func (s *Store) Usage() (Usage, error) {
	if err := s.refresh(); err != nil {
		return Usage{}, fmt.Errorf("usage: %w", err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var u Usage
	for _, p := range s.packs {
		u.Packs++
		u.Bytes += p.size
		u.Records += len(p.recent)
		if p.idx != nil {
			u.Records += int(p.idx.fan[255])
		}
	}
	return u, nil
}
