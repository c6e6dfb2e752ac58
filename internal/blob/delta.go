package blob

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/perdure/perdure/store"
)

// A content that is much like another one, its base, may be kept as what tells it from that: copy these bytes of the base,
// then these new bytes, and so on. Bytes that both have at the front and at the end are found first; what lies between is
// looked up by blocks of the base, as in Tichy, "The String-to-String Correction Problem with Block Moves" (ACM TOCS 1984),
// with a table of hashes.
const (
	deltaHead  = len(store.Digest{}) + 1 // base, form
	deltaLeast = 128                     // bytes of a content below which no delta is tried
	blockLen   = 16                      // bytes of the base that are looked up
	plainForm  = 0                       // instructions as they are
	zstdForm   = 1                       // instructions in a zstd frame, with their length before it
)

var errDelta = errors.New("these are no instructions for this base")

// deltaOf gives the payload of a delta that makes data of base.
func deltaOf(d store.Digest, base, data []byte) ([]byte, error) {
	todo := instructions(base, data)
	out := append(make([]byte, 0, deltaHead+min(len(todo), 1<<10)), d[:]...)
	if len(todo) >= leastZip {
		enc, err := encoder()
		if err != nil {
			return nil, err
		}
		out = append(out, zstdForm)
		out = binary.AppendUvarint(out, uint64(len(todo)))
		out = enc.EncodeAll(todo, out)
		if len(out) < deltaHead+len(todo) {
			return out, nil
		}
		out = out[:len(d)]
	}
	return append(append(out, plainForm), todo...), nil
}

// instructions says how data is made of base. Each is a number: twice a length, and one more if that many new bytes
// follow; otherwise so many bytes of the base are copied, from where the copy before it ended plus the signed number that
// follows.
func instructions(base, data []byte) []byte {
	front := common(base, data)
	end := 0
	for n := min(len(base), len(data)) - front; end < n && base[len(base)-1-end] == data[len(data)-1-end]; {
		end++
	}
	w := deltaWriter{base: base, data: data}
	w.copy(0, 0, front)
	w.moved(len(data) - end)
	w.copy(len(base)-end, len(data)-end, end)
	w.insert(len(data))
	return w.out
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := 0; i < n; i++ {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

type deltaWriter struct {
	base, data []byte
	at         int // data before it is written
	last       int // where in base the last copy ended
	out        []byte
}

// copy writes that n bytes at of data are those at from of base, and what stands before them as new.
func (w *deltaWriter) copy(from, at, n int) {
	if n == 0 {
		return
	}
	w.insert(at)
	w.out = binary.AppendUvarint(w.out, uint64(n)<<1)
	w.out = binary.AppendVarint(w.out, int64(from-w.last))
	w.at, w.last = at+n, from+n
}

// insert writes data up to an offset as new.
func (w *deltaWriter) insert(to int) {
	if to > w.at {
		w.out = binary.AppendUvarint(w.out, uint64(to-w.at)<<1|1)
		w.out = append(w.out, w.data[w.at:to]...)
		w.at = to
	}
}

// moved looks for blocks of the base in data up to an offset. Its time is in proportion to both.
func (w *deltaWriter) moved(to int) {
	if to-w.at < 2*blockLen || len(w.base) < blockLen {
		return
	}
	size := 1
	for size < 2*len(w.base)/blockLen {
		size <<= 1
	}
	table := make([]int32, size) // where a block begins, plus one
	for from := 0; from+blockLen <= len(w.base); from += blockLen {
		if h := blockHash(w.base[from:]) & uint64(size-1); table[h] == 0 {
			table[h] = int32(from + 1) //nolint:gosec // a base has at most MaxBlob bytes
		}
	}
	for at := w.at; at+blockLen <= to; {
		from := int(table[blockHash(w.data[at:])&uint64(size-1)]) - 1
		if from < 0 || !bytes.Equal(w.base[from:from+blockLen], w.data[at:at+blockLen]) {
			at++
			continue
		}
		n := blockLen + common(w.base[from+blockLen:], w.data[at+blockLen:to])
		for at > w.at && from > 0 && w.base[from-1] == w.data[at-1] {
			at, from, n = at-1, from-1, n+1
		}
		w.copy(from, at, n)
		at += n
	}
}

// blockHash mixes the first bytes of b.
func blockHash(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15
	x ^= binary.LittleEndian.Uint64(b[8:]) * 0xc2b2ae3d27d4eb4f
	return x ^ x>>29 ^ x>>47
}

// baseIn gives the base that a delta's payload names.
func baseIn(payload []byte) (store.Digest, error) {
	if len(payload) < deltaHead {
		return store.Digest{}, errDelta
	}
	return store.Digest(payload[:deltaHead-1]), nil
}

// apply makes a content of length raw, at most [MaxBlob], of the payload of a delta and its base. Whatever the bytes say,
// it makes no more of them than that.
func apply(payload, base []byte, raw uint64) ([]byte, error) {
	if len(payload) < deltaHead {
		return nil, errDelta
	}
	todo := payload[deltaHead:]
	switch payload[deltaHead-1] {
	case plainForm:
	case zstdForm:
		size, n := binary.Uvarint(todo)
		if n <= 0 || size > MaxBlob {
			return nil, errDelta
		}
		var err error
		if todo, err = unsqueeze(todo[n:], size); err != nil {
			return nil, err
		}
	default:
		return nil, errDelta
	}
	return follow(todo, base, raw)
}

func follow(todo, base []byte, raw uint64) ([]byte, error) {
	out := make([]byte, 0, raw)
	last := int64(0)
	for len(todo) > 0 {
		head, n := binary.Uvarint(todo)
		size := head >> 1
		if n <= 0 || size == 0 || size > raw-uint64(len(out)) {
			return nil, errDelta
		}
		if todo = todo[n:]; head&1 == 1 {
			if size > uint64(len(todo)) {
				return nil, errDelta
			}
			out, todo = append(out, todo[:size]...), todo[size:]
			continue
		}
		step, n := binary.Varint(todo)
		if n <= 0 || step < -last || step > int64(len(base))-last || size > uint64(int64(len(base))-last-step) {
			return nil, errDelta
		}
		from := last + step
		out, todo, last = append(out, base[from:from+int64(size)]...), todo[n:], from+int64(size)
	}
	if uint64(len(out)) != raw {
		return nil, errDelta
	}
	return out, nil
}
