//go:build unix

package capture

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// keeper takes contents: a batch of blobs, or only the digests of what is there.
type keeper interface {
	PutLike(data []byte, like store.Digest) (store.Digest, error)
	PutFrom(r io.Reader) (store.Digest, int64, error)
	Has(d store.Digest) bool
}

// Bounds of reading a file.
const (
	maxTries = 3       // reads of a file that changes meanwhile; then it is kept torn
	maxWhole = 1 << 20 // bytes of a file that is read at once
)

// content reads a file and keeps what is in it.
func (v *visit) content(f file) (file, bool, error) {
	for try := 1; ; try++ {
		before := v.d.clock()
		fd, err := openFile(v.dir, f.name)
		switch {
		case errors.Is(err, unix.ENOENT):
			return f, false, nil
		case errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO):
			return v.special(f)
		case err != nil:
			return v.unreadable(f), true, nil //nolint:nilerr // it is named as skipped
		}
		var st, after unix.Stat_t
		err = unix.Fstat(fd, &st)
		if err == nil && v.d.stamp(&st).kind() != tree.File {
			_ = unix.Close(fd)
			return v.special(f)
		}
		f.stamp = v.d.stamp(&st)
		if err == nil {
			f.digest, err = v.read(fd, f.size, f.digest)
		}
		if err == nil {
			err = unix.Fstat(fd, &after)
		}
		_ = unix.Close(fd)
		if errors.Is(err, unix.EIO) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			return v.unreadable(f), true, nil
		}
		if err != nil {
			return f, false, err
		}
		f.racy = v.d.racy(f.ctime, before)
		f.flags &^= tree.Torn
		if v.d.stamp(&after) == f.stamp {
			return f, true, nil
		}
		if try == maxTries {
			f.flags |= tree.Torn
			f.racy = true
			return f, true, nil
		}
	}
}

// special is an entry that was a file a moment ago and is something else: it is named now and looked at next time.
func (v *visit) special(f file) (file, bool, error) {
	v.skips = append(v.skips, Skip{Path: join(v.here.path, f.name), Why: WhySpecial})
	f.kind, f.digest, f.racy, f.said = tree.Other, store.Digest{}, true, because(WhySpecial)
	f.flags |= tree.Skipped
	return f, true, nil
}

func (v *visit) unreadable(f file) file {
	v.skips = append(v.skips, Skip{Path: join(v.here.path, f.name), Why: WhyUnreadable, Bytes: f.size})
	f.flags |= tree.Skipped
	f.digest, f.said, f.racy = store.Digest{}, because(WhyUnreadable), true
	return f
}

// read keeps what an open file holds; was is what it held before, if that is known.
func (v *visit) read(fd int, size int64, was store.Digest) (store.Digest, error) {
	if size > maxWhole {
		d, _, err := v.keep.PutFrom(bounded{v.ctx, fd, new(int64), v.d.cfg.MaxFile})
		return d, err
	}
	if cap(v.text) < maxWhole+1 {
		v.text = make([]byte, maxWhole+1)
	}
	n, err := readFull(fd, v.text[:maxWhole+1])
	if err != nil {
		return store.Digest{}, &fs.PathError{Op: "read", Path: v.here.path, Err: err}
	}
	return v.keep.PutLike(v.text[:n], was)
}

// link reads where a link leads.
func (v *visit) link(f file) (file, bool, error) {
	b := make([]byte, 4096)
	before := v.d.clock()
	n, err := unix.Readlinkat(v.dir, f.name, b)
	switch {
	case errors.Is(err, unix.ENOENT):
		return f, false, nil
	case err != nil || n == 0 || n == len(b): // it is no link any more, or none that can be kept
		return v.special(f)
	}
	target := string(b[:n])
	f.said, f.racy = &target, v.d.racy(f.ctime, before)
	return f, true, nil
}

// bounded reads a descriptor until the caller gives up or the file has grown over all measure.
type bounded struct {
	ctx  interface{ Err() error }
	fd   int
	n    *int64
	most int64
}

func (r bounded) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if *r.n >= r.most {
		return 0, io.EOF // what grew beyond it meanwhile is told by its stamp
	}
	n, err := unix.Read(r.fd, p[:min(int64(len(p)), r.most-*r.n)])
	if n <= 0 && err == nil {
		return 0, io.EOF
	}
	*r.n += int64(max(n, 0))
	return max(n, 0), err
}

func readFull(fd int, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := unix.Read(fd, b[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return n, err
		}
		if k == 0 {
			break
		}
		n += k
	}
	return n, nil
}
