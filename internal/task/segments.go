//go:build linux || darwin

package task

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// segment is one file of output. Its end is its base plus its size; what lies between that and the next base is gone.
type segment struct{ base, end int64 }

// listing is what the names in an act directory tell.
type listing struct {
	segs   []segment // what is kept, in order
	ended  bool      // there is an exit record
	unread *int64    // from where on output may be missing
}

func segmentName(base int64) string { return fmt.Sprintf("%s%016x", segPrefix, base) }

// segments lists what is kept, in order.
func (d actDir) segments() ([]segment, error) {
	l, err := d.list()
	return l.segs, err
}

func (d actDir) list() (l listing, err error) {
	dir, err := openRetry(string(d), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return l, &fs.PathError{Op: "open", Path: string(d), Err: err}
	}
	defer unix.Close(dir)
	var entries [4 << 10]byte
	for {
		n, err := unix.ReadDirent(dir, entries[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return l, &fs.PathError{Op: "list", Path: string(d), Err: err}
		}
		if n <= 0 {
			break
		}
		_, _, names := unix.ParseDirent(entries[:n], -1, nil)
		for _, name := range names {
			l.ended = l.ended || name == exitName
			if from, ok := unreadFrom(name); ok && (l.unread == nil || from < *l.unread) {
				l.unread = &from
			}
			digits, ok := strings.CutPrefix(name, segPrefix)
			if !ok || len(digits) != 16 {
				continue
			}
			base, err := strconv.ParseInt(digits, 16, 64)
			if err != nil {
				continue
			}
			var info unix.Stat_t
			err = unix.Fstatat(dir, name, &info, unix.AT_SYMLINK_NOFOLLOW)
			if err == unix.ENOENT {
				continue // rotated away between the two looks
			}
			if err != nil {
				return l, &fs.PathError{Op: "stat", Path: d.path(name), Err: err}
			}
			if info.Mode&unix.S_IFMT != unix.S_IFREG {
				continue // the command put it there
			}
			l.segs = append(l.segs, segment{base, base + info.Size})
		}
	}
	slices.SortFunc(l.segs, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	return l, nil
}
