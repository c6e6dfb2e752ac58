package blob

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	sniffLen = 4 << 10 // bytes that are tried before a larger content is compressed
	codecs   = 2       // contents that are compressed, or decompressed, at a time
	leastZip = 64      // bytes below which nothing is compressed
)

// The coders are made when they are first needed: their tables take a millisecond and some hundred KiB.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(codecs),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(ChunkMin), zstd.WithLowerEncoderMem(true))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(codecs), zstd.WithDecoderMaxMemory(MaxBlob),
			zstd.WithDecodeAllCapLimit(true))
	})
)

// squeeze gives what is stored of a content: itself, or less in buf's memory.
func squeeze(data, buf []byte) (kind, []byte, error) {
	if len(data) < leastZip {
		return kindRaw, data, nil
	}
	enc, err := encoder()
	if err != nil {
		return 0, nil, err
	}
	if len(data) > 4*sniffLen {
		// The first bytes of a compressed file are its header: what is tried lies behind it.
		sample := data[sniffLen/2:][:sniffLen]
		if !smaller(enc.EncodeAll(sample, buf[:0]), sample) {
			return kindRaw, data, nil
		}
	}
	if out := enc.EncodeAll(data, buf[:0]); smaller(out, data) {
		return kindZstd, out, nil
	}
	return kindRaw, data, nil
}

// smaller asks for a 32nd at least, which decompressing is worth.
func smaller(out, in []byte) bool { return len(out)+len(in)/32 < len(in) }

// unsqueeze gives the content of length raw, at most [MaxBlob]. Whatever the bytes say, it makes no more of them than that.
func unsqueeze(payload []byte, raw uint64) ([]byte, error) {
	dec, err := decoder()
	if err != nil {
		return nil, err
	}
	out, err := dec.DecodeAll(payload, make([]byte, 0, raw))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if uint64(len(out)) != raw {
		return nil, fmt.Errorf("decompress: %d bytes instead of %d", len(out), raw)
	}
	return out, nil
}
