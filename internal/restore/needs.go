//go:build unix

package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// Needs lists the contents that the restores below a directory need and no tree has: those of files that were brought
// together. A sweep keeps them. A directory that is missing needs none, and neither does a journal by which nothing is
// done.
func Needs(dir string) (need []store.Digest, err error) {
	ids, err := Pending(dir)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		f, err := os.OpenFile(filepath.Join(dir, id+journalEnd), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) { // it is over
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("restore %s: %w", id, err)
		}
		frames, _, err := readFrames(f)
		_ = f.Close()
		if errors.Is(err, ErrJournal) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("restore %s: %w", id, err)
		}
		for _, o := range frames[0].Plan.Ops {
			if !o.Joined {
				continue
			}
			to, err := decodeEntry(o.To)
			if err != nil {
				return nil, fmt.Errorf("restore %s: %w", id, err)
			}
			need = append(need, to.Digest)
		}
	}
	return need, nil
}
