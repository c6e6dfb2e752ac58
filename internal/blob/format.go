package blob

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/perdure/perdure/store"
)

// Sizes of the format, in bytes; see the package documentation.
const (
	packHeaderLen   = 16
	recordHeaderLen = 52
	frameHeaderLen  = 40
	frameTailLen    = 8
	entryLen        = 48
)

var (
	packMagic  = []byte("PRDPACK1")
	frameMagic = []byte("PRDEND1\n")
)

var (
	errTorn   = errors.New("the bytes end in the middle")
	errFormat = errors.New("these bytes are nothing of the format")
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func crcOf(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, castagnoli(), p)
	}
	return sum
}

// kind is how a record's payload stands for its content.
type kind uint8

const (
	kindRaw  kind = 1 // as it is
	kindZstd kind = 2 // one zstd frame
	kindList kind = 3 // digests and lengths of what it consists of
	// kindDelta is the digest of a plain content and what tells this one from it.
	kindDelta kind = 4
)

// plain reports whether a record needs no other one.
func (k kind) plain() bool { return k == kindRaw || k == kindZstd }

// packID is a pack's name, and stands in the pack's header and frames, so that no bytes of another pack pass for its own.
type packID [8]byte

func (id packID) String() string { return hex.EncodeToString(id[:]) }

// parsePackID reads the name that [packID.String] gives.
func parsePackID(s string) (id packID, ok bool) {
	n, err := hex.Decode(id[:], []byte(s[:min(len(s), 16)]))
	return id, err == nil && n == len(id) && id.String() == s
}

func packHeader(id packID) []byte { return append(bytes.Clone(packMagic), id[:]...) }

// record is the header of a record.
type record struct {
	kind   kind
	stored uint32 // bytes of the payload
	raw    uint64 // bytes of the content
	digest store.Digest
	crc    uint32 // of the header before it and the payload
}

// head encodes the header for this payload, and sets its checksum.
func (r *record) head(payload []byte) []byte {
	b := make([]byte, recordHeaderLen)
	b[0] = byte(r.kind)
	binary.LittleEndian.PutUint32(b[4:], r.stored)
	binary.LittleEndian.PutUint64(b[8:], r.raw)
	copy(b[16:], r.digest[:])
	r.crc = crcOf(b[:48], payload)
	binary.LittleEndian.PutUint32(b[48:], r.crc)
	return b
}

// parseRecord reads a header. What it says is within the bounds of the format; its checksum is not looked at.
func parseRecord(b []byte) (r record, err error) {
	r = record{
		kind:   kind(b[0]),
		stored: binary.LittleEndian.Uint32(b[4:]),
		raw:    binary.LittleEndian.Uint64(b[8:]),
		digest: store.Digest(b[16:48]),
		crc:    binary.LittleEndian.Uint32(b[48:]),
	}
	ok := b[1]|b[2]|b[3] == 0 && r.stored <= MaxBlob
	switch r.kind {
	case kindRaw:
		ok = ok && uint64(r.stored) == r.raw
	case kindZstd:
		ok = ok && r.raw <= MaxBlob && uint64(r.stored) < r.raw
	case kindList:
		ok = ok && r.raw <= maxContent
	case kindDelta:
		ok = ok && r.raw <= MaxBlob && uint64(r.stored) < r.raw && r.stored > uint32(deltaHead)
	default:
		ok = false
	}
	if !ok {
		return record{}, errFormat
	}
	return r, nil
}

// sound reports whether header and payload are the ones that were written.
func (r *record) sound(head, payload []byte) bool { return crcOf(head[:48], payload) == r.crc }

// entry is where a record lies in its pack.
type entry struct {
	digest store.Digest
	off    uint64 // of its header
	stored uint32 // bytes of its payload
	kind   kind
	crc    uint32 // as in its header
}

func (e entry) end() int64 { return int64(e.off) + recordHeaderLen + int64(e.stored) }

func appendEntry(b []byte, e entry) []byte {
	b = append(b, e.digest[:]...)
	b = binary.LittleEndian.AppendUint64(b, e.off)
	b = binary.LittleEndian.AppendUint32(b, e.stored|uint32(e.kind)<<24) // MaxBlob has 24 bits
	return binary.LittleEndian.AppendUint32(b, e.crc)
}

func parseEntry(b []byte) entry {
	n := binary.LittleEndian.Uint32(b[40:])
	return entry{store.Digest(b[:32]), binary.LittleEndian.Uint64(b[32:]), n & (1<<24 - 1), kind(n >> 24), binary.LittleEndian.Uint32(b[44:])}
}

// frame ends a batch: the index of its records. It stands where they end.
type frame struct {
	pack    packID
	start   int64 // where the batch begins: the end of the frame before it, or of the pack's header
	off     int64 // where the frame itself begins
	entries []entry
}

func (f frame) size() int64 { return frameSize(len(f.entries)) }

func frameSize(entries int) int64 { return frameHeaderLen + int64(entries)*entryLen + frameTailLen }

func (f frame) end() int64 { return f.off + f.size() }

func (f frame) encode() []byte {
	b := make([]byte, 0, f.size())
	b = append(b, frameMagic...)
	b = append(b, f.pack[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.start))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.off))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.entries)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, e := range f.entries {
		b = appendEntry(b, e)
	}
	b = binary.LittleEndian.AppendUint32(b, crcOf(b))
	return binary.LittleEndian.AppendUint32(b, uint32(f.size()))
}

// readFrame reads the frame that stands at off, of the pack of that name and length. It allocates no more than the pack
// has bytes.
func readFrame(r io.ReaderAt, pack packID, off, size int64) (frame, error) {
	head := make([]byte, frameHeaderLen)
	if off+frameSize(0) > size {
		return frame{}, errTorn
	}
	if _, err := r.ReadAt(head, off); err != nil {
		return frame{}, fmt.Errorf("frame at %d: %w", off, err)
	}
	f := frame{pack: packID(head[8:16]), start: int64(binary.LittleEndian.Uint64(head[16:])), off: int64(binary.LittleEndian.Uint64(head[24:]))}
	n := int64(binary.LittleEndian.Uint32(head[32:]))
	switch {
	case !bytes.Equal(head[:8], frameMagic), f.pack != pack, f.off != off, f.start < packHeaderLen, f.start > off, n > maxFrame:
		return frame{}, errFormat
	case off+frameHeaderLen+n*entryLen+frameTailLen > size:
		return frame{}, errTorn
	}
	rest := make([]byte, n*entryLen+frameTailLen)
	if _, err := r.ReadAt(rest, off+frameHeaderLen); err != nil {
		return frame{}, fmt.Errorf("frame at %d: %w", off, err)
	}
	body, tail := rest[:n*entryLen], rest[n*entryLen:]
	if crcOf(head, body) != binary.LittleEndian.Uint32(tail) {
		return frame{}, errFormat
	}
	f.entries = make([]entry, n)
	at := f.start
	for i := range f.entries {
		e := parseEntry(body[i*entryLen:])
		if int64(e.off) != at || e.stored > MaxBlob || e.end() > off {
			return frame{}, errFormat
		}
		f.entries[i], at = e, e.end()
	}
	if at != off {
		return frame{}, errFormat
	}
	return f, nil
}
