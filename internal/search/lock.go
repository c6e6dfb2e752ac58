package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/perdure/perdure/internal/realdir"

	"github.com/perdure/perdure/internal/sys"
)

// Names in the home.
const (
	// Dir is the home's directory of the index.
	Dir       = "search"
	indexName = "index.db"
	lockName  = "lock"
)

// waitEvery is how often a lock is tried.
const waitEvery = 20 * time.Millisecond

// ErrBusy says that another process uses the index.
var ErrBusy = errors.New("another process uses the search index")

// place is the directory of the index with its lock.
type place struct {
	root *os.Root
	lock *os.File
}

// openPlace opens the directory of a home's index; with make it is made if it is not there.
func openPlace(home string, make bool) (*place, error) {
	open := realdir.Open
	if make {
		open = realdir.Make
	}
	root, err := open(home, Dir)
	if err != nil {
		return nil, err
	}
	lock, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|sys.NoFollow|sys.NonBlock, 0o600)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &place{root, lock}, nil
}

// close gives the lock back as well.
func (p *place) close() error { return errors.Join(p.lock.Close(), p.root.Close()) }

// hold takes the lock, alone to write or with others to read, and waits for it if asked to. waiting is called again
// and again meanwhile. Errors: ErrBusy.
func (p *place) hold(ctx context.Context, alone, wait bool, waiting func()) error {
	how := sys.Shared
	if alone {
		how = sys.Exclusive
	}
	tick := time.NewTicker(waitEvery)
	defer tick.Stop()
	for {
		err := sys.Flock(p.lock, how|sys.Try)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, sys.ErrInterrupted):
			continue
		case !errors.Is(err, sys.ErrLocked):
			return fmt.Errorf("lock the search index: %w", err)
		case !wait:
			return ErrBusy
		}
		if waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// touch makes an empty file for the index, for its owner alone, if there is none. What is no file of its own is an error.
func (p *place) touch() error {
	f, err := p.root.OpenFile(indexName, os.O_RDWR|os.O_CREATE|sys.NoFollow|sys.NonBlock, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file: %w", f.Name(), realdir.ErrLink)
	}
	return errors.Join(err, f.Close())
}

// clear removes the index. Its lock must be held alone, and nothing may have it open.
func (p *place) clear() error {
	var errs []error
	// The journal goes last: without the file it means nothing, with it alone the file would be of no use.
	for _, name := range []string{indexName, indexName + "-journal", indexName + "-wal", indexName + "-shm"} {
		if err := p.root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
