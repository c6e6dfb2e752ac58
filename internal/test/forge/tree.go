package forge

import (
	"encoding/binary"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Object is the object of a directory with entries as they are given: in their order, whatever they say. Package tree
// writes and reads only what is sound.
func Object(entries ...tree.Entry) []byte {
	b := binary.AppendUvarint([]byte{1}, uint64(len(entries)))
	for _, e := range entries {
		b = append(b, byte(e.Kind), byte(e.Flags))
		b = binary.AppendUvarint(b, uint64(e.Mode))
		b = binary.AppendUvarint(b, uint64(len(e.Name)))
		b = append(b, e.Name...)
		b = binary.AppendUvarint(b, uint64(e.Size)) //nolint:gosec // a size below 0 is one of the lies
		if e.Kind != tree.Dir {
			b = binary.AppendVarint(b, e.MTime)
		}
		if (e.Kind == tree.File || e.Kind == tree.Dir) && !e.Flags.Has(tree.Skipped) {
			b = append(b, e.Digest[:]...)
		}
		if e.Kind == tree.Link {
			b = binary.AppendUvarint(b, uint64(len(e.Target)))
			b = append(b, e.Target...)
		}
	}
	return b
}

// File is an entry for a content.
func File(name string, content []byte) tree.Entry {
	return tree.Entry{Name: name, Kind: tree.File, Mode: 0o644, Size: int64(len(content)), MTime: 1e18, Digest: store.Sum(content)}
}

// Dir is an entry for an object.
func Dir(name string, object []byte) tree.Entry {
	return tree.Entry{Name: name, Kind: tree.Dir, Mode: 0o755, Digest: store.Sum(object)}
}

// Link is an entry for a link.
func Link(name, target string) tree.Entry {
	return tree.Entry{Name: name, Kind: tree.Link, Mode: 0o777, MTime: 1e18, Target: target}
}
