package workspace

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Config says where a home keeps what it knows of workspaces, and what is captured of them.
type Config struct {
	Dir      string      // of workspaces in the home
	Blobs    *blob.Store // the home's
	Avoid    []string    // directories that are never captured: the home
	UserHome string
	Keep     []string // see [capture.Config]
	MaxFile  int64
	MaxFiles int64
	MaxBytes int64
	Free     func(path string) int64 // bytes that may be written below a path, negative if unknown; nil: not asked
	Spare    int64                   // bytes that a restore leaves free on the disk
	Progress *progress.Meter         // is told how far work is that may take long; nil: nobody is
	Now      func() time.Time        // nil: the system's clock
	// Room is what a session's next capture may add to the blobs; nil, and what it gives as nil: as much as they take.
	Room   func(ctx context.Context, session string) (*capture.Room, error)
	Builds string                                   // see [restore.Config]
	Sync   func(what string, do func() error) error // see [restore.Config]
}

// Set is all workspaces of a home. It is safe for concurrent use.
type Set struct {
	cfg Config

	mu   sync.Mutex
	open map[string]*place // by where they lie
	use  int64             // counts uses, to tell which was used last
}

// place is one workspace that this process has open.
type place struct {
	root  string
	dir   string // in the home
	files *capture.Dir
	used  int64
	busy  int
}

// maxOpen bounds the workspaces that a process has open: each has a descriptor, and its watches.
const maxOpen = 32

// New gives the workspaces of a home. Nothing is read or made.
func New(cfg Config) *Set {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Set{cfg: cfg, open: map[string]*place{}}
}

// Close lets go of all workspaces. Nobody may use one meanwhile.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for root, p := range s.open {
		errs = append(errs, p.files.Close())
		delete(s.open, root)
	}
	return errors.Join(errs...)
}

// Where is where a directory really lies. That it is gone is an error that wraps fs.ErrNotExist.
func Where(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return dir, nil
}

// Key names a workspace in the home's files.
func Key(root string) string {
	sum := store.Sum([]byte(root))
	return hex.EncodeToString(sum[:12])
}

// at opens a workspace; the caller calls done when it no longer needs it.
func (s *Set) at(dir string) (p *place, done func(), err error) {
	root, err := Where(dir)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p = s.open[root]
	if p == nil {
		p, err = s.take(root)
		if err != nil {
			return nil, nil, err
		}
		s.close(maxOpen - 1)
		s.open[root] = p
	}
	s.use++
	p.used = s.use
	p.busy++
	return p, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.busy--
	}, nil
}

// take opens a workspace that is not open.
func (s *Set) take(root string) (*place, error) {
	p := &place{root: root, dir: filepath.Join(s.cfg.Dir, Key(root))}
	c := capture.Config{
		Blobs: s.cfg.Blobs, Cache: filepath.Join(p.dir, "stat"), Avoid: s.cfg.Avoid, UserHome: s.cfg.UserHome, Keep: s.cfg.Keep,
		Own: restore.Staging, MaxFile: s.cfg.MaxFile, MaxFiles: s.cfg.MaxFiles, MaxBytes: s.cfg.MaxBytes, Watch: true,
	}
	var err error
	if p.files, err = capture.Open(root, c); err != nil {
		return nil, err
	}
	if err := p.make(); err != nil {
		return nil, errors.Join(err, p.files.Close())
	}
	return p, nil
}

// make makes the workspace's directory in the home.
func (p *place) make() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("workspace %s: %w", p.root, err)
	}
	name := filepath.Join(p.dir, "root")
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	return os.WriteFile(name, []byte(p.root+"\n"), 0o600)
}

// close closes those that were not used for longest, until there are no more than so many.
func (s *Set) close(most int) {
	for len(s.open) > most {
		var oldest *place
		for _, p := range s.open {
			if p.busy == 0 && (oldest == nil || p.used < oldest.used) {
				oldest = p
			}
		}
		if oldest == nil {
			return
		}
		_ = oldest.files.Close() // what it knew is a cache
		delete(s.open, oldest.root)
	}
}

// leasePause is how often a lease that another process holds is asked for: the kernel does not wait with a bound.
const leasePause = 10 * time.Millisecond

// lease takes the workspace's lease, shared or alone, and waits for it as long as ctx allows.
func (p *place) lease(ctx context.Context, how int) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(p.dir, "lease"), os.O_RDWR|os.O_CREATE|sys.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("workspace %s: %w", p.root, err)
	}
	tick := time.NewTicker(leasePause)
	defer tick.Stop()
	for {
		err := sys.Flock(f, how|sys.Try)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case errors.Is(err, sys.ErrInterrupted):
			continue
		case !errors.Is(err, sys.ErrLocked):
			return nil, errors.Join(fmt.Errorf("lease of workspace %s: %w", p.root, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("another process restores files in %s: %w", p.root, ctx.Err()), f.Close())
		case <-tick.C:
		}
	}
}
