//go:build unix

package capture

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/ignore"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// rules are what git ignores in a directory, with a sum that is another one when they are others, in any process.
type rules struct {
	list *ignore.Rules
	sum  uint64
}

// ruled is a directory that has an ignore file of its own, or the repository's.
type ruled struct {
	path string
	sums rules
}

// add gives the rules of a file in dir, which is absolute, over those around it.
func (r rules) add(dir string, text []byte) rules {
	if len(text) == 0 {
		return r
	}
	sum := store.Sum(append(binary.BigEndian.AppendUint64([]byte(dir+"\x00"), r.sum), text...))
	return rules{list: r.list.Add(dir, text), sum: binary.BigEndian.Uint64(sum[:])}
}

// rules finds those of the directory that is looked at: those around it, the repository's own list, its ignore file.
func (v *visit) rules() {
	r := v.here.rules
	if _, is := slices.BinarySearch(v.names, ".git"); is {
		v.found.repos = append(v.found.repos, v.here.path)
		r = r.add(join(v.d.root, v.here.path), smallFile(v.dir, ".git/info/exclude"))
	}
	if _, is := slices.BinarySearch(v.names, ".gitignore"); is {
		r = r.add(join(v.d.root, v.here.path), smallFile(v.dir, ".gitignore"))
	}
	if r.sum != v.here.rules.sum || v.d.rules[v.here.path] != nil {
		v.found.ruled = append(v.found.ruled, &ruled{v.here.path, r})
	}
	if v.here.private {
		r.sum++
	}
	v.here.rules = r
}

// smallFile reads an ignore file; one that cannot be read has no rules.
func smallFile(dir int, name string) []byte {
	fd, err := openFile(dir, name)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || stampOf(&st).kind() != tree.File {
		return nil
	}
	b := make([]byte, min(st.Size, ignore.MaxFile))
	n, _ := readFull(fd, b) // what could be read counts
	return b[:n]
}

// around are the rules of the directories around the root, up to the top of its repository.
func around(root string) rules {
	var dirs []string
	for at := root; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		}
		if at == filepath.Dir(at) || len(dirs) == maxAround {
			return rules{} // no repository: only what lies in the root counts
		}
		dirs = append(dirs, filepath.Dir(at))
	}
	var r rules
	for _, dir := range slices.Backward(dirs) {
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		r = r.add(dir, smallFile(fd, ".gitignore"))
		_ = unix.Close(fd)
	}
	return r
}

// maxAround bounds the directories above the root that are looked at.
const maxAround = 32
