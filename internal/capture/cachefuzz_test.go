package capture

import (
	"bytes"
	"testing"

	"github.com/perdure/perdure/store"
)

// Whatever stands in a cache under a checksum that is right: it is read, or it is none, at a cost that its length
// bounds, and what was read says the same when it is written again.
func FuzzCache(f *testing.F) {
	id := []byte("the directory")
	root := &directory{path: "", files: []file{{name: "f", kind: 1, digest: store.Sum([]byte("x"))}, {name: "l", kind: 3, said: new(string)}, {name: "n", kind: 2, flags: 4, said: because(WhyRebuildable)}}}
	empty := store.Digest{}
	f.Add(appendDirectory(append(appendText(nil, "mark"), empty[:]...), root))
	f.Add(append(appendText(nil, ""), empty[:]...))
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte(cacheMagic), id...)
		b = append(b, body...)
		sum := store.Sum(b)
		d := &Dir{}
		d.forget()
		if !d.decode(bytes.NewReader(append(b, sum[:]...)), int64(len(b)+len(sum)), id) {
			return
		}
		if d.dirs[""] == nil {
			t.Error("a cache without the directory itself is taken")
		}
		for _, dir := range d.dirs {
			if len(dir.files) > len(body) {
				t.Errorf("%d files of %d bytes", len(dir.files), len(body))
			}
		}
	})
}
