package blob

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

const (
	partLen = 40
	// pageParts is how many parts a list names; a content of more has pages, which are contents of their own.
	pageParts  = 16 << 10
	maxContent = 1 << 50 // bytes; no list stands for more
)

// part is a piece of a content.
type part struct {
	digest store.Digest
	size   uint64 // of the piece
}

// list is what a large content consists of, in order.
type list struct {
	pages bool // each part is a content that holds the parts of one page; its size is that of what the page stands for
	parts []part
}

var errList = errors.New("it is no list of parts")

func appendPart(b []byte, p part) []byte {
	return binary.LittleEndian.AppendUint64(append(b, p.digest[:]...), p.size)
}

func (l list) encode() []byte {
	b := make([]byte, 8, 8+len(l.parts)*partLen)
	if l.pages {
		b[0] = 1
	}
	for _, p := range l.parts {
		b = appendPart(b, p)
	}
	return b
}

// parseList reads the list of a content of that many bytes.
func parseList(b []byte, raw uint64) (list, error) {
	if len(b) < 8 || b[0] > 1 || binary.LittleEndian.Uint64(b)>>8 != 0 {
		return list{}, errList
	}
	parts, err := parseParts(b[8:], raw)
	return list{b[0] == 1, parts}, err
}

// parseParts reads parts whose sizes add up to raw, none of them empty.
func parseParts(b []byte, raw uint64) ([]part, error) {
	if len(b)%partLen != 0 || len(b) == 0 || len(b) > pageParts*partLen {
		return nil, errList
	}
	parts := make([]part, len(b)/partLen)
	for i := range parts {
		at := b[i*partLen:]
		parts[i] = part{store.Digest(at[:32]), binary.LittleEndian.Uint64(at[32:])}
		if n := parts[i].size; n == 0 || n > raw {
			return nil, fmt.Errorf("%w: its lengths are not those of the content", errList)
		}
		raw -= parts[i].size
	}
	if raw != 0 {
		return nil, fmt.Errorf("%w: its lengths are not those of the content", errList)
	}
	return parts, nil
}
