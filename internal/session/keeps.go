package session

import (
	"slices"

	"github.com/perdure/perdure/store"
)

// Keeps gives what an event names of what is kept outside of the log: roots of trees, and blobs. As long as the log is
// there, they must be.
func Keeps(body Body) (trees, blobs []store.Digest) {
	switch b := body.(type) {
	case *FilesCaptured:
		trees = []store.Digest{b.Tree}
	case *RestoreRequested:
		trees = []store.Digest{b.Target, b.Merge}
	case *RestoreStarted:
		trees = []store.Digest{b.Before, b.Base, b.Target}
	case *FilesRestored:
		trees = []store.Digest{b.Tree}
	case *ArtifactAdded:
		blobs = []store.Digest{b.Artifact.Digest}
	default:
	}
	return slices.DeleteFunc(trees, store.Digest.IsZero), slices.DeleteFunc(blobs, store.Digest.IsZero)
}

// Knows reports whether this version knows a kind of event, and so what it keeps.
func Knows(kind store.Kind) bool { return emptyBody(kind) != nil }
