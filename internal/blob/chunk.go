package blob

import (
	"io"
	"math/bits"
	"sync"
)

// Chunks are cut where the content says so, so that a change moves only the cuts beside it. The way is FastCDC with
// normalised chunking, of Xia et al., "FastCDC: a Fast and Efficient Content-Defined Chunking Approach for Data
// Deduplication" (USENIX ATC 2016): a gear hash rolls over the bytes, nothing is cut below the least length, before the
// normal length a cut needs more zero bits than after it. The table and the masks belong to the format only as far as old
// and new chunks are to be shared: any others would be read as well.
const (
	chunkLeast  = 64 << 10
	chunkNormal = 256 << 10
	chunkMost   = 1 << 20
	// A hash of uniform bytes has these bits zero once in 2^20 and once in 2^16 places, two bits more and less than the
	// normal length, as the paper proposes.
	maskHard = (1<<20 - 1) << 44
	maskEasy = (1<<16 - 1) << 48
)

// gear has a random number for each byte, the same in every process: splitmix64 from a fixed seed.
var gear = sync.OnceValue(func() *[256]uint64 {
	var t [256]uint64
	x := uint64(0x9e3779b97f4a7c15)
	for i := range t {
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		t[i] = bits.RotateLeft64(z^z>>31, 17)
	}
	return &t
})

// cut says how many of the bytes are the first chunk. There are chunkMost of them, or the content ends with them.
func cut(b []byte) int {
	if len(b) <= chunkLeast {
		return len(b)
	}
	b = b[:min(len(b), chunkMost)]
	t := gear()
	var h uint64
	i := chunkLeast
	for hard := min(len(b), chunkNormal); i < hard; i++ {
		if h = h<<1 + t[b[i]]; h&maskHard == 0 {
			return i + 1
		}
	}
	for ; i < len(b); i++ {
		if h = h<<1 + t[b[i]]; h&maskEasy == 0 {
			return i + 1
		}
	}
	return len(b)
}

// chunker cuts a stream. Its memory is two times the longest chunk.
type chunker struct {
	r        io.Reader
	buf      []byte
	from, to int
	done     bool
}

// next gives the next chunk, which holds until the call after it, or io.EOF.
func (c *chunker) next() ([]byte, error) {
	if err := c.fill(chunkMost); err != nil {
		return nil, err
	}
	if c.from == c.to {
		return nil, io.EOF
	}
	n := cut(c.buf[c.from:c.to])
	c.from += n
	return c.buf[c.from-n : c.from], nil
}

// fill has at least n bytes in the buffer unless the stream ends before.
func (c *chunker) fill(n int) error {
	if c.done || c.to-c.from >= n {
		return nil
	}
	c.to, c.from = copy(c.buf, c.buf[c.from:c.to]), 0
	for idle := 0; c.to < n; {
		got, err := c.r.Read(c.buf[c.to:])
		c.to += got
		if idle++; got > 0 {
			idle = 0
		}
		if idle > 100 {
			return io.ErrNoProgress
		}
		if err == io.EOF {
			c.done = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 2*chunkMost); return &b }}
