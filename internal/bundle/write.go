package bundle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

// Writer writes one bundle. What it is handed has to be what the header announced, in the order of the methods. After an
// error every call returns it, and what was written is worth nothing.
type Writer struct {
	to     io.Writer
	sum    *blake3.Hasher
	zip    *zstd.Encoder
	frames uint64
	want   Counts
	have   Counts
	buf    []byte // events that wait for their frame
	packed []byte
	err    error
}

// NewWriter begins a bundle with its header.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithSingleSegment(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, sum: blake3.New(), zip: zip, want: h.Counts}
	h.Format, h.Version = Format, Version
	w.write([]byte(preface + string(rune(Version))))
	w.json(typeHeader, h)
	return w, w.err
}

// Log writes a log with its events, which end at the log's head.
func (w *Writer) Log(l Log, events iter.Seq2[store.Event, error]) error {
	w.json(typeLog, l)
	w.have.Logs++
	head, bytes := store.Head{Hash: l.Base()}, int64(0)
	for e, err := range events {
		if w.err == nil && err == nil && e.Seq != head.Seq+1 {
			err = fmt.Errorf("event %d of %s follows %d", e.Seq, l.Session, head.Seq)
		}
		if w.err == nil {
			w.err = err
		}
		if w.err != nil {
			return w.err
		}
		head = store.Head{Seq: e.Seq, Hash: e.Hash}
		bytes += int64(len(e.Body))
		w.have.Events++
		if len(w.buf) > 0 && len(w.buf)+len(e.Body) > frameSize {
			w.flush()
		}
		w.buf = appendEventHead(w.buf, e)
		if len(e.Body) > frameSize { // alone in its frame, and nowhere else in memory
			if w.frame(typeEvents, w.buf, e.Body); w.err != nil {
				w.err = fmt.Errorf("event %d of %s: %w", e.Seq, l.Session, w.err)
			}
			w.buf = w.buf[:0]
			continue
		}
		w.buf = append(w.buf, e.Body...)
	}
	w.flush()
	w.have.EventBytes += bytes
	if w.err == nil && (head != l.Head || bytes != l.Bytes) {
		w.err = fmt.Errorf("the log of %s ends at event %d with %d bytes: announced were %d with %d", l.Session, head.Seq, bytes, l.Head.Seq, l.Bytes)
	}
	return w.err
}

func (w *Writer) flush() {
	if len(w.buf) > 0 {
		w.frame(typeEvents, w.buf)
		w.buf = w.buf[:0]
	}
}

// File writes a file, exactly as long as it says; what comes after that is not read.
func (w *Writer) File(f File, content io.Reader) error {
	w.json(typeFile, f)
	w.have.Files++
	w.have.FileBytes += f.Size
	w.data(content, f.Size, f.Digest)
	return w.err
}

// Tree writes a tree object.
func (w *Writer) Tree(d store.Digest, object []byte) error {
	w.frame(typeTree, append(d[:], object...))
	w.have.Trees++
	w.have.TreeBytes += int64(len(object))
	return w.err
}

// Blob writes a content of any size.
func (w *Writer) Blob(b Blob, content io.Reader) error {
	w.frame(typeBlob, binary.BigEndian.AppendUint64(b.Digest[:], uint64(b.Size)))
	w.have.Blobs++
	w.have.BlobBytes += b.Size
	w.data(content, b.Size, b.Digest)
	return w.err
}

// Close writes the end. Without it there is no bundle. It leaves the stream open.
func (w *Writer) Close() error {
	if w.err == nil && w.have != w.want {
		w.err = fmt.Errorf("the bundle holds %+v: announced were %+v", w.have, w.want)
	}
	end := binary.BigEndian.AppendUint64(nil, w.frames)
	w.frame(typeEnd, w.sum.Sum(end))
	err := w.err
	if w.err == nil {
		w.err = errors.New("the bundle is closed")
	}
	return errors.Join(err, w.zip.Close())
}

// data writes a content, which has to be what was announced: it may have changed since it was looked at.
func (w *Writer) data(content io.Reader, size int64, want store.Digest) {
	buf, sum := make([]byte, min(size, frameSize)), blake3.New()
	for size > 0 && w.err == nil {
		part := buf[:min(size, frameSize)]
		if _, err := io.ReadFull(content, part); err != nil {
			w.err = fmt.Errorf("%d bytes before its end: %w", size, err)
			return
		}
		_, _ = sum.Write(part) // a hash takes everything
		w.frame(typeData, part)
		size -= int64(len(part))
	}
	if w.err == nil && !bytes.Equal(sum.Sum(nil), want[:]) {
		w.err = errors.New("a content changed while it was read")
	}
}

func (w *Writer) json(typ byte, v any) {
	b, err := json.Marshal(v)
	if err == nil && len(b) > maxJSON {
		err = fmt.Errorf("%d bytes of description: at most %d", len(b), maxJSON)
	}
	if w.err == nil {
		w.err = err
	}
	w.frame(typ, b)
}

// frame writes one frame of all the parts, packed if that makes it smaller.
func (w *Writer) frame(typ byte, parts ...[]byte) {
	if w.err != nil {
		return
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if size > maxFrame {
		w.err = fmt.Errorf("%d bytes in one piece: at most %d: %w", size, maxFrame, ErrTooLarge)
		return
	}
	stored, how := parts, byte(storedRaw)
	if packed, smaller := w.pack(parts, size); smaller && typ != typeEnd {
		stored, how = packed, storedZstd
	}
	if w.err != nil {
		return
	}
	length := 0
	for _, p := range stored {
		length += len(p)
	}
	head := frameHead(typ, how, size, length)
	w.write(binary.LittleEndian.AppendUint32(head, checksum(head, stored...)))
	for _, p := range stored {
		w.write(p)
	}
	w.frames++
}

// pack packs the parts of a frame, and reports whether that made it smaller.
func (w *Writer) pack(parts [][]byte, size int) ([][]byte, bool) {
	if len(parts) == 1 {
		w.packed = w.zip.EncodeAll(parts[0], w.packed[:0])
		return [][]byte{w.packed}, len(w.packed) < size
	}
	to := &pieces{most: size}
	w.zip.ResetContentSize(to, int64(size))
	err := error(nil)
	for _, p := range parts {
		if err == nil {
			_, err = w.zip.Write(p)
		}
	}
	if err == nil {
		err = w.zip.Close()
	}
	if err != nil && !errors.Is(err, errNotSmaller) {
		w.err = err
	}
	w.zip.Reset(nil) // an error stays otherwise
	return to.all, err == nil && to.bytes < size
}

// pieces takes a stream into memory, as long as it is shorter than it may be.
type pieces struct {
	all   [][]byte
	bytes int
	most  int
}

var errNotSmaller = errors.New("packing makes it no smaller")

func (p *pieces) Write(b []byte) (int, error) {
	if p.bytes += len(b); p.bytes >= p.most {
		p.all = nil
		return 0, errNotSmaller
	}
	p.all = append(p.all, bytes.Clone(b))
	return len(b), nil
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	_, _ = w.sum.Write(b) // a hash takes everything
	if n, err := w.to.Write(b); err != nil || n < len(b) {
		w.err = errors.Join(err, io.ErrShortWrite)
		if err != nil {
			w.err = err
		}
	}
}

// frameHead is a frame's header without the checksum.
func frameHead(typ, how byte, raw, stored int) []byte {
	head := append(make([]byte, 0, headerSize), typ, how, 0, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(raw))
	return binary.LittleEndian.AppendUint32(head, uint32(stored))
}

// checksum covers a frame's header and what is stored of it.
func checksum(head []byte, stored ...[]byte) uint32 {
	sum := crc32.Checksum(head, castagnoli())
	for _, p := range stored {
		sum = crc32.Update(sum, castagnoli(), p)
	}
	return sum
}
