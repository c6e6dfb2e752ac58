package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"syscall"

	"github.com/perdure/perdure/store"
)

// Facts are what a repository says of itself at a moment: enough to know later which one it was.
type Facts struct {
	Repo
	Index    store.Digest // of the index; zero: there is none, or it is over 64 MiB
	Modified bool         // a tracked file is not as the index has it. What is in the index and not in HEAD is not looked at
}

// maxIndex bounds an index that is read, in bytes.
const maxIndex = 64 << 20

// Stat says what is known of a file of the work tree, by its path with slashes: size in bytes, time of its content in
// nanoseconds. Not there: it is missing. A size below 0: nothing is known of it.
type Stat func(path string) (size, mtime int64, there bool)

// LookClose reads a repository whose work tree begins in dir, without running anything and without a change in it.
func LookClose(dir string, stat Stat) (Facts, error) {
	root, git, err := find(dir)
	if err != nil {
		return Facts{}, err
	}
	if root != filepath.Clean(dir) {
		return Facts{}, ErrNone
	}
	f := Facts{Repo: Repo{Root: root}}
	f.Branch, f.Commit, err = head(git)
	if err != nil {
		return f, err
	}
	b, err := bounded(filepath.Join(git, "index"), maxIndex)
	if errors.Is(err, syscall.ENOENT) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.Index = store.Sum(b)
	f.Modified, err = modified(b, len(f.Commit)/2, stat)
	return f, err
}

// ErrIndex says that an index is damaged or of a version that is not known.
var ErrIndex = errors.New("repo: an index that cannot be read")

// An index begins with "DIRC", its version and the number of its entries, 4 bytes each; of an entry, the first 40 bytes
// are what stat said, then come the object's name, 2 bytes of flags (2 more if bit 14 is set) and the path (git's
// Documentation/gitformat-index.txt).
const (
	indexHead  = 12
	entryStat  = 40
	mtimeAt    = 8
	modeAt     = 24
	sizeAt     = 36
	extended   = 0x4000
	skipWork   = 0x4000 // of the second flags: sparse, it need not be there
	assumeSame = 0x8000
	gitlink    = 0o160000
	typeOf     = 0o170000
	regular    = 0o100000
	maxTracked = 1_000_000
)

// modified compares an index with what is known of the files.
func modified(b []byte, hash int, stat Stat) (bool, error) {
	if hash == 0 {
		hash = 20
	}
	if len(b) < indexHead || string(b[:4]) != "DIRC" {
		return false, ErrIndex
	}
	version, n := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if version < 2 || version > 4 || n > maxTracked {
		return false, ErrIndex
	}
	rest, path := b[indexHead:], []byte(nil)
	for range n {
		e, size, err := entryOf(rest, hash, version, path)
		if err != nil {
			return false, err
		}
		rest, path = rest[size:], e.path
		if e.differs(stat) {
			return true, nil
		}
	}
	return false, nil
}

// entry is one of an index.
type entry struct {
	stat  []byte
	flags uint16
	more  uint16
	path  []byte
}

func entryOf(b []byte, hash int, version uint32, before []byte) (entry, int, error) {
	at := entryStat + hash
	if len(b) < at+4 {
		return entry{}, 0, ErrIndex
	}
	e := entry{stat: b[:entryStat], flags: binary.BigEndian.Uint16(b[at:])}
	at += 2
	if e.flags&extended != 0 {
		e.more = binary.BigEndian.Uint16(b[at:])
		at += 2
	}
	if version == 4 {
		cut, n := offset(b[at:])
		if n == 0 || cut > len(before) {
			return e, 0, ErrIndex
		}
		at += n
		end := bytes.IndexByte(b[at:], 0)
		if end < 0 {
			return e, 0, ErrIndex
		}
		e.path = append(bytes.Clone(before[:len(before)-cut]), b[at:at+end]...)
		return e, at + end + 1, nil
	}
	end := bytes.IndexByte(b[at:], 0)
	if end < 0 {
		return e, 0, ErrIndex
	}
	e.path = b[at : at+end]
	size := (at + end + 8) &^ 7 // padded with NULs to a multiple of eight, at least one
	if size > len(b) {
		return e, 0, ErrIndex
	}
	return e, size, nil
}

// offset reads the number of bytes that a path of version 4 leaves out of the one before.
func offset(b []byte) (v, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		if n > 0 {
			v++
		}
		v = v<<7 | int(c&0x7f)
		n++
		if c < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

func (e entry) differs(stat Stat) bool {
	mode := binary.BigEndian.Uint32(e.stat[modeAt:])
	if e.flags&assumeSame != 0 || e.more&skipWork != 0 || mode&typeOf == gitlink || mode&typeOf != regular {
		return false // of links, and of other repositories, only their being there would be known
	}
	size, mtime, there := stat(string(e.path))
	if !there || size < 0 {
		return !there
	}
	then := int64(binary.BigEndian.Uint32(e.stat[mtimeAt:]))*1e9 + int64(binary.BigEndian.Uint32(e.stat[mtimeAt+4:]))
	was := binary.BigEndian.Uint32(e.stat[sizeAt:])
	if was == 0 && size > 0 { // git smudges an entry of which it cannot tell
		return mtime != then
	}
	return uint32(size) != was || mtime != then //nolint:gosec // git keeps the lower 32 bits
}
