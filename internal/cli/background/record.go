package background

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/store"
)

// Record is what is kept of a session that is to run without a terminal.
type Record struct {
	Version int      `json:"v"`
	Session string   `json:"session"`
	Home    string   `json:"home"`             // without links: a copy of the home elsewhere runs nothing by itself
	Cwd     string   `json:"cwd"`              // that it was started in
	Env     []string `json:"env,omitempty"`    // variables that its model needs, by name; no values
	Started int64    `json:"started"`          // ms UTC: those that wait for a place go in this order
	Most    int      `json:"most"`             // it begins only while fewer than so many work
	Bypass  bool     `json:"bypass,omitempty"` // it began in mode bypassPermissions, which is not restored
	Begun   bool     `json:"begun,omitempty"`  // a supervisor held it once
	Starts  []int64  `json:"starts,omitempty"` // ms UTC of the newest starts of a supervisor, see maxStarts
	Failed  string   `json:"failed,omitempty"` // why its supervisor could not go on; empty: it did not fail
}

const (
	recordVersion = 1
	maxRecord     = 64 << 10 // bytes
)

// A supervisor that was started so often within so long is not started again by itself: what kills it each time, as a
// lack of memory does, would cost a model call each time.
const (
	maxStarts    = 10
	startsWithin = 10 * time.Minute
)

// recent are the starts that count at a time.
func (r Record) recent(now time.Time) []int64 {
	return slices.DeleteFunc(slices.Clone(r.Starts), func(at int64) bool { return now.UnixMilli()-at > startsWithin.Milliseconds() })
}

// errGone says that a record is not there, or not there any more.
var errGone = errors.New("there is no such record")

// named reports whether a session of that id can have a record: an id is also the name of a file here.
func named(id string) bool { return store.ValidID(id) && !strings.HasPrefix(id, ".") }

// names are the sessions that have records.
func names(home string) []string {
	d, err := os.Open(filepath.Join(home, dirName))
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	all, _ := d.Readdirnames(maxRecords) // what cannot be read has none
	all = slices.DeleteFunc(all, func(name string) bool { return !named(name) })
	slices.Sort(all)
	return all
}

// write makes a record durable, in one step.
func write(home string, r Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	root, err := realdir.Make(home, dirName)
	if err != nil {
		return fmt.Errorf("record of session %s: %w", r.Session, err)
	}
	defer func() { _ = root.Close() }()
	part := partPrefix + r.Session
	_ = root.Remove(part) // of somebody who was killed
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err == nil {
		_, err = f.Write(append(b, '\n'))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = root.Rename(part, r.Session)
	}
	if err == nil {
		err = syncRoot(root)
	}
	if err != nil {
		return fmt.Errorf("record of session %s: %w", r.Session, err)
	}
	return nil
}

func syncRoot(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// remove takes a record away, with what its supervisor printed. It may be gone already.
func remove(home, id string) error {
	return errors.Join(removeFile(id, home, dirName), removeFile(outName, home, outDir, id))
}

func removeFile(name, home string, dirs ...string) error {
	root, err := realdir.Open(home, dirs...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// open opens a record and reads it. What somebody else could have put there is refused.
func open(home, id string) (*os.File, Record, error) {
	root, err := realdir.Open(home, dirName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Record{}, errGone
	}
	if err != nil {
		return nil, Record{}, err
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(id); err == nil && !info.Mode().IsRegular() {
		return nil, Record{}, errors.New("it is no file of its own")
	}
	f, err := root.OpenFile(id, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Record{}, errGone
	}
	if err != nil {
		return nil, Record{}, err
	}
	r, err := read(f, root, id)
	if err != nil {
		return nil, Record{}, errors.Join(err, f.Close())
	}
	return f, r, nil
}

// read reads an open record of this user alone.
func read(f *os.File, root *os.Root, id string) (r Record, err error) {
	info, err := f.Stat()
	if err != nil {
		return r, err
	}
	dir, err := root.Stat(".")
	if err != nil {
		return r, err
	}
	if err := private(info, dir); err != nil {
		return r, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxRecord+1))
	switch {
	case err != nil:
		return r, err
	case len(b) > maxRecord:
		return r, errors.New("it is too large")
	case json.Unmarshal(b, &r) != nil:
		return r, errors.New("it cannot be read")
	case r.Version != recordVersion:
		return r, fmt.Errorf("it is of another version of perdure: %d", r.Version)
	case r.Session != id:
		return r, errors.New("it names another session")
	}
	r.Most = min(max(r.Most, 1), maxMost)
	return r, nil
}

// private refuses what others can write, or wrote.
func private(file, dir fs.FileInfo) error {
	owner, ok := file.Sys().(*syscall.Stat_t)
	above, okAbove := dir.Sys().(*syscall.Stat_t)
	switch me := uint32(os.Geteuid()); { //nolint:gosec // an id of a user
	case !file.Mode().IsRegular():
		return errors.New("it is no file")
	case !ok || !okAbove || owner.Uid != me || above.Uid != me:
		return errors.New("it belongs to another user")
	case file.Mode().Perm() != 0o600 || dir.Mode().Perm()&0o077 != 0:
		return errors.New("others may read or write it")
	case owner.Nlink > 1:
		return errors.New("it has another name elsewhere")
	}
	return nil
}

// mine reports whether a home is this user's: nobody starts anything for somebody else.
func mine(home string) bool {
	info, err := os.Stat(home)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == uint32(os.Geteuid()) //nolint:gosec // an id of a user
}

// lock locks an open record, and reports whether it could: nobody supervises its session, and it is still there. Those who
// only look lock it for a moment, so one who means to start something tries for a while.
func lock(home, id string, f *os.File, tries int) bool {
	for unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		if tries--; tries <= 0 {
			return false
		}
		<-time.After(lockPause)
	}
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(filepath.Join(home, dirName, id))
	return err == nil && os.SameFile(mine, now)
}

// How often a lock is tried by one who looks and by one who means it, and the time in between.
const (
	looking   = 1
	meaning   = 10
	lockPause = 5 * time.Millisecond
)
