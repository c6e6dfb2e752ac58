//go:build unix

package capture

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// place is a directory that is still to be looked at.
type place struct {
	path    string // relative to the root, "" for it
	rules   rules  // of the directories around it
	private bool   // git ignores it: so it does what is in it
	whole   bool   // look at all below, too: it is new, or everything is looked at
}

// walk is one look at directories: at all of them, or at some. Its workers share the queue; each has found of its own.
type walk struct {
	d    *Dir
	ctx  context.Context //nolint:containedctx // of this one walk, for its workers
	keep keeper
	now  int64 // what the file system's clock said when the walk began, in ns
	all  bool  // read every file again, whatever its stamp says
	ask  bool  // what is known may be swept: a content that is not there any more is read again

	weigh bool // look at everything and read no file: what it finds is only counted

	mu      sync.Mutex
	wake    sync.Cond
	queue   []place
	working int
	failed  error
	files   int64
	bytes   int64
}

// found is what one worker saw.
type found struct {
	dirs    []*directory // new or changed
	gone    []string     // directories that are no longer there, with all below
	skipped []skips
	changed int64
	ruled   []*ruled
	repos   []string
}

// maxDepth bounds directories in directories.
const maxDepth = 1000

// run looks at the places and everything that they lead to.
func (w *walk) run(places []place) (found, error) {
	w.wake.L = &w.mu
	w.queue = places
	all := make([]found, w.d.cfg.Workers)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { w.work(&all[i]) })
	}
	wg.Wait()
	sum := found{}
	for i := range all {
		f := &all[i]
		sum.dirs = append(sum.dirs, f.dirs...)
		sum.gone = append(sum.gone, f.gone...)
		sum.skipped = append(sum.skipped, f.skipped...)
		sum.repos, sum.ruled = append(sum.repos, f.repos...), append(sum.ruled, f.ruled...)
		sum.changed += f.changed
	}
	return sum, w.failed
}

func (w *walk) work(f *found) {
	v := visit{walk: w, found: f, buf: make([]byte, 64<<10)}
	for {
		p, ok := w.next()
		if !ok {
			return
		}
		below, err := v.look(p)
		w.done(below, err)
	}
}

// next takes a place from the queue; false: there will be none any more.
func (w *walk) next() (place, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && w.working > 0 && w.failed == nil {
		w.wake.Wait()
	}
	if len(w.queue) == 0 || w.failed != nil {
		return place{}, false
	}
	p := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	w.working++
	return p, true
}

func (w *walk) done(below []place, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working--
	w.queue = append(w.queue, below...)
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil && w.failed == nil {
		w.failed = err
	}
	if w.failed != nil || len(w.queue) > 0 || w.working == 0 {
		w.wake.Broadcast()
	}
}

// count adds to what the walk has seen, and says whether that is more than may be captured.
func (w *walk) count(files, bytes int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files, w.bytes = w.files+files, w.bytes+bytes
	w.d.at.files.Store(w.files)
	w.d.at.bytes.Store(w.bytes)
	return w.d.tooMuch(w.files, w.bytes)
}

// visit is the look of one worker at one directory after another.
type visit struct {
	*walk
	found *found
	buf   []byte // of names, and of files' contents
	names []string
	text  []byte // of a file
	dir   int    // the directory's descriptor

	old     *directory // what was known; nil: nothing
	here    place
	below   []place
	out     []file // nil as long as it is what is known
	counted []file // room for those that are only counted
	skips   []Skip
}

// look compares a directory with what is known of it, and gives the directories in it that are to be looked at.
func (v *visit) look(p place) ([]place, error) {
	v.here, v.below, v.skips, v.old = p, nil, nil, v.d.dirs[p.path]
	fd, err := openDir(v.d.rootFD, p.path)
	if err != nil {
		return nil, v.cannotOpen(p, err)
	}
	defer unix.Close(fd)
	v.dir = fd
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: p.path, Err: err}
	}
	stamp := v.d.stamp(&st)
	if !v.weigh {
		v.d.watch.add(fd, p.path, stamp.ino) // before its names are read, so that nothing falls in between
	}
	racy := v.d.racy(stamp.ctime, v.now)
	if err := v.list(stamp); err != nil { // a directory without a name has none in it, either
		return nil, v.cannotOpen(p, err)
	}
	if v.cacheTagged() {
		v.unkept(p.path, WhyRebuildable)
		return nil, nil
	}
	v.rules()
	changed, err := v.entries()
	if err != nil {
		return nil, err
	}
	return v.below, v.keepLook(stamp, racy, changed)
}

// keepLook notes what was seen, if it is not just what is known.
func (v *visit) keepLook(s stamp, racy bool, changed int64) error {
	if v.weigh {
		seen := directory{files: v.out}
		if v.out == nil {
			seen.files = v.old.files
		}
		seen.sum()
		return v.count(seen.count, seen.bytes)
	}
	if len(v.skips) > 0 || len(v.d.skipped[v.here.path]) > 0 {
		v.found.skipped = append(v.found.skipped, skips{v.here.path, v.skips})
	}
	v.found.changed += changed
	if v.out == nil && v.old.stamp == s && v.old.racy == racy && v.old.rules == v.here.rules.sum {
		return v.count(v.old.count, v.old.bytes)
	}
	next := &directory{path: v.here.path, stamp: s, racy: racy, files: v.out, rules: v.here.rules.sum}
	if v.old != nil {
		next.object, next.same = v.old.object, changed == 0 && !v.old.object.IsZero()
	}
	if v.out == nil {
		next.files = v.old.files
	}
	next.sum()
	v.found.dirs = append(v.found.dirs, next)
	return v.count(next.count, next.bytes)
}

// cannotOpen says what a directory that cannot be opened is: gone, or skipped and named.
func (v *visit) cannotOpen(p place, err error) error {
	switch {
	case p.path == "":
		return &fs.PathError{Op: "open", Path: v.d.root, Err: err}
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
		v.found.gone = append(v.found.gone, p.path) // it went while this looked: its parent has changed, and is looked at again
		return nil
	case errors.Is(err, unix.EXDEV):
		v.unkept(p.path, WhyMount)
	case errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EIO) || errors.Is(err, unix.ENAMETOOLONG):
		v.unkept(p.path, WhyUnreadable)
	default:
		return &fs.PathError{Op: "open", Path: join(v.d.root, p.path), Err: err}
	}
	return nil
}

// unkept notes a directory that is there and that is not looked into.
func (v *visit) unkept(path string, why Why) {
	v.found.gone = append(v.found.gone, path)
	v.found.skipped = append(v.found.skipped, skips{path, []Skip{{Path: path, Why: why, Dir: true}}})
}
