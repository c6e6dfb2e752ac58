//go:build unix

package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// Dir is a directory under care. It is safe for concurrent use; one capture is made at a time.
type Dir struct {
	cfg    Config
	root   string // absolute, without links
	rootFD int
	window int64 // ns: how far apart changes must lie for the file system's clock to tell them
	coarse int64 // ns: in tests, what stamps are rounded to
	avoid  []stamp
	ignore rules                               // of the directories around it
	at     struct{ files, bytes atomic.Int64 } // what the capture that is being made has looked at

	mu      sync.Mutex
	dirs    map[string]*directory
	skipped map[string][]Skip // by the directory that they lie in
	rules   map[string]*ruled
	repos   []string
	files   int64 // captured, in all
	bytes   int64
	tree    store.Digest // of the newest capture
	mark    []byte       // of its batch: what is known is stored as long as that still holds
	heavy   bool         // it was too large when it was looked at last
	walked  bool         // all was looked at since it was opened, so that hints can be relied on
	dirty   map[string]bool
	watch   *watcher
}

// Open takes a directory under care. What its links lead to is what is captured, also when they lead elsewhere later.
// Errors: [ErrRefused], or those of opening it.
func Open(root string, cfg Config) (*Dir, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	cfg = cfg.filled()
	if err := guard(root, cfg); err != nil {
		return nil, err
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", root, err)
	}
	d := &Dir{cfg: cfg, root: root, rootFD: fd, window: window(fd), ignore: around(root)}
	var own unix.Stat_t
	if err := unix.Fstat(fd, &own); err != nil {
		return nil, errors.Join(fmt.Errorf("capture %s: %w", root, err), unix.Close(fd))
	}
	for _, dir := range cfg.Avoid {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && st.Dev == own.Dev { // of another file system nothing is captured, and numbers come again there
			d.avoid = append(d.avoid, stampOf(&st))
		}
	}
	d.forget()
	d.load()
	return d, nil
}

func (c Config) filled() Config {
	c.Workers = orElse(c.Workers, 2)
	c.MaxFile = orElse(c.MaxFile, 100<<20)
	c.MaxFiles = orElse(c.MaxFiles, 200_000)
	c.MaxBytes = orElse(c.MaxBytes, 2<<30)
	if c.Now == nil {
		c.Now = coarseClock
	}
	return c
}

func orElse[T int | int64](v, usual T) T {
	if v == 0 {
		return usual
	}
	return v
}

// guard refuses directories that are no project: the root of the file system, the user's home, and what it lies in.
func guard(root string, cfg Config) error {
	home := cfg.UserHome
	if real, err := filepath.EvalSymlinks(home); err == nil && home != "" {
		home = real
	}
	switch {
	case root == "/":
		return refusal("/ is the whole file system, not one project's directory")
	case home != "" && root == home:
		return refusal(root + " is your home directory, not one project's")
	case home != "" && strings.HasPrefix(home, root+"/"):
		return refusal(root + " has your home directory in it")
	}
	return nil
}

// tooMuch refuses what is larger than was agreed.
func (d *Dir) tooMuch(files, bytes int64) error {
	if files > d.cfg.MaxFiles {
		return refusal(fmt.Sprintf("%s has over %d files: files.max_files of the configuration allows more", d.root, d.cfg.MaxFiles))
	}
	if bytes > d.cfg.MaxBytes {
		return refusal(fmt.Sprintf("the files of %s are over %d MiB: files.max_mb of the configuration allows more", d.root, d.cfg.MaxBytes>>20))
	}
	return nil
}

// own reports one of the directories that are never captured.
func (d *Dir) own(s stamp) bool {
	return slices.ContainsFunc(d.avoid, func(a stamp) bool { return a.ino == s.ino })
}

func (d *Dir) kept(name string) bool { return slices.Contains(d.cfg.Keep, name) }

// racy reports whether something that was changed at ctime and read at a time may change again without another ctime.
// A time in the future is of a clock that was set back.
func (d *Dir) racy(ctime, read int64) bool { return ctime > read-d.window }

func (d *Dir) clock() int64 { return d.cfg.Now() }

// forget makes the next capture a first one.
func (d *Dir) forget() {
	d.dirs, d.skipped, d.rules, d.dirty = map[string]*directory{}, map[string][]Skip{}, map[string]*ruled{}, map[string]bool{}
	d.repos, d.tree, d.mark, d.walked, d.files, d.bytes = nil, store.Digest{}, nil, false, 0, 0
}

// Root is the directory, absolute and without links.
func (d *Dir) Root() string { return d.root }

// Close lets go of the directory and keeps what is known of it, if that can be kept: it is a cache, and whoever has no room
// for it, or only looks, has done what was asked all the same.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch.close()
	_ = d.save()
	return unix.Close(d.rootFD)
}

// Rest lets go of the kernel's watches: the next capture looks at all, and watches again. It is for a session whose turn
// is over.
func (d *Dir) Rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watch.close()
	d.watch, d.walked = nil, false
}

// Changed has the next hint look at what is named, relative to the root, and at what lies directly in it.
func (d *Dir) Changed(paths ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range paths {
		d.dirty[parent(p)] = true
		if d.dirs[p] != nil {
			d.dirty[p] = true
		}
	}
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// stillThere makes sure that the root's name leads to the directory that is open. What was replaced is another directory,
// of which nothing is known.
func (d *Dir) stillThere() error {
	var open, named unix.Stat_t
	if err := unix.Fstat(d.rootFD, &open); err != nil {
		return err
	}
	if err := unix.Lstat(d.root, &named); err != nil {
		return errors.Join(errGone, err)
	}
	if open.Ino == named.Ino && open.Dev == named.Dev {
		return nil
	}
	fd, err := unix.Open(d.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return errors.Join(errGone, err)
	}
	_ = unix.Close(d.rootFD)
	d.rootFD = fd
	d.forget()
	return nil
}

// Capture keeps the files as they are now. The result's Release must be called. Errors: [ErrRefused], those of the blobs
// (a full disk, a quota), the context's; nothing of the directory is changed in any case, and no event may name the tree.
func (d *Dir) Capture(ctx context.Context, rung Rung) (Result, error) {
	return d.CaptureWithin(ctx, rung, nil)
}

// CaptureWithin is [Dir.Capture] with a bound on what it adds to the blobs: more is blob.ErrBound. Nil is no bound.
func (d *Dir) CaptureWithin(ctx context.Context, rung Rung, room *Room) (Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at.files.Store(0)
	d.at.bytes.Store(0)
	if err := d.stillThere(); err != nil {
		return Result{}, fmt.Errorf("capture %s: %w", d.root, err)
	}
	batch, err := d.cfg.Blobs.Batch(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("capture %s: %w", d.root, err)
	}
	room.Bound(batch)
	r, err := d.capture(ctx, batch, rung, room)
	if err != nil {
		if !errors.Is(err, ErrRefused) {
			err = fmt.Errorf("capture %s: %w", d.root, err)
		}
		return Result{}, errors.Join(err, batch.Close())
	}
	r.release = batch.Close
	return r, nil
}

// Progress is how many files and bytes the capture that is being made, or was made last, has looked at. It does not wait.
func (d *Dir) Progress() (files, bytes int64) { return d.at.files.Load(), d.at.bytes.Load() }
