//go:build unix

package restore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// workers write files at the same time: the second one works while the first one waits for the store or the disk.
const workers = 2

// fill writes the whole tree below a directory. The first error of a worker, or of the walk, ends it.
func (b *builder) fill(ctx context.Context, at *dir, root store.Digest) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.work = make(chan job, 64)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for j := range b.work {
				if ctx.Err() == nil {
					if err := b.file(ctx, j); err != nil {
						stop(err)
					}
				}
				j.d.users.Done()
			}
		})
	}
	top, err := at.sub(".")
	if err == nil {
		d := &shared{dir: top}
		if b.cfg.Like != "" {
			d.like, _ = openRoot(b.cfg.Like) // without it all is written
		}
		err = b.dir(ctx, d, "", root)
	}
	close(b.work)
	running.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// dir writes what is in one directory, and closes it when that is there.
func (b *builder) dir(ctx context.Context, d *shared, path string, object store.Digest) error {
	defer d.leave()
	defer d.users.Wait()
	entries, err := tree.List(b.trees, object)
	if err != nil {
		return err
	}
	d.entries = entries
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, at := entries[i], tree.Join(path, entries[i].Name)
		switch why := notMade(&e); {
		case why != "":
			b.leave(Kept{Path: at, Why: why})
		case e.Kind == tree.Dir:
			if err := b.sub(ctx, d, at, &e); err != nil {
				return err
			}
		default:
			d.users.Add(1)
			b.work <- job{d: d, path: at, e: e}
		}
	}
	return nil
}

// notMade says why an entry is not written.
func notMade(e *tree.Entry) Reason {
	switch {
	case offLimits(e.Name) != "":
		return OffLimits
	case e.Kind == tree.Other || e.Flags.Has(tree.Skipped):
		return NotStored
	}
	return ""
}

func (b *builder) sub(ctx context.Context, up *shared, path string, e *tree.Entry) error {
	if err := b.step("build-dir", path); err != nil {
		return err
	}
	err := up.mkdir(e.Name)
	if errors.Is(err, fs.ErrExist) {
		b.leave(up.collision(path))
		return nil
	}
	if err != nil {
		return err
	}
	if err := up.chmod(e.Name, 0o700, 0o700); err != nil {
		return err
	}
	d, err := up.sub(e.Name)
	if err != nil {
		return err
	}
	if err := b.dir(ctx, &shared{dir: d, like: up.alike(e.Name)}, path, e.Digest); err != nil {
		return err
	}
	b.count(func(m *Made) { m.Dirs++ })
	return up.chmod(e.Name, e.Mode, dirBits)
}

// file writes one file or link. A name that is there already is one that the file system takes for another of the tree.
func (b *builder) file(ctx context.Context, j job) error {
	if err := b.step("build-file", j.path); err != nil {
		return err
	}
	bytes := int64(0)
	f, err := b.cfg.write(ctx, j.d.dir, j.e.Name, &j.e, func(f *os.File) (bool, error) {
		src := b.clone.original(j.d.like, &j.e)
		if src == nil {
			return false, nil
		}
		defer src.Close()
		ok, err := b.clone.fill(f, src, &j.e)
		if ok {
			bytes = j.e.Size
		}
		return ok, err
	})
	if f != nil {
		err = f.Close() // all is synced at once, at the end
	}
	if errors.Is(err, fs.ErrExist) {
		b.leave(j.d.collision(j.path))
		return nil
	}
	if err != nil {
		return j.d.fail("make", j.e.Name, err)
	}
	b.count(func(m *Made) {
		if j.e.Kind == tree.Link {
			m.Links++
			return
		}
		m.Files++
		m.Bytes += j.e.Size
		m.Shared += bytes
	})
	return nil
}

// alike opens the directory of the same name in the one that files may be shared with.
func (s *shared) alike(name string) *dir {
	if s.like == nil {
		return nil
	}
	d, err := s.like.sub(name)
	if err != nil {
		return nil
	}
	return d
}

func (s *shared) leave() {
	s.close()
	if s.like != nil {
		s.like.close()
	}
}

// collision names a path that another one of its directory was taken for.
func (s *shared) collision(p string) Kept {
	k := Kept{Path: p, Why: Collides}
	up, name := split(p)
	all := Folding{Case: true, Norm: true}
	for i := range s.entries {
		if other := s.entries[i].Name; other != name && all.key(other) == all.key(name) {
			k.With = tree.Join(up, other)
		}
	}
	return k
}

func (b *builder) leave(k Kept) { b.count(func(m *Made) { m.Kept = append(m.Kept, k) }) }

// count takes something to the figures, and tells how far it is.
func (b *builder) count(add func(*Made)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	add(&b.made)
	b.done++
	if b.cfg.Progress != nil {
		b.cfg.Progress(Step{Done: b.done, Of: b.total, Bytes: b.made.Bytes})
	}
}
