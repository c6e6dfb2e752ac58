package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/tree"
)

// Several processes that work in one directory write its cache at the same time: none of them fails for it, what is
// there is whole and of one of them, and nothing else is left.
func TestACacheThatSeveralWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "space", "stat")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				if err := replace(path, writes(bytes.Repeat([]byte{byte('a' + i)}, 1000*(n%7+1)))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 || len(b)%1000 != 0 || !bytes.Equal(b, bytes.Repeat(b[:1], len(b))) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// What a process that was killed has left of a cache is no hindrance.
func TestACacheAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stat")
	if err := os.WriteFile(path+".new", bytes.Repeat([]byte("old"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, writes([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
}

// A cache that cannot be written is an error, and leaves nothing.
func TestACacheThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(filepath.Join(file, "stat"), writes([]byte("new"))); err == nil {
		t.Error("a file was taken for a directory")
	}
}

// What a cache has of a directory is what was put there: that a file's times are too new to be trusted, and that they
// are not.
func TestACacheKeepsWhichTimesAreTrusted(t *testing.T) {
	for _, racy := range []bool{false, true} {
		d := directory{path: "d", racy: racy, files: []file{{name: "f", kind: tree.File, racy: racy}}}
		got := (&reader{rest: appendDirectory(nil, &d)}).directory()
		if got.path != "d" || got.racy != racy || len(got.files) != 1 || got.files[0].racy != racy {
			t.Errorf("%+v, want racy %t", got, racy)
		}
	}
}

func writes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}
