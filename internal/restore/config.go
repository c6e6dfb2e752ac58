package restore

import (
	"errors"
	"io"
	"os"

	"github.com/perdure/perdure/store"
)

// Content gives what files hold. The length is that of the whole; whoever reads it verifies the digest.
type Content interface {
	Open(d store.Digest) (io.ReadCloser, int64, error)
}

// Config is what a restore works with.
type Config struct {
	ID       string // of a journal that is begun, a plain name; empty: a random one
	Content  Content
	Free     func(path string) int64 // bytes that may be written below a path, negative if unknown; nil: not asked
	Spare    int64                   // bytes that must be left on the disk, at most; as many as are written suffice
	Builds   string                  // directory of the records of trees that are being made, see [ClearBuilds]; empty: none
	Progress func(Step)              // nil: none. One call at a time; it does not wait
	// Like is a directory that may have files of a tree that is made, under the same names: what is as wanted shares their
	// content where the file system can do that, and is verified like all else. Empty: none.
	Like  string
	Clone func(dst, src *os.File) error // makes an empty file share another one's content; nil: the system's way
	Fault func(step, at string) error   // tests: an error is a kill, after which nothing is done, not even tidying up
	// Sync stands between a restore and the disk: tests leave it out, count it and fail it. Nil: do is called.
	Sync  func(what string, do func() error) error
	mover mover
}

var (
	// ErrBusy says that another process works on this restore.
	ErrBusy = errors.New("another process works on this restore")
	// ErrPending says that an earlier restore of this directory is not finished.
	ErrPending = errors.New("an earlier restore is not finished: finish it, or undo it")
	// ErrMoved says that the directory is not the one that the plan was made for.
	ErrMoved = errors.New("the directory is not the one that the restore was planned for")
	// ErrNoSpace says that there is no room on the disk. The restore can go on once there is.
	ErrNoSpace = errors.New("no room on the disk for the restore")
	// ErrContent says that what is to be restored is missing or damaged in the store. Nothing was changed.
	ErrContent = errors.New("the content that is to be restored is missing or damaged")
)

var (
	// ErrTaken says that there is something already where a tree is to be written.
	ErrTaken = errors.New("there is something already; a tree is written to a place of its own")
	// ErrBuilding says that another process writes a tree to that place.
	ErrBuilding = errors.New("another process writes a tree there")
)

// Step is how far a restore, or the making of a directory, is.
type Step struct {
	Done, Of int   // paths
	Bytes    int64 // that were written
}

// Made says what a directory was made from.
type Made struct {
	Files, Dirs, Links int
	Bytes              int64
	Shared             int64  // of them, whose content is shared with [Config.Like]
	Kept               []Kept // what of the tree is not there
}

// Report says what became of a restore.
type Report struct {
	Undone                   bool // it was undone: the counts are of the way back
	Added, Modified, Deleted int
	Kept                     []Kept // what stayed, those of the plan and those found meanwhile
}
