package bundle

import (
	"encoding/binary"
	"io"
	"runtime"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

// next reads the next frame. Its checksum, and what it may be, are checked before it is unpacked; no more is unpacked than
// it announced, and it announces no more than maxFrame.
func (r *reader) next() (frame, error) {
	head := make([]byte, headerSize)
	r.stored = r.stored[:0]
	if _, err := io.ReadFull(r.from, head); err != nil {
		return frame{}, cutOff(err)
	}
	typ, how := head[0], head[1]
	raw, stored := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	switch {
	case typ < typeHeader || typ > typeEnd || head[2] != 0 || head[3] != 0 || how > storedZstd:
		return frame{}, unsound("frame %d is of no known type", r.frames)
	case raw > maxFrame || how == storedRaw && stored != raw || how == storedZstd && stored >= raw:
		return frame{}, unsound("frame %d has %d bytes, stored as %d", r.frames, raw, stored)
	}
	if raw > largeFrame {
		runtime.GC() // else what the large one before it took is taken once more
	}
	var err error
	if r.stored, err = readN(r.from, r.stored, int(stored)); err != nil {
		return frame{}, cutOff(err)
	}
	if binary.LittleEndian.Uint32(head[12:]) != checksum(head[:12], r.stored) {
		return frame{}, unsound("frame %d does not match its checksum", r.frames)
	}
	if typ != typeEnd { // which has the digest of what is before it
		_, _ = r.sum.Write(head) // a hash takes everything
		_, _ = r.sum.Write(r.stored)
	}
	r.frames++
	f := frame{typ: typ, raw: r.stored}
	if how == storedZstd {
		f.raw, err = r.unpack(int(raw))
		r.letGo()
	}
	return f, err
}

// own makes the newest frame's bytes the caller's for good.
func (r *reader) own(f frame) []byte {
	if cap(r.stored) > 0 && cap(f.raw) > 0 && &f.raw[:1][0] == &r.stored[:1][0] {
		r.stored = nil
	}
	return f.raw
}

// letGo forgets a buffer that one large frame has needed.
func (r *reader) letGo() {
	if cap(r.stored) > 2*frameSize {
		r.stored = nil
	}
}

// unpack unpacks what is stored into as many bytes as it announced, or fails.
func (r *reader) unpack(size int) ([]byte, error) {
	var head zstd.Header
	if err := head.Decode(r.stored); err != nil || !head.HasFCS || head.FrameContentSize != uint64(size) {
		return nil, unsound("frame %d does not say that it unpacks into its %d bytes", r.frames-1, size)
	}
	out, err := r.zip.DecodeAll(r.stored, make([]byte, 0, size))
	if err != nil || len(out) != size {
		return nil, unsound("frame %d cannot be unpacked into its %d bytes", r.frames-1, size)
	}
	return out, nil
}

// readN reads n bytes into buf. Room for many is taken only when some of them have really come.
func readN(from io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) < n {
		at, to := len(buf), n
		if at == 0 {
			to = min(n, max(cap(buf), frameSize))
		}
		if to > cap(buf) {
			buf = append(make([]byte, 0, to), buf...)
		}
		buf = buf[:to]
		if _, err := io.ReadFull(from, buf[at:]); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// content hands out the data frames that follow, and checks them against their digest.
func (r *reader) content(name string, size int64, want store.Digest, take func(io.Reader) error) error {
	c := &content{r: r, left: size, sum: blake3.New()}
	if take != nil {
		if err := take(c); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	var got store.Digest
	c.sum.Sum(got[:0])
	if got != want {
		return unsound("%s does not match its digest", name)
	}
	return nil
}

// content is the bytes of data frames.
type content struct {
	r    *reader
	rest []byte // of the newest frame
	left int64  // of the content, after rest
	sum  *blake3.Hasher
	err  error
}

// Read gives bytes as they come. That they match their digest is known at the end.
func (c *content) Read(p []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		if c.left == 0 {
			return 0, io.EOF
		}
		f, err := c.r.next()
		switch {
		case err != nil:
			c.err = err
		case f.typ != typeData || len(f.raw) == 0 || int64(len(f.raw)) > c.left:
			c.err = unsound("a content does not have the size announced")
		default:
			c.rest, c.left = f.raw, c.left-int64(len(f.raw))
		}
	}
	if c.err != nil {
		return 0, c.err
	}
	n := copy(p, c.rest)
	_, _ = c.sum.Write(p[:n])
	c.rest = c.rest[n:]
	return n, nil
}
