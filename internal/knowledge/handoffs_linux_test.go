package knowledge

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// ordinary runs f without the rights that root has over files.
func ordinary(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if os.Geteuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		f()
	}()
	<-done
}

// Goal: a handoff that may not be read stays, is named, and the session's own lies beside it.
func TestForbiddenHandoffStays(t *testing.T) {
	w := consenting(t)
	at := filepath.Join(w.cfg.Dir, ".agent", "HANDOFF.md")
	w.write(at, "of somebody else")
	err := filepath.WalkDir(filepath.Dir(filepath.Dir(w.cfg.Dir)), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && os.Geteuid() == 0 {
			err = os.Chown(path, 65534, 65534)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at, 0); err != nil {
		t.Fatal(err)
	}
	ordinary(func() {
		if f, ok, err := w.open().Handoffs().Read(); ok || err == nil {
			t.Errorf("%+v, %v", f, err)
		}
		if out, err := w.open().Handoffs().Write(t.Context(), handed("one", 1, "x"), "", byOf("one", 1)); err != nil || filepath.Base(out.Path) != "HANDOFF-one.md" {
			t.Errorf("%+v, %v", out, err)
		}
		if all, err := w.open().Handoffs().All(); err == nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
	})
	if err := os.Chmod(at, 0o600); err != nil || fileText(at) != "of somebody else" {
		t.Errorf("it changed: %v", err)
	}
}
