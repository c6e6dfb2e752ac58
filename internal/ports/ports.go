// Package ports gives each session of a home a range of TCP ports of its own, so that the servers of parallel sessions
// do not meet. It is a hint: nothing keeps a program from other ports, or another user's program from these.
//
// # The model
//
// A [Table] is a directory with one file for each session that has a range; the file's content is the range's first
// port. The range is chosen by a hash of the session's id, so that it is the same again should the file be lost, and the
// next one is taken when that is another session's or in use. It stays the session's until [Table.Drop], or until its
// ports are found in use while the session runs nothing. Ranges lie outside of what the system hands out by itself to
// outgoing connections.
//
// # The caller's duties
//
// Call Drop when a session is closed or deleted. Any number of processes may use one directory at once.
package ports

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/realdir"

	"github.com/perdure/perdure/internal/sys"
)

// Size is how many ports a range has.
const Size = 10

// maxRanges bounds the ranges of a home.
const maxRanges = 1000

// ErrNone tells that every range is another living session's, or in use.
var ErrNone = errors.New("no free range of ports")

// Table is a home's ranges.
type Table struct {
	Dir string // on a local filesystem; made when it is needed
	// Live reports whether a session may still use its range. It is asked only when all ranges are taken. Nil: all may.
	Live func(sessionID string) bool
	// Free reports whether nobody listens on a port; nil asks the system.
	Free func(port int) bool
	// Now is the clock, for the order of last uses; nil: that of reservations counts.
	Now func() time.Time
	// First is the first port of all; 0 chooses by what the system hands out itself.
	First int
	// Ranges is how many there are; 0 means 1,000.
	Ranges int
}

// Range is consecutive ports.
type Range struct{ First, Last int }

func (r Range) String() string { return fmt.Sprintf("%d-%d", r.First, r.Last) }

// Take returns the session's range, and reserves one if it has none yet. With idle the session runs nothing that could
// listen, so that a port in use is somebody else's, and another range is taken. It returns ErrNone when there is none.
func (t Table) Take(sessionID string, idle bool) (Range, error) {
	if err := realdir.Check(filepath.Dir(t.Dir), filepath.Base(t.Dir)); err != nil {
		return Range{}, fmt.Errorf("ports of session %s: %w", sessionID, err)
	}
	if sessionID == "" || strings.HasPrefix(sessionID, ".") || strings.ContainsRune(sessionID, filepath.Separator) {
		return Range{}, fmt.Errorf("ports of session %q: not a session's id", sessionID)
	}
	if r, ok := t.read(sessionID); ok && (!idle || t.free(r)) {
		t.touch(sessionID)
		return r, nil
	}
	r, err := t.reserve(sessionID, idle)
	if err != nil {
		return Range{}, fmt.Errorf("ports of session %s: %w", sessionID, err)
	}
	return r, nil
}

// Drop gives a session's range back. One that has none is no error.
func (t Table) Drop(sessionID string) error {
	root, err := realdir.Open(filepath.Dir(t.Dir), filepath.Base(t.Dir))
	if err == nil {
		err = errors.Join(root.Remove(filepath.Base(sessionID)), root.Close())
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// reserve chooses a range under the table's lock.
func (t Table) reserve(id string, idle bool) (Range, error) {
	root, err := realdir.Make(filepath.Dir(t.Dir), filepath.Base(t.Dir))
	if err != nil {
		return Range{}, err
	}
	lock, err := root.OpenFile(".lock", os.O_CREATE|os.O_RDWR|sys.NoFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return Range{}, err
	}
	defer func() { _ = lock.Close() }()
	for err = sys.ErrInterrupted; errors.Is(err, sys.ErrInterrupted); {
		err = sys.Flock(lock, sys.Exclusive)
	}
	if err != nil {
		return Range{}, err
	}
	if r, ok := t.read(id); ok && (!idle || t.free(r)) {
		return r, nil // another process was faster
	}
	taken, err := t.taken(id)
	if err != nil {
		return Range{}, err
	}
	n, base := t.size(), t.first()
	for i := range n {
		r := rangeAt(base, (start(id, n)+i)%n)
		if taken[r.First] == "" && t.free(r) {
			return r, t.write(id, r)
		}
	}
	return t.evict(id, taken)
}

// evict takes the range that was used longest ago by a session that lives no more.
func (t Table) evict(id string, taken map[int]string) (Range, error) {
	type use struct {
		first int
		last  time.Time
	}
	var uses []use
	for first, owner := range taken {
		if info, err := os.Stat(filepath.Join(t.Dir, owner)); err == nil {
			uses = append(uses, use{first, info.ModTime()})
		}
	}
	slices.SortFunc(uses, func(a, b use) int { return a.last.Compare(b.last) })
	for _, u := range uses {
		r := Range{u.first, u.first + Size - 1}
		if t.Live != nil && !t.Live(taken[u.first]) && t.free(r) {
			return r, errors.Join(t.Drop(taken[u.first]), t.write(id, r))
		}
	}
	return Range{}, ErrNone
}

// taken are the other sessions by the first port of their ranges.
func (t Table) taken(but string) (map[int]string, error) {
	entries, err := os.ReadDir(t.Dir)
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, e := range entries {
		if r, ok := t.read(e.Name()); ok && e.Name() != but {
			out[r.First] = e.Name()
		}
	}
	return out, nil
}

// read returns a session's range if the file names one of this table's.
func (t Table) read(id string) (Range, bool) {
	if strings.HasPrefix(id, ".") {
		return Range{}, false
	}
	b, err := os.ReadFile(filepath.Join(t.Dir, id))
	if err != nil {
		return Range{}, false
	}
	first, err := strconv.Atoi(strings.TrimSpace(string(b)))
	off := first - t.first()
	ok := err == nil && off >= 0 && off%Size == 0 && off/Size < t.size()
	return Range{first, first + Size - 1}, ok
}

// write makes the reservation: whole, or not at all.
func (t Table) write(id string, r Range) error {
	root, err := realdir.Open(filepath.Dir(t.Dir), filepath.Base(t.Dir))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	tmp := ".new." + id
	_ = root.Remove(tmp) // of a process that died, or a link
	if err := root.WriteFile(tmp, []byte(strconv.Itoa(r.First)+"\n"), 0o600); err != nil {
		return err
	}
	return root.Rename(tmp, id)
}

// touchEvery is how exactly the last use of a range is known.
const touchEvery = time.Hour

// touch notes that a range is in use, now and then.
func (t Table) touch(id string) {
	path := filepath.Join(t.Dir, id)
	if t.Now == nil {
		return
	}
	now := t.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchEvery {
		_ = os.Chtimes(path, now, now) // the order of eviction is no promise
	}
}

func (t Table) free(r Range) bool {
	is := t.Free
	if is == nil {
		is = free
	}
	for p := r.First; p <= r.Last; p++ {
		if !is(p) {
			return false
		}
	}
	return true
}

func (t Table) size() int {
	if t.Ranges > 0 {
		return t.Ranges
	}
	return maxRanges
}

func (t Table) first() int {
	if t.First > 0 {
		return t.First
	}
	return firstPort()
}

func rangeAt(base, i int) Range { return Range{base + i*Size, base + i*Size + Size - 1} }

// start is where the search for a session's range begins.
func start(id string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() % uint32(n))
}
