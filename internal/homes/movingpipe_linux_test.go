package homes

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of a move's file is refused by name, and never taken for one.
func TestAPipeInThePlaceOfAMove(t *testing.T) {
	h := &Home{dir: t.TempDir()}
	dir := filepath.Join(h.dir, movingDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if has, err := h.hasWord("s", "word"); err == nil || has || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("%v, %v", has, err)
	}
	if has, err := h.hasWord("none", "word"); err != nil || has {
		t.Errorf("%v, %v", has, err)
	}
}
