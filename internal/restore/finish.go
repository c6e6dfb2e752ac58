//go:build unix

package restore

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// finish makes what was done durable and takes the staging directory away.
func (w *work) finish() error {
	ups := map[string]bool{"": true}
	for i := range w.ops {
		up, _ := split(w.ops[i].Path)
		ups[up] = true
		if isDir(w.ops[i].To) {
			ups[w.ops[i].Path] = true
		}
	}
	if err := w.step("sync", ""); err != nil {
		return err
	}
	if err := w.empty(); err != nil {
		return err
	}
	w.closeRoot()
	all := slices.Sorted(maps.Keys(ups))
	return together(len(all), func(i int) error { return w.syncDir(all[i]) })
}

func (w *work) syncDir(p string) error {
	if p == "" {
		return w.cfg.sync("root", w.root.sync)
	}
	d, err := w.root.down(p)
	if vanished(err) || errors.Is(err, fs.ErrPermission) {
		return nil // it is gone, and its own directory is synced; or its new mode forbids it, and another one's sync does it
	}
	if err != nil {
		return err
	}
	defer d.close()
	return w.cfg.sync("directory", d.sync)
}

// together does many things that wait for the disk, a few at a time: it takes several syncs for little more than one. The
// first error is given once all are over.
func together(n int, do func(i int) error) error {
	var next atomic.Int64
	errs := make([]error, min(n, 8))
	var running sync.WaitGroup
	for k := range errs {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[k] == nil; i = int(next.Add(1)) - 1 {
				errs[k] = do(i)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// empty takes the staging directory away, with what was staged for paths that stayed.
func (w *work) empty() error {
	for i := range w.ops {
		if p := w.ops[i].Path; !w.undone[p] && !w.skip[p] && !w.isStuck(p) {
			continue
		}
		if ours, err := w.stage.is(strconv.Itoa(i), w.ops[i].To); err != nil {
			return err
		} else if ours {
			if err := w.stage.unlink(strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	return w.root.rmdir(stagingPrefix + w.j.ID)
}

func (w *work) report() Report {
	r := Report{Undone: w.j.undo}
	if !w.j.undo {
		r.Kept = slices.Clone(w.j.Plan.Kept)
	}
	r.Kept = append(r.Kept, w.late...)
	slices.SortStableFunc(r.Kept, func(x, y Kept) int { return cmp.Compare(x.Path, y.Path) })
	for i := range w.ops {
		o := &w.ops[i]
		if o.Copy || sameRestored(o.From, o.To) || w.undone[o.Path] || w.skip[o.Path] || w.isStuck(o.Path) {
			continue
		}
		switch (Change{Before: o.From, After: o.To}).Verb() {
		case Added:
			r.Added++
		case Modified:
			r.Modified++
		case Deleted:
			r.Deleted++
		}
	}
	return r
}
