package bundle_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/bundle"
)

// Types of frames, as the format has them.
const (
	aHeader, aLog, aFile, aData, aTree, aBlob, anEnd = 1, 2, 4, 5, 6, 7, 8

	prefaceSize = len("perdure-bundle\n") + 1
)

// framed is one frame: its header without the checksum, and what is stored of it.
type framed struct{ head, stored []byte }

// parted is a bundle as its frames.
func parted(b []byte) (frames []framed) {
	for b = b[prefaceSize:]; len(b) > 0; {
		n := 16 + int(binary.LittleEndian.Uint32(b[8:]))
		frames = append(frames, framed{bytes.Clone(b[:12]), bytes.Clone(b[16:n])})
		b = b[n:]
	}
	return frames
}

// joined makes a bundle of frames, with right checksums and a right end.
func joined(frames []framed) []byte {
	b := append([]byte("perdure-bundle\n"), 1)
	for i, f := range frames {
		if f.head[0] == anEnd {
			sum := blake3.Sum256(b)
			f.stored = append(binary.BigEndian.AppendUint64(nil, uint64(i)), sum[:]...)
		}
		sum := crc32.Update(crc32.Checksum(f.head, castagnoli), castagnoli, f.stored)
		b = append(binary.LittleEndian.AppendUint32(append(b, f.head...), sum), f.stored...)
	}
	return b
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// first is the index of the first frame of a type.
func first(frames []framed, typ byte) int {
	return slices.IndexFunc(frames, func(f framed) bool { return f.head[0] == typ })
}

// raw are the first frame that is stored as it is, at its index, and its size.
func raw(frames []framed) (head []byte, size uint32) {
	i := slices.IndexFunc(frames, func(f framed) bool { return f.head[1] == 0 && f.head[0] == aData })
	return frames[i].head, uint32(len(frames[i].stored))
}

// Frames out of their order, of unknown types, or of another size than they say are refused though every checksum is right.
func TestForgedFramesAreRefused(t *testing.T) {
	move := func(from, to byte) func([]framed) []framed {
		return func(all []framed) []framed {
			i := first(all, from)
			f := all[i]
			all = slices.Delete(all, i, i+1)
			return slices.Insert(all, first(all, to), f)
		}
	}
	for name, c := range map[string]struct {
		forge func([]framed) []framed
		says  string
	}{
		"a log after the trees":       {func(all []framed) []framed { return slices.Insert(all, first(all, aBlob), all[first(all, aLog)]) }, "a frame of type 2 after one of type 6"},
		"a tree after the blobs":      {move(aTree, anEnd), "a frame of type 6 after one of type 7"},
		"a tree before the files":     {move(aTree, aFile), "a frame of type 4 after one of type 6"},
		"content of nothing":          {move(aData, aTree), "does not have the size announced"},
		"content before its file":     {func(all []framed) []framed { return slices.Insert(all, first(all, aFile), all[first(all, aData)]) }, "a frame of type 5"},
		"two headers":                 {func(all []framed) []framed { return slices.Insert(all, 1, all[0]) }, "a second header"},
		"no header":                   {func(all []framed) []framed { return all[1:] }, "no header"},
		"no end":                      {func(all []framed) []framed { return all[:len(all)-1] }, "cut off"},
		"two ends":                    {func(all []framed) []framed { return append(all, all[len(all)-1]) }, "something follows its end"},
		"type 0":                      {func(all []framed) []framed { all[3].head[0] = 0; return all }, "of no known type"},
		"a type beyond the end":       {func(all []framed) []framed { all[3].head[0] = anEnd + 1; return all }, "of no known type"},
		"stored in a third way":       {func(all []framed) []framed { all[3].head[1] = 2; return all }, "of no known type"},
		"the first zero":              {func(all []framed) []framed { all[3].head[2] = 1; return all }, "of no known type"},
		"the second zero":             {func(all []framed) []framed { all[3].head[3] = 1; return all }, "of no known type"},
		"stored whole, and says more": {func(all []framed) []framed { h, n := raw(all); binary.LittleEndian.PutUint32(h[4:], n+1); return all }, "stored as"},
		"stored whole, and says less": {func(all []framed) []framed { h, n := raw(all); binary.LittleEndian.PutUint32(h[4:], n-1); return all }, "stored as"},
		"packed, and no smaller":      {func(all []framed) []framed { h, _ := raw(all); h[1] = 1; return all }, "stored as"},
		"packed, but it is not": {func(all []framed) []framed {
			h, n := raw(all)
			h[1] = 1
			binary.LittleEndian.PutUint32(h[4:], n+1)
			return all
		}, "unpacks into"},
		"larger than a frame can be":    {func(all []framed) []framed { return large(all, 128<<20+1) }, "has 134217729 bytes"},
		"as large as it can be, not so": {func(all []framed) []framed { return large(all, 128<<20) }, "cut off"},
	} {
		b := joined(c.forge(parted(family().bytes(t))))
		if _, err := read(b, bundle.Limits{}); !errors.Is(err, bundle.ErrFormat) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b := family().bytes(t); !bytes.Equal(joined(parted(b)), b) {
		t.Error("a bundle is not put together again as it was")
	}
}

// large says of the first frame stored as it is that it has so many bytes.
func large(all []framed, size uint32) []framed {
	h, _ := raw(all)
	binary.LittleEndian.PutUint32(h[4:], size)
	binary.LittleEndian.PutUint32(h[8:], size)
	return all
}

// A bound of one is a bound: only none is replaced by the usual one.
func TestTheSmallestLimitsHold(t *testing.T) {
	b := family().bytes(t)
	for name, l := range map[string]bundle.Limits{"bytes": {Bytes: 1}, "files": {Files: 1}, "logs": {Logs: 1}} {
		if _, err := read(b, l); !errors.Is(err, bundle.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := family()
	exact := bundle.Limits{Bytes: s.header.Bytes(), Files: s.header.Files, Logs: s.header.Logs}
	if _, err := read(b, exact); err != nil {
		t.Errorf("what is just within its limits: %v", err)
	}
	if got := (bundle.Limits{}).Usual(); got != (bundle.Limits{Bytes: 64 << 30, Files: 100_000, Logs: 1000}) {
		t.Errorf("usual are %+v", got)
	}
}

// A header that announces fewer or more of anything than come is refused, and one that announces less than nothing.
func TestAnnouncedNumbersHold(t *testing.T) {
	for name, of := range map[string]func(*bundle.Counts) *int64{
		"logs": func(c *bundle.Counts) *int64 { return &c.Logs }, "events": func(c *bundle.Counts) *int64 { return &c.Events },
		"bytes of events": func(c *bundle.Counts) *int64 { return &c.EventBytes }, "files": func(c *bundle.Counts) *int64 { return &c.Files },
		"bytes of files": func(c *bundle.Counts) *int64 { return &c.FileBytes }, "trees": func(c *bundle.Counts) *int64 { return &c.Trees },
		"bytes of trees": func(c *bundle.Counts) *int64 { return &c.TreeBytes }, "blobs": func(c *bundle.Counts) *int64 { return &c.Blobs },
		"bytes of blobs": func(c *bundle.Counts) *int64 { return &c.BlobBytes },
	} {
		for says, change := range map[string]func(*int64){
			"than announced": func(n *int64) { *n-- }, "announced are": func(n *int64) { *n++ },
			"counts -1": func(n *int64) { *n = -1 }, "counts 72057594037927937": func(n *int64) { *n = 1<<56 + 1 },
		} {
			s := family()
			all := parted(s.bytes(t))
			change(of(&s.header.Counts))
			all[0] = header(t, s.header)
			if _, err := read(joined(all), bundle.Limits{}); !errors.Is(err, bundle.ErrFormat) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", name, err, says)
			}
		}
	}
}

// header is a header's frame.
func header(t *testing.T, h bundle.Header) framed {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	head := binary.LittleEndian.AppendUint32([]byte{aHeader, 0, 0, 0}, uint32(len(b)))
	return framed{binary.LittleEndian.AppendUint32(head, uint32(len(b))), b}
}

// Names of files are one harmless element of a path, up to the edges of what is allowed.
func TestPlainNames(t *testing.T) {
	for _, name := range []string{"a", "z", "A", "Z", "0", "9", "x0", "x9", "xa", "xz", "xA", "xZ", "x.", "x_", "x-", strings.Repeat("a", 200)} {
		if !bundle.PlainName(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"", ".", "-", "_", "x/", "x:", "x@", "x[", "x`", "x{", "x ", "x\\", "xé", "x\n", strings.Repeat("a", 201)} {
		if bundle.PlainName(name) {
			t.Errorf("%q is taken", name)
		}
	}
}
