//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/blake3"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// Bounds of OSFiles, in bytes.
const (
	maxWhole  = 256 << 20 // of a file read into memory
	maxDigest = 16 << 30  // of a file that is digested
	maxLinks  = 40        // symlinks followed in one path, as Linux does
)

// OSFiles is Files and Tree on the machine's own filesystem. Its zero value is ready. It may be used from several
// goroutines; two edits of one file at once are caught by their digests, one of them fails with ErrChanged.
type OSFiles struct {
	// Fault is called before every step of Replace with the step's name (see the step constants). An error ends
	// Replace there, as an error of that step would. For tests.
	Fault func(step string) error
	// Sync makes a file or directory durable; nil is its Sync method. For tests.
	Sync func(*os.File) error
	// Umask gives the bits that a new file does not get; nil asks the process.
	Umask func() uint32
}

var (
	_ Files = OSFiles{}
	_ Tree  = OSFiles{}
)

// Resolve follows symlinks as far as the path exists. The rest of a path that does not exist is kept as it is.
func (OSFiles) Resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("resolve %q: path is not absolute", path)
	}
	done, todo := "/", strings.Split(filepath.Clean(path), "/")
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		target, err := os.Readlink(next)
		switch {
		case err == nil:
			if links++; links > maxLinks {
				return "", fmt.Errorf("resolve %s: %w", path, unix.ELOOP)
			}
			if filepath.IsAbs(target) {
				done = "/"
			}
			todo = append(strings.Split(target, "/"), todo...)
		case errors.Is(err, unix.EINVAL): // not a symlink
			done = next
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
			return filepath.Join(append([]string{next}, todo...)...), nil
		default:
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
	}
	return done, nil
}

// Read returns a file's bytes.
func (f OSFiles) Read(path string, limit int64) ([]byte, FileInfo, error) {
	file, info, err := f.open(path)
	if err != nil || file == nil {
		return nil, info, err
	}
	defer file.Close()
	bound := limit
	if limit <= 0 {
		bound = maxWhole + 1
	}
	b, err := io.ReadAll(io.LimitReader(file, bound))
	switch {
	case err != nil:
		return nil, info, fmt.Errorf("read %s: %w", path, err)
	case limit <= 0 && int64(len(b)) > maxWhole:
		return nil, info, fmt.Errorf("read %s: %w: over %d bytes", path, ErrTooLarge, maxWhole)
	}
	return b, info, nil
}

// Digest returns the digest of a file's whole content.
func (f OSFiles) Digest(path string) (store.Digest, FileInfo, error) {
	file, info, err := f.open(path)
	return digestOpened(path, file, info, err)
}

func digestOpened(path string, file *rawFile, info FileInfo, err error) (store.Digest, FileInfo, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return store.Digest{}, info, nil
	}
	if err != nil || file == nil {
		return store.Digest{}, info, err
	}
	defer file.Close()
	d, err := digest(file)
	if err != nil {
		err = fmt.Errorf("digest %s: %w", path, err)
	}
	return d, info, err
}

// digest sums up a stream.
func digest(r io.Reader) (store.Digest, error) {
	h := blake3.New()
	n, err := io.Copy(h, io.LimitReader(r, maxDigest+1))
	switch {
	case err != nil:
		return store.Digest{}, err
	case n > maxDigest:
		return store.Digest{}, fmt.Errorf("%w: over %d bytes", ErrTooLarge, int64(maxDigest))
	}
	return store.Digest(h.Sum(nil)), nil
}

// Open opens a regular file for reading.
func (f OSFiles) Open(path string) (io.ReadCloser, FileInfo, error) {
	file, info, err := f.open(path)
	switch {
	case err != nil:
		return nil, info, err
	case file == nil:
		return nil, info, fmt.Errorf("open %s: %w: a directory", path, ErrNotRegular)
	}
	return file, info, nil
}

// List gives the entries of a directory.
func (OSFiles) List(dir string, limit int) ([]fs.DirEntry, error) {
	d, err := openDir(filepath.Clean(dir), unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	list, err := d.ReadDir(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
}

// open opens a regular file; a directory gives no file and no error. No link is followed: who decided about the path has
// resolved it.
func (f OSFiles) open(path string) (*rawFile, FileInfo, error) {
	p, err := openPlace(path)
	if err != nil {
		info := FileInfo{}
		if errors.Is(err, fs.ErrNotExist) {
			info.Mode = 0o666 &^ f.umask()
			err = &fs.PathError{Op: "open", Path: path, Err: unix.ENOENT}
		}
		return nil, info, err
	}
	defer p.dir.Close()
	return f.openAt(p)
}

// openAt opens the regular file at a place. Its kind is looked at before the open, which may act on a device, and again
// after it, for it may have changed. Neither can wait for a pipe's other end.
func (f OSFiles) openAt(p place) (*rawFile, FileInfo, error) {
	var st unix.Stat_t
	if err := p.stat(&st); err != nil {
		info := FileInfo{}
		if errors.Is(err, fs.ErrNotExist) {
			info.Mode = 0o666 &^ f.umask()
		}
		return nil, info, err
	}
	info, err := infoOf(p.path, &st)
	if err != nil || info.Dir {
		return nil, info, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(p.fd(), p.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, info, &fs.PathError{Op: "open", Path: p.path, Err: err}
	}
	file := &rawFile{fd: fd}
	err = unix.Fstat(fd, &st)
	if err == nil {
		info, err = infoOf(p.path, &st)
	}
	if err == nil && info.Dir {
		err = fmt.Errorf("open %s: %w", p.path, ErrChanged)
	}
	if err != nil {
		file.Close()
		return nil, info, err
	}
	return file, info, nil
}

// infoOf reads a stat. What is neither a regular file nor a directory is an error.
func infoOf(path string, st *unix.Stat_t) (FileInfo, error) {
	info := FileInfo{
		Exists: true, Size: st.Size, Mode: uint32(st.Mode) & 0o777, Links: uint64(st.Nlink), Mtime: st.Mtim.Nano(), //nolint:unconvert // the widths differ between systems
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		info.Dir = true
	case unix.S_IFREG:
		// Root can give the owner back after a rename, others cannot.
		uid := os.Geteuid()
		info.Foreign = uid != 0 && int(st.Uid) != uid
	case unix.S_IFLNK:
		return info, &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
	default:
		return info, fmt.Errorf("open %s: %w", path, ErrNotRegular)
	}
	return info, nil
}

// rawFile reads a descriptor without the runtime's poller, which would wait on files such as /proc/kmsg.
type rawFile struct{ fd int }

func (r *rawFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := retry(func() (int, error) { return unix.Read(r.fd, p) })
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (r *rawFile) Close() error { return unix.Close(r.fd) }

// maxRetries bounds how often an interrupted system call is made again.
const maxRetries = 1000

func retry(call func() (int, error)) (n int, err error) {
	for range maxRetries {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return n, err
}
