//go:build unix

package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// building begins the name beside a directory under which it is built.
const building = ".perdure-building-"

// Materialise makes a directory that is not there yet, or is empty, from a whole tree; a new one is its user's alone.
// It is there as a whole, durably, or not at all: it is built beside its place under another name, which the next call
// takes away if this one is killed. The directory above must be there. Progress counts entries; their number is known
// once the tree was looked through.
//
// Errors: ErrTaken, ErrBuilding, ErrContent, ErrNoSpace, those of the tree, the context's. What cannot be there is no
// error, and named: what was not captured, what is off limits, and names that the file system takes for one.
func Materialise(ctx context.Context, to string, trees tree.Reader, root store.Digest, cfg Config) (Made, error) {
	b := builder{cfg: &cfg, trees: trees, clone: newCloner(&cfg)}
	made, err := b.make(ctx, filepath.Clean(to), root)
	if err != nil {
		return Made{}, fmt.Errorf("make %s from a tree: %w", to, full(err))
	}
	return made, nil
}

// builder makes one directory.
type builder struct {
	cfg   *Config
	trees tree.Reader
	clone *cloner
	made  Made
	need  int64
	total int
	done  int

	mu   sync.Mutex // guards made and done while the workers run
	work chan job
}

// job is a file to be written in a directory that stays open until all of its jobs are done.
type job struct {
	d    *shared
	path string
	e    tree.Entry
}

// shared is a directory that closes itself with its last user.
type shared struct {
	*dir
	like    *dir // the one of the same path in [Config.Like]; nil: none
	entries []tree.Entry
	users   sync.WaitGroup
}

func (b *builder) make(ctx context.Context, to string, root store.Digest) (Made, error) {
	if err := b.measure(ctx, to, root); err != nil {
		return Made{}, err
	}
	up, err := openRoot(filepath.Dir(to))
	if err != nil {
		return Made{}, err
	}
	defer up.close()
	name := filepath.Base(to)
	mode, err := free(up, name)
	if err != nil {
		return Made{}, err
	}
	record, err := beginBuild(b.cfg.Builds, to)
	if err != nil {
		return Made{}, err
	}
	defer record.leave() // after over it does nothing
	at, err := b.site(up, building+name)
	if err != nil {
		if !errors.Is(err, ErrBuilding) {
			err = errors.Join(err, record.over())
		}
		return Made{}, err
	}
	defer at.close()
	if err := errors.Join(record.at(at), b.fill(ctx, at, root)); err != nil {
		if !errors.Is(err, errKilled) && clear(up, building+name) == nil {
			_ = record.over()
		}
		return Made{}, err
	}
	if err := b.finish(up, at, to, mode); err != nil {
		return Made{}, err
	}
	return b.made, errors.Join(b.cfg.sync("place", up.sync), record.over())
}

// finish brings what was built to its place.
func (b *builder) finish(up, at *dir, to string, mode uint32) error {
	name := filepath.Base(to)
	if err := b.step("build-sync", to); err != nil {
		return err
	}
	if err := up.chmod(building+name, mode, dirBits); err != nil {
		return err
	}
	if err := b.cfg.sync("built", func() error { return syncAll(at) }); err != nil {
		return err
	}
	if err := b.step("build-place", to); err != nil {
		return err
	}
	if err := up.rmdir(name); err != nil && !errors.Is(err, unix.ENOTDIR) {
		return fmt.Errorf("%w: %w", ErrTaken, err)
	}
	err := b.cfg.mover.place(up, building+name, up, name)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", ErrTaken, err)
	}
	return err
}

func (b *builder) step(name, at string) error {
	if b.cfg.Fault != nil {
		if err := b.cfg.Fault(name, at); err != nil {
			return fmt.Errorf("%w at %s: %w", errKilled, name, err)
		}
	}
	return nil
}

// measure looks the tree through: how much it is, and whether there is room.
func (b *builder) measure(ctx context.Context, to string, root store.Digest) error {
	err := tree.Walk(b.trees, root, func(_ string, e tree.Entry) error {
		b.total++
		if e.Kind == tree.File && !e.Flags.Has(tree.Skipped) {
			b.need += e.Size + perFile
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return b.cfg.enough(filepath.Dir(to), b.need)
}

// free says whether a place is: nothing is there, or an empty directory. It gives the mode that is to be there.
func free(up *dir, name string) (mode uint32, err error) {
	s, err := up.look(name)
	if err != nil || s.kind == 0 {
		return 0o700, err
	}
	if s.kind != tree.Dir {
		return 0, ErrTaken
	}
	d, err := up.sub(name)
	if err != nil {
		return 0, err
	}
	defer d.close()
	if names, err := d.names(1); err != nil || len(names) > 0 {
		return 0, errors.Join(err, ErrTaken)
	}
	return s.mode, nil
}

// site makes the directory to build in, locked, and takes away what a killed builder left there.
func (b *builder) site(up *dir, name string) (*dir, error) {
	for range tries {
		if old, err := up.sub(name); err == nil {
			err = lockDir(old)
			if err == nil {
				err = clear(up, name)
			}
			old.close()
			if err != nil {
				return nil, err
			}
		}
		err := up.mkdir(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d, err := up.sub(name)
		if err != nil {
			return nil, err
		}
		return d, lockDir(d)
	}
	return nil, ErrBuilding
}

func lockDir(d *dir) error {
	err := unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBuilding
	}
	return d.fail("lock", "", err)
}

// clear takes a directory away with everything in it, without following a link.
func clear(up *dir, name string) error {
	err := up.unlink(name)
	if err == nil {
		return nil
	}
	d, err := up.sub(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) && up.chmod(name, 0o700, 0o700) == nil {
			d, err = up.sub(name)
		}
		if err != nil {
			return err
		}
	}
	defer d.close()
	_ = unix.Fchmod(d.fd, 0o700)
	for {
		names, err := d.names(1000)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return up.rmdir(name)
		}
		for _, n := range names {
			if err := clear(d, n); err != nil {
				return err
			}
		}
	}
}
