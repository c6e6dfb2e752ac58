//go:build unix

package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/blake3"
	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// The stat cache: what is known of each file, from one process to the next. It is only a cache. It is written without a
// sync and replaced by a rename; one that is damaged, of another version or of another directory is as good as none, and
// every file is read again.
//
//	"perdure stat 2\n" · uvarint device · uvarint inode · text root · text mark · digest of the tree · directories · digest of all before
//	directory: text path · stamp · byte racy · 8 bytes sum of the rules · digest of its object · uvarint files · files
//	file: text name · stamp · byte kind · byte flags · byte racy · digest, or text target of a link, or text why of a skipped one
//	stamp: uvarint inode · varint size · varint mtime · varint ctime · uvarint mode
//	text: uvarint length · bytes
const cacheMagic = "perdure stat 2\n"

// maxCache bounds a cache that is read, in bytes.
const maxCache = 1 << 30

// cachePiece is how many bytes of a cache are in memory at a time, if no directory has more.
const cachePiece = 256 << 10

// save writes the cache.
func (d *Dir) save() error {
	if d.cfg.Cache == "" || d.tree.IsZero() {
		return nil
	}
	id, err := d.identity()
	if err != nil {
		return err
	}
	return replace(d.cfg.Cache, func(w io.Writer) error {
		sum := blake3.New()
		b := append([]byte(cacheMagic), id...)
		b = append(appendText(b, string(d.mark)), d.tree[:]...)
		flush := func() error {
			_, _ = sum.Write(b) // a hash takes everything
			_, err := w.Write(b)
			b = b[:0]
			return err
		}
		for _, dir := range d.dirs {
			if b = appendDirectory(b, dir); len(b) >= cachePiece {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if err := flush(); err != nil {
			return err
		}
		_, err := w.Write(sum.Sum(nil))
		return err
	})
}

// identity says which directory a cache is of.
func (d *Dir) identity() ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(d.rootFD, &st); err != nil {
		return nil, fmt.Errorf("stat %s: %w", d.root, err)
	}
	b := binary.AppendUvarint(nil, uint64(st.Dev)) //nolint:unconvert,gosec // its type differs by system
	return appendText(binary.AppendUvarint(b, st.Ino), d.root), nil
}

// replace writes a file for its owner alone, whole or not at all. Where another process is at it just now, that one's is
// as good, and nothing is written.
func replace(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + ".new" // one name: what a kill leaves is written over
	f, err := alone(temp)
	if err != nil || f == nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return errors.Join(err, f.Close())
}

// alone opens a file that no other process has open by this name, and keeps others out until it is closed; nil: one has it.
func alone(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
			err = nil
		}
		return nil, errors.Join(err, f.Close())
	}
	mine, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		return nil, f.Close() // whoever had it gave it its name meanwhile
	}
	return f, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStamp(b []byte, s stamp) []byte {
	b = binary.AppendUvarint(b, s.ino)
	b = binary.AppendVarint(b, s.size)
	b = binary.AppendVarint(b, s.mtime)
	b = binary.AppendVarint(b, s.ctime-s.mtime)
	return binary.AppendUvarint(b, uint64(s.mode))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendDirectory(b []byte, d *directory) []byte {
	b = appendBool(appendStamp(appendText(b, d.path), d.stamp), d.racy)
	b = append(binary.BigEndian.AppendUint64(b, d.rules), d.object[:]...)
	b = binary.AppendUvarint(b, uint64(len(d.files)))
	for i := range d.files {
		f := &d.files[i]
		b = appendStamp(appendText(b, f.name), f.stamp)
		b = appendBool(append(b, byte(f.kind), byte(f.flags)), f.racy)
		switch {
		case f.flags&tree.Skipped != 0:
			b = appendText(b, string(f.why()))
		case f.kind == tree.Link:
			b = appendText(b, f.target())
		case f.kind == tree.File:
			b = append(b, f.digest[:]...)
		}
	}
	return b
}

// load reads the cache, if there is one that holds for this directory.
func (d *Dir) load() {
	if d.cfg.Cache == "" {
		return
	}
	info, err := os.Lstat(d.cfg.Cache)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCache {
		return
	}
	id, err := d.identity()
	if err != nil {
		return
	}
	f, err := os.OpenFile(d.cfg.Cache, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	if !d.decode(f, info.Size(), id) {
		d.forget()
	}
	_ = f.Close() // it was only read
}

// decode reads a cache of that many bytes, a piece at a time. What it has read counts only if it says that all is well.
func (d *Dir) decode(from io.Reader, size int64, id []byte) bool {
	w := pieces{from: from, left: size - int64(len(store.Digest{})), sum: blake3.New()}
	if w.left < int64(len(cacheMagic)+len(id)) {
		return false
	}
	head := ""
	w.read(func(r *reader) {
		head = string(r.take(uint64(len(cacheMagic) + len(id))))
		d.mark = []byte(r.text())
		d.tree = r.digest()
	})
	if w.bad || head != cacheMagic+string(id) {
		return false
	}
	for !w.bad && w.more() {
		var dir *directory
		w.read(func(r *reader) { dir = r.directory() })
		if w.bad {
			break
		}
		if was := d.dirs[dir.path]; was != nil {
			return false
		}
		d.dirs[dir.path] = dir
		d.files, d.bytes = d.files+dir.count, d.bytes+dir.bytes
		d.noteSkipped(dir)
	}
	return w.whole() && d.dirs[""] != nil
}

// noteSkipped makes the list of what is skipped in a directory.
func (d *Dir) noteSkipped(dir *directory) {
	for i := range dir.files {
		if f := &dir.files[i]; f.flags&tree.Skipped != 0 && f.why() != WhyRepository {
			d.skipped[dir.path] = append(d.skipped[dir.path], Skip{Path: join(dir.path, f.name), Why: f.why(), Dir: f.kind == tree.Dir, Bytes: f.size})
		}
	}
}

// IsNotThere reports an error that says that the directory is gone.
func IsNotThere(err error) bool {
	return errors.Is(err, errGone) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}
