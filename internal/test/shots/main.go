// Command shots takes the pictures of docs/img: the binary on a real terminal, in tmux, in an example project, with a
// scripted model. What the terminal shows is written down as SVG. It needs tmux, git and go, and no network; each picture
// is of a moment that it waits for, and times in it are those of the run.
package main

import (
	"flag"
	"fmt"
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

// place is the example's world. Pictures show the path, so it is always the same one.
const place = "/tmp/perdure-shots"

func run(bin, out string) (err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	if err := os.Mkdir(place, 0o700); err != nil {
		return err // somebody else's, or of a run that still goes on
	}
	defer func() { _ = os.RemoveAll(place) }()
	if err := lay(place); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // pictures are for all
		return err
	}
	t, err := open(bin, place)
	if err != nil {
		return err
	}
	defer t.close()
	t.out = out
	for _, scene := range scenes {
		if err := scene(t); err != nil {
			return fmt.Errorf("%w; the screen:\n%s", err, t.screen())
		}
	}
	return nil
}
