//go:build unix

package restore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// cloner makes files share their content with those of another directory, where the file system can (FICLONE on btrfs and
// xfs). The clone is what is verified, so that it does not matter who writes to the original meanwhile. What was refused
// once is not tried again.
type cloner struct {
	clone   func(dst, src *os.File) error
	refused atomic.Bool
}

func newCloner(cfg *Config) *cloner {
	c := &cloner{clone: cfg.Clone}
	if c.clone == nil {
		c.clone = cloneFile
	}
	return c
}

// original opens the file of a directory that an entry may be a clone of; nil: there is none.
func (c *cloner) original(d *dir, e *tree.Entry) *os.File {
	if d == nil || c.refused.Load() || e.Kind != tree.File || e.Size == 0 {
		return nil
	}
	was, err := d.look(e.Name)
	if err != nil || was.kind != tree.File || was.size != e.Size || was.mtime != e.MTime {
		return nil
	}
	f, err := d.open(e.Name)
	if err != nil {
		return nil
	}
	return f
}

// fill makes an empty file share the content of another one. Not ok: it could not, or that was not what is wanted, and the
// file is empty again. ctx is not heeded: a clone takes as long as its reading.
func (c *cloner) fill(f, src *os.File, e *tree.Entry) (ok bool, err error) {
	if err := c.clone(f, src); err != nil {
		c.refused.Store(true)
		return false, empty(f)
	}
	h := blake3.New()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, e.Size+1))
	if err == nil && n == e.Size && store.Digest(h.Sum(nil)) == e.Digest {
		return true, nil
	}
	return false, empty(f)
}

func empty(f *os.File) error {
	_, err := f.Seek(0, io.SeekStart)
	if err = errors.Join(err, f.Truncate(0)); err != nil {
		return fmt.Errorf("empty a clone: %w", err)
	}
	return nil
}
