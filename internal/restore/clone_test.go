package restore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// copied is a clone as file systems without one could have it: it gives the bytes at that moment.
func copied(dst, src *os.File) error {
	_, err := io.Copy(dst, io.NewSectionReader(src, 0, 1<<40))
	return err
}

// Whatever a clone does, the directory is what the tree says: a clone that gives other bytes, or half of them, or fails
// after some, is no file's content.
func TestAClonedFileIsWhatIsWanted(t *testing.T) {
	fails := map[string]error{"not supported": unix.ENOTSUP, "another file system": unix.EXDEV, "no room": unix.ENOSPC}
	clones := map[string]func(dst, src *os.File) error{
		"copies": copied,
		"other bytes": func(dst, src *os.File) error {
			info, err := src.Stat()
			if err == nil {
				_, err = dst.Write(make([]byte, info.Size()))
			}
			return err
		},
		"half": func(dst, src *os.File) error {
			info, err := src.Stat()
			if err == nil {
				_, err = io.CopyN(dst, src, info.Size()/2)
			}
			return err
		},
		"more": func(dst, src *os.File) error {
			err := copied(dst, src)
			_, more := dst.WriteString("more")
			return errors.Join(err, more)
		},
		"some, and fails": func(dst, src *os.File) error {
			_ = copied(dst, src)
			return unix.EIO
		},
	}
	for what, err := range fails {
		clones[what] = func(*os.File, *os.File) error { return err }
	}
	for what, clone := range clones {
		t.Run(what, func(t *testing.T) {
			w := fastWorld(t)
			first(w)
			target, want := w.known(), w.picture()
			cfg := w.config(mover{})
			var tries atomic.Int64
			cfg.Like = w.root
			cfg.Clone = func(dst, src *os.File) error {
				tries.Add(1)
				return clone(dst, src)
			}
			to := filepath.Join(filepath.Dir(w.root), "new")
			t.Cleanup(func() { unlock(to) })
			made, err := Materialise(context.Background(), to, w, target, cfg)
			w.must(err)
			got := picture(t, to)
			got["."] = want["."]
			same(t, what, got, want)
			if shares := what == "copies"; shares != (made.Shared > 0) || made.Shared > made.Bytes {
				t.Errorf("%d of %d bytes are shared", made.Shared, made.Bytes)
			}
			if _, fails := fails[what]; fails && tries.Load() > workers || tries.Load() == 0 {
				t.Errorf("%d tries", tries.Load())
			}
		})
	}
}

// An original that was changed since, that is something else now, or that lies behind a link, is no file's content, and
// nothing is waited for.
func TestAnotherOriginalIsNotShared(t *testing.T) {
	w := fastWorld(t)
	first(w)
	target, want := w.known(), w.picture()
	other := t.TempDir()
	for name := range want {
		if name == "." {
			continue
		}
		if err := os.Symlink(w.root, filepath.Join(other, filepath.Base(name))); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	pipes := t.TempDir()
	for name := range want {
		if up := filepath.Join(pipes, filepath.Dir(name)); name != "." && os.MkdirAll(up, 0o700) == nil {
			_ = unix.Mkfifo(filepath.Join(pipes, name), 0o600)
		}
	}
	for i, like := range []string{other, pipes, filepath.Join(other, "nothing"), "/dev/null"} {
		cfg := w.config(mover{})
		cfg.Like, cfg.Clone = like, func(*os.File, *os.File) error {
			t.Errorf("%s: a file was cloned", like)
			return nil
		}
		to := filepath.Join(filepath.Dir(w.root), "new"+string(rune('0'+i)))
		t.Cleanup(func() { unlock(to) })
		made, err := Materialise(context.Background(), to, w, target, cfg)
		w.must(err)
		got := picture(t, to)
		got["."] = want["."]
		same(t, like, got, want)
		if made.Shared != 0 {
			t.Errorf("%s: %d bytes are shared", like, made.Shared)
		}
	}
}
