package store

import (
	"encoding/hex"
	"fmt"

	"github.com/zeebo/blake3"
)

// Digest is a BLAKE3-256 sum. Its text form is 64 lower-case hexadecimal digits; the zero digest is the genesis
// "previous hash" of a log and otherwise means "none".
type Digest [32]byte

// Sum returns the digest of b.
func Sum(b []byte) Digest { return blake3.Sum256(b) }

// IsZero reports whether d is the zero digest.
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText gives the hexadecimal form; the zero digest is the empty text.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return []byte{}, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	if hex.DecodedLen(len(b)) != len(d) {
		return fmt.Errorf("digest of %d characters: want 64", len(b))
	}
	_, err := hex.Decode(d[:], b)
	return err
}
