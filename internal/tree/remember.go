package tree

import "github.com/perdure/perdure/store"

// Remember gives a reader that reads an object once, as long as those that it has come to at most that many bytes; then it
// begins anew. It is for one goroutine, for work that comes to the same directories again and again.
func Remember(r Reader, most int) Reader {
	return &memory{from: r, most: most, has: map[store.Digest][]byte{}}
}

type memory struct {
	from  Reader
	most  int
	bytes int
	has   map[store.Digest][]byte
}

func (m *memory) Get(d store.Digest) ([]byte, error) {
	if b, ok := m.has[d]; ok {
		return b, nil
	}
	b, err := m.from.Get(d)
	if err != nil || len(b) > m.most {
		return b, err
	}
	if m.bytes += len(b); m.bytes > m.most {
		clear(m.has)
		m.bytes = len(b)
	}
	m.has[d] = b
	return b, nil
}
