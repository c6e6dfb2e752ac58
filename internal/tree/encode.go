package tree

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// version is the first byte of an object.
const version = 1

// Encode gives the object of a directory. One set of entries has one encoding, whatever their order; the caller's slice
// is left as it is. Two entries of one name, and entries that break the rules of [Entry], are ErrInvalid.
//
// The form: the version byte, the number of entries, then each entry by name: kind and flags (a byte each), mode, name
// (length, bytes), size, mtime except for directories (zigzag), then the digest of what is kept or the target of a link
// (length, bytes). Numbers are varints in their shortest form.
func Encode(entries []Entry) ([]byte, error) {
	if len(entries) > MaxEntries {
		return nil, fmt.Errorf("directory of %d entries, at most %d: %w", len(entries), MaxEntries, ErrInvalid)
	}
	byName := func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(entries, byName) {
		entries = slices.Clone(entries)
		slices.SortFunc(entries, byName)
	}
	size := 1 + binary.MaxVarintLen32
	for i := range entries {
		size += 64 + len(entries[i].Name) + len(entries[i].Target)
	}
	b := make([]byte, 0, size)
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for i := range entries {
		e := &entries[i]
		if err := e.check(); err != nil {
			return nil, err
		}
		if i > 0 && entries[i-1].Name == e.Name {
			return nil, fmt.Errorf("entry %.200q: twice in one directory: %w", e.Name, ErrInvalid)
		}
		b = e.append(b)
	}
	return b, nil
}

func (e *Entry) append(b []byte) []byte {
	b = append(b, byte(e.Kind), byte(e.Flags))
	b = binary.AppendUvarint(b, uint64(e.Mode))
	b = binary.AppendUvarint(b, uint64(len(e.Name)))
	b = append(b, e.Name...)
	b = binary.AppendUvarint(b, uint64(e.Size)) //nolint:gosec // check saw that it is not below 0
	if e.Kind != Dir {
		b = binary.AppendVarint(b, e.MTime)
	}
	if e.hasDigest() {
		b = append(b, e.Digest[:]...)
	}
	if e.Kind == Link {
		b = binary.AppendUvarint(b, uint64(len(e.Target)))
		b = append(b, e.Target...)
	}
	return b
}

func (e *Entry) hasDigest() bool {
	return (e.Kind == File || e.Kind == Dir) && !e.Flags.Has(Skipped)
}
