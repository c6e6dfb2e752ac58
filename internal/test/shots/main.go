// Command shots takes the pictures of docs/img: the binary on a real terminal, in tmux, in an example project, with a
// scripted model. What the terminal shows is written down as SVG. It needs tmux, git and go, and no network; each picture
// is of a moment that it waits for, and times in it are those of the run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	bin := flag.String("perdure", "bin/perdure", "the binary")
	out := flag.String("out", "docs/img", "where the pictures go")
	flag.Parse()
	if err := run(*bin, *out); err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

// place is where the example's world is on the pictures. Each run has a directory of its own, whose path is as long.
const place = "/tmp/perdure-shots"

// newPlace makes a directory that nobody else has.
func newPlace() (dir string, err error) {
	for n := range 100 {
		dir = fmt.Sprintf("/tmp/perdure-%05d", (os.Getpid()+n)%100_000)
		if err = os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
	return "", err
}

func run(bin, out string) (err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	dir, err := newPlace()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := lay(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // pictures are for all
		return err
	}
	t, err := open(bin, dir)
	if err != nil {
		return err
	}
	defer t.close()
	t.out, t.dir = out, dir
	for _, scene := range scenes {
		if err := scene(t); err != nil {
			return fmt.Errorf("%w; the screen:\n%s", err, t.screen())
		}
	}
	return nil
}
