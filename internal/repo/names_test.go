package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Goal: names are those that git does not ignore, and of the directory that was asked about; nothing that the repository
// names is run.
func TestNames(t *testing.T) {
	w := newWork(t)
	for _, name := range []string{".gitignore", "a.go", "sub/b.go", "sub/deep/日本 語.md", "sub/x.log", "x.log", "build/out", "sub2/c.go"} {
		w.write(name, "*.log\nbuild/\n")
	}
	w.git("add", "a.go", "sub/b.go")
	ran := filepath.Join(w.dir, "ran")
	w.git("config", "core.fsmonitor", "touch "+ran)
	w.git("config", "core.hooksPath", w.dir)
	all, err := w.look(".").Names(t.Context(), w.dir, 100)
	slices.Sort(all)
	if want := ".gitignore a.go sub/b.go sub/deep/日本 語.md sub2/c.go"; err != nil || strings.Join(all, " ") != want {
		t.Errorf("%q, %v", all, err)
	}
	below, err := w.look("sub").Names(t.Context(), filepath.Join(w.dir, "sub"), 100)
	slices.Sort(below)
	if want := "b.go deep/日本 語.md"; err != nil || strings.Join(below, " ") != want {
		t.Errorf("below: %q, %v", below, err)
	}
	if some, err := w.look(".").Names(t.Context(), w.dir, 2); err != nil || len(some) != 2 {
		t.Errorf("two: %q, %v", some, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that the repository names was run")
	}
}
