//go:build unix

package capture

import (
	"strings"

	"github.com/perdure/perdure/internal/tree"
)

// Stat gives what is known of the files below a directory, by their paths from there: what the newest capture saw. Of
// what is skipped nothing is known: its size is -1.
func (d *Dir) Stat(dir string) func(path string) (size, mtime int64, there bool) {
	return func(path string) (int64, int64, bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		path = join(dir, path)
		for path != "" {
			in := d.dirs[parent(path)]
			if in == nil { // it lies in what is skipped, or in what is not there
				path = parent(path)
				continue
			}
			f := in.find(path[strings.LastIndexByte(path, '/')+1:])
			switch {
			case f == nil:
				return 0, 0, false
			case f.kind != tree.File || f.flags&tree.Skipped != 0:
				return -1, 0, true
			}
			return f.size, f.mtime, true
		}
		return 0, 0, false
	}
}
