//go:build unix

package capture

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// What is known of a file takes little memory: the cache that it is read from is not kept for it, in no part.
func TestWhatIsKnownOfAFileTakesLittleMemory(t *testing.T) {
	const dirs, each, most = 500, 300, 150 // bytes of a file
	id := []byte("the directory")
	b := append([]byte(cacheMagic), id...)
	b = append(appendText(b, "mark"), make([]byte, len(store.Digest{}))...)
	for d := range dirs {
		dir := &directory{path: fmt.Sprintf("pkg/dir%d", d)}
		if d == 0 {
			dir.path = ""
		}
		for i := range each {
			s := stamp{ino: uint64(d*each + i), size: 5000, mtime: 1 << 60, ctime: 1<<60 + 5, mode: 0o100644}
			dir.files = append(dir.files, file{stamp: s, name: fmt.Sprintf("source_file_%03d.go", i), kind: tree.File, digest: store.Sum([]byte{byte(i)})})
		}
		b = appendDirectory(b, dir)
	}
	sum := store.Sum(b)
	b = append(b, sum[:]...)
	alive := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := alive()
	d := &Dir{}
	d.forget()
	if !d.decode(bytes.NewReader(b), int64(len(b)), id) {
		t.Fatal("it is no cache")
	}
	took := (int64(alive()) - int64(before)) / (dirs * each)
	runtime.KeepAlive(b)
	if d.files != dirs*each || took > most {
		t.Errorf("%d files, %d bytes of memory for each, at most %d", d.files, took, most)
	}
	t.Logf("%d bytes", took)
	for _, broken := range [][]byte{b[:len(b)-1], append(bytes.Clone(b[:len(b)-40]), b[len(b)-39:]...), append(bytes.Clone(b), 0)} {
		d.forget()
		if d.decode(bytes.NewReader(broken), int64(len(broken)), id) {
			t.Error("a cache that was changed is taken")
		}
	}
}
