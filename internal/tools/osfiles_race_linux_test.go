package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// racer exchanges a directory and a link again and again until the test stops it.
func racer(t *testing.T, w *world, dir, link string) (stop func()) {
	t.Helper()
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
				if err := unix.Renameat2(unix.AT_FDCWD, w.path(dir), unix.AT_FDCWD, w.path(link), unix.RENAME_EXCHANGE); err != nil {
					t.Errorf("exchange: %v", err)
					return
				}
			}
		}
	})
	return func() { close(quit); wg.Wait() }
}

// Goal: while another process exchanges a directory with a link, no write and no read reaches beyond the place that the
// path was resolved to.
func TestRacerLeadsNothingElsewhere(t *testing.T) {
	w := newWorld(t)
	w.put("d/old", "inside")
	w.put("out/old", "outside")
	if err := os.Symlink("out", w.path("l")); err != nil {
		t.Fatal(err)
	}
	stop := racer(t, w, "d", "l")
	decided, written, refused, read := 0, 0, 0, 0
	const enough = 40
	end := time.Now().Add(20 * time.Second)
	for i := 0; time.Now().Before(end) && (written < enough || refused < enough || read < enough); i++ {
		path, err := OSFiles{}.Resolve(w.path(fmt.Sprintf("d/new%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(path) != w.path("d") {
			continue // decided as what it is
		}
		decided++
		e := *change(path, FileInfo{}, nil, []byte("x"))
		switch err := (OSFiles{}).Replace(e, []byte("x")); {
		case err == nil:
			written++
		case errors.Is(err, ErrChanged):
			refused++
		default:
			t.Fatal(err)
		}
		if b, _, err := (OSFiles{}).Read(w.path("d/old"), 0); err == nil {
			if read++; string(b) != "inside" {
				t.Fatalf("read %q", b)
			}
		}
		if list, err := (OSFiles{}).List(w.path("d"), 0); err == nil && len(list) < written {
			t.Fatalf("listed %d entries after %d writes", len(list), written)
		}
	}
	stop()
	list, err := os.ReadDir(w.path("out"))
	if err != nil || len(list) != 1 {
		t.Errorf("outside are %v, %v", list, err)
	}
	if written < enough || refused < enough || read < enough {
		t.Errorf("the race was not met: %d decided, %d written, %d refused, %d read", decided, written, refused, read)
	}
}

// Goal: where the kernel can't refuse links in one call, the walk by single directories does the same.
func TestWalkRefusesLinks(t *testing.T) {
	w := newWorld(t)
	w.put("d/e/f", "x")
	if err := errors.Join(os.Symlink("d", w.path("l")), os.Symlink("e", w.path("d/m"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"/": nil, w.path("d/e"): nil, w.path("l"): unix.ELOOP, w.path("l/e"): unix.ELOOP, w.path("d/m"): unix.ELOOP,
		w.path("d/none/x"): unix.ENOENT, w.path("d/e/f"): unix.ENOTDIR,
	} {
		for name, open := range map[string]func(string, int) (int, error){"walk": walkTo, "one call": func(p string, flags int) (int, error) {
			return openBeyondLinks(p, flags|unix.O_DIRECTORY)
		}} {
			for _, flags := range []int{unix.O_RDONLY, openSearch} {
				fd, err := open(path, flags)
				if !errors.Is(err, want) {
					t.Errorf("%s of %s: %v, want %v", name, strings.TrimPrefix(path, w.Cwd), err, want)
				}
				if err == nil {
					unix.Close(fd)
				}
			}
		}
	}
}
