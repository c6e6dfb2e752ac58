package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/perdure/perdure/store"
)

const (
	idxHeaderLen = 56
	fanLen       = 256 * 4
	bloomBlock   = 64 // bytes; all bits of a digest lie in one block
	bloomProbes  = 8
	bucketMost   = 64 << 10 // bytes of entries that are read at a time
)

var idxMagic = []byte("PRDIDX1\n")

var errIdx = errors.New("it is no index of this pack")

// idx is the part of an index file that is kept in memory: where to look, and whether to look at all.
type idx struct {
	covers int64 // the pack's bytes that it speaks of, durable
	fan    [256]uint32
	bloom  []byte
	at     int64  // where the entries begin
	sum    uint32 // crc32c of the entries
	f      file   // nil: opened when it is needed
	whole  bool   // the entries were compared with their checksum
}

// encodeIdx is the file for entries of a pack's first bytes. It sorts them; of several with one digest the last is kept.
func encodeIdx(pack packID, covers int64, entries []entry) []byte {
	sort.SliceStable(entries, func(i, j int) bool { return bytes.Compare(entries[i].digest[:], entries[j].digest[:]) < 0 })
	bloom := make([]byte, bloomSize(len(entries)))
	var fan [256]uint32
	body := make([]byte, 0, len(entries)*entryLen)
	for i, e := range entries {
		if i+1 < len(entries) && entries[i+1].digest == e.digest {
			continue
		}
		fan[e.digest[0]]++
		setBloom(bloom, e.digest)
		body = appendEntry(body, e)
	}
	b := make([]byte, 0, idxHeaderLen+fanLen+len(bloom)+len(body))
	b = append(b, idxMagic...)
	b = append(b, pack[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(covers))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)/entryLen))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(bloom)/bloomBlock))
	b = binary.LittleEndian.AppendUint32(b, crcOf(body))
	b = append(b, make([]byte, idxHeaderLen-len(b))...)
	sum := uint32(0)
	for _, n := range fan {
		sum += n
		b = binary.LittleEndian.AppendUint32(b, sum)
	}
	b = append(b, bloom...)
	binary.LittleEndian.PutUint32(b[idxHeaderLen-4:], crcOf(b[:idxHeaderLen-4], b[idxHeaderLen:]))
	return append(b, body...)
}

// readIdx reads all but the entries. What it allocates is bounded by the file's size.
func readIdx(f file, pack packID, packSize int64) (*idx, error) {
	size, err := f.size()
	if err != nil {
		return nil, err
	}
	head := make([]byte, idxHeaderLen+fanLen)
	if size < int64(len(head)) {
		return nil, errIdx
	}
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	covers, n := binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint64(head[24:])
	blocks := binary.LittleEndian.Uint64(head[32:])
	limit := uint64(size)
	if !bytes.Equal(head[:8], idxMagic) || packID(head[8:16]) != pack || n > limit/entryLen || blocks > limit/bloomBlock ||
		covers > uint64(packSize) || covers < packHeaderLen ||
		uint64(len(head))+blocks*bloomBlock+n*entryLen != limit {
		return nil, errIdx
	}
	x := &idx{covers: int64(covers), sum: binary.LittleEndian.Uint32(head[40:]), bloom: make([]byte, blocks*bloomBlock)}
	if _, err := f.ReadAt(x.bloom, int64(len(head))); err != nil {
		return nil, err
	}
	if crcOf(head[:idxHeaderLen-4], head[idxHeaderLen:], x.bloom) != binary.LittleEndian.Uint32(head[idxHeaderLen-4:]) {
		return nil, errIdx
	}
	for i := range x.fan {
		x.fan[i] = binary.LittleEndian.Uint32(head[idxHeaderLen+i*4:])
		if i > 0 && x.fan[i] < x.fan[i-1] {
			return nil, errIdx
		}
	}
	if uint64(x.fan[255]) != n {
		return nil, errIdx
	}
	x.at = int64(len(head)) + int64(len(x.bloom))
	return x, nil
}

// find looks an entry up in the file. One that the pack could not have is taken for none.
func (x *idx) find(f io.ReaderAt, d store.Digest) (entry, bool, error) {
	lo, hi := uint32(0), x.fan[d[0]]
	if d[0] > 0 {
		lo = x.fan[d[0]-1]
	}
	buf := make([]byte, 0, min(bucketMost, int(hi-lo)*entryLen))
	for hi-lo > bucketMost/entryLen {
		mid := lo + (hi-lo)/2
		if _, err := f.ReadAt(buf[:entryLen], x.at+int64(mid)*entryLen); err != nil {
			return entry{}, false, fmt.Errorf("index: %w", err)
		}
		if bytes.Compare(buf[:len(d)], d[:]) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	buf = buf[:int(hi-lo)*entryLen]
	if _, err := f.ReadAt(buf, x.at+int64(lo)*entryLen); err != nil && len(buf) > 0 {
		return entry{}, false, fmt.Errorf("index: %w", err)
	}
	for ; len(buf) > 0; buf = buf[entryLen:] {
		if bytes.Equal(buf[:len(d)], d[:]) {
			e := parseEntry(buf)
			return e, e.off >= packHeaderLen && e.off < uint64(x.covers) && e.stored <= MaxBlob && e.end() <= x.covers, nil
		}
	}
	return entry{}, false, nil
}

// all reads every entry, and refuses a file that is not what was written.
func (x *idx) all(f io.ReaderAt) ([]entry, error) {
	b := make([]byte, int(x.fan[255])*entryLen)
	if _, err := f.ReadAt(b, x.at); err != nil && len(b) > 0 {
		return nil, err
	}
	if crcOf(b) != x.sum {
		return nil, errIdx
	}
	entries := make([]entry, x.fan[255])
	for i := range entries {
		entries[i] = parseEntry(b[i*entryLen:])
	}
	return entries, nil
}

// bloomSize is two bytes for each entry: of a thousand digests that are not there one or two pass.
func bloomSize(entries int) int { return max(1, (entries*2+bloomBlock-1)/bloomBlock) * bloomBlock }

// may reports whether a digest can be in the index.
func (x *idx) may(d store.Digest) bool {
	block := bloomAt(x.bloom, d)
	if block == nil {
		return false
	}
	for i := range bloomProbes {
		if bit := probe(d, i); block[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

func setBloom(bloom []byte, d store.Digest) {
	block := bloomAt(bloom, d)
	for i := range bloomProbes {
		bit := probe(d, i)
		block[bit/8] |= 1 << (bit % 8)
	}
}

// A digest is uniform already: its bytes choose block and bits.
func bloomAt(bloom []byte, d store.Digest) []byte {
	blocks := uint64(len(bloom) / bloomBlock)
	if blocks == 0 {
		return nil
	}
	return bloom[binary.LittleEndian.Uint64(d[8:])%blocks*bloomBlock:][:bloomBlock]
}

func probe(d store.Digest, i int) uint16 {
	return binary.LittleEndian.Uint16(d[16+2*i:]) % (bloomBlock * 8)
}
