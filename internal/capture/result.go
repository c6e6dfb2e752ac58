package capture

import (
	"errors"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/store"
)

// Config is how a directory is captured. Blobs must be given; the rest has good zero values.
type Config struct {
	Blobs    *blob.Store
	Cache    string                 // file that keeps the stamps from one process to the next; empty: none
	Workers  int                    // that look and read at once; 0: 2
	Avoid    []string               // directories that are never captured, wherever they lie: the home of sessions
	UserHome string                 // is never captured as a whole, nor is what it lies in
	Keep     []string               // names of directories that are captured although they could be made again
	Own      func(name string) bool // names that no tree has: temporary ones of a restore; nil: none
	MaxFile  int64                  // bytes of a file; a larger one is named and not kept; 0: 100 MiB
	MaxFiles int64                  // more are refused; 0: 200,000
	MaxBytes int64                  // more are refused; 0: 2 GiB
	Watch    bool                   // have the kernel tell what changes, for the hint rung
	Now      func() int64
}

// Room bounds what one capture adds to the blobs, and hears of it.
type Room struct {
	Most  int64                   // bytes that it may add; below 0: no bound
	Count func(added int64) error // is told what is added before that is kept; its error ends the capture
}

// Bound bounds a batch. Of no room it does nothing.
func (r *Room) Bound(b *blob.Batch) {
	if r != nil && r.Most >= 0 {
		b.Bound(r.Most)
	}
}

// Commit commits a batch, which counts what it adds. A kill between the two counts what is not there, and never the
// other way round.
func (r *Room) Commit(b *blob.Batch) error {
	if n := b.Added(); r != nil && n > 0 {
		if err := r.Count(n); err != nil {
			return err
		}
	}
	return b.Commit()
}

// ErrRefused is what errors about directories that are not captured are: they are too large, or not one project's.
var ErrRefused = errors.New("the directory is not captured")

// refusal says why.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes a refusal an ErrRefused.
func (refusal) Is(target error) bool { return target == ErrRefused }

// Rung is how a capture found what has changed.
type Rung string

// The rungs of captures, each more thorough than the one before.
const (
	Hint   Rung = "hint"
	Walk   Rung = "walk"
	Verify Rung = "verify"
)

// Result is a directory as it was captured.
type Result struct {
	Tree    store.Digest
	Rung    Rung         // what was really done
	Files   int64        // captured, in all
	Bytes   int64        // of them
	Changed int64        // entries that are not as they were at the capture before, of whatever session
	Before  store.Digest // that capture's tree; zero: it is not known
	Skipped []Skip       // present and not captured, by path
	Torn    []string     // changed while they were read, three times: their content is one that they may never have had
	Repos   []string     // directories with a .git in them

	release func() error
}

// Release lets blobs be swept again; it comes after the event that names the tree. A second call does nothing.
func (r *Result) Release() error {
	if r.release == nil {
		return nil
	}
	release := r.release
	r.release = nil
	return release()
}

// Why says why something is present and not captured.
type Why string

// Reasons to skip.
const (
	WhyRebuildable Why = "can be made again" // a directory of dependencies or of a cache
	WhyMount       Why = "another file system"
	WhyUnreadable  Why = "cannot be read"
	WhyLarge       Why = "too large"
	WhyIgnored     Why = "ignored by git, and large"
	WhyOwn         Why = "perdure's own"
	WhyRepository  Why = "a repository's own files"
	WhySpecial     Why = "no file, directory or link"
	WhyDeep        Why = "too deep"
)

// Skip is what was not captured: a file, or a directory with all in it.
type Skip struct {
	Path  string // relative, bytes as they are
	Why   Why
	Dir   bool
	Bytes int64 // of a file
}
