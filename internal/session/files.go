package session

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// Files are the files that a session knows, by path. There may be thousands: their JSON is one string, the base64 of
// a packed list in the order of paths, so that a snapshot of them is read in a moment. It keeps paths that are no
// UTF-8.
//
//	uvarint len(path) · path · digest · uvarint mode · varint size · uvarint len(use) · use · varint time · varint seq
type Files map[string]File

// MarshalJSON packs the files.
func (fs Files) MarshalJSON() ([]byte, error) {
	if fs == nil {
		return []byte("null"), nil
	}
	raw := make([]byte, 0, 128*len(fs))
	for _, path := range slices.Sorted(maps.Keys(fs)) {
		f := fs[path]
		raw = appendText(raw, path)
		raw = append(raw, f.Digest[:]...)
		raw = binary.AppendUvarint(raw, uint64(f.Mode))
		raw = binary.AppendVarint(raw, f.Size)
		raw = appendText(raw, string(f.Use))
		raw = binary.AppendVarint(raw, f.Time)
		raw = binary.AppendVarint(raw, f.Seq)
	}
	out := make([]byte, 1, 2+base64.StdEncoding.EncodedLen(len(raw)))
	out[0] = '"'
	return append(base64.StdEncoding.AppendEncode(out, raw), '"'), nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (fs *Files) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*fs = nil
		return nil
	}
	var raw []byte
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	r := unpacker{rest: raw}
	out := make(Files, len(raw)/64)
	for len(r.rest) > 0 && !r.bad {
		f := File{Path: r.text()}
		copy(f.Digest[:], r.take(uint64(len(f.Digest))))
		f.Mode, f.Size = uint32(r.unsigned()), r.signed()
		f.Use = fileUse(r.take(r.unsigned()))
		f.Time, f.Seq = r.signed(), r.signed()
		out[f.Path] = f
	}
	if r.bad {
		return errors.New("files of a state: cut off or damaged")
	}
	*fs = out
	return nil
}

// fileUse spares the usual uses an allocation each.
func fileUse(b []byte) FileUse {
	for _, u := range [...]FileUse{FileRead, FileModified, FileCreated} {
		if string(b) == string(u) {
			return u
		}
	}
	return FileUse(b)
}

// unpacker reads a packed list. After a fault it gives zeros and is bad.
type unpacker struct {
	rest []byte
	bad  bool
}

func (r *unpacker) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, n = true, 0
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *unpacker) text() string { return string(r.take(r.unsigned())) }

func (r *unpacker) unsigned() uint64 {
	n, w := binary.Uvarint(r.rest)
	if w <= 0 {
		r.bad, w = true, 0
	}
	r.rest = r.rest[w:]
	return n
}

func (r *unpacker) signed() int64 {
	n, w := binary.Varint(r.rest)
	if w <= 0 {
		r.bad, w = true, 0
	}
	r.rest = r.rest[w:]
	return n
}
