package blob

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/perdure/perdure/internal/sys"
)

// osDisk is a directory of the system. Names are resolved below it: no link leads out.
type osDisk struct {
	dir  string
	sync func(*os.File) error

	mu   sync.Mutex
	root *os.Root // nil until the directory was there
	shut bool
}

func (d *osDisk) open(name string, write bool) (file, error) {
	how := os.O_RDONLY
	if write {
		how = os.O_RDWR
	}
	f, err := d.openFile(name, how|sys.NoFollow|sys.NonBlock)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: errors.New("it is no regular file")}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return osFile{f, d.sync}, nil
}

func (d *osDisk) create(name string) (file, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	f, err := d.openFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return osFile{f, d.sync}, nil
}

// make makes the directories, and their names durable.
func (d *osDisk) make() error {
	if _, err := d.dirRoot(); err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	for _, dir := range []string{d.dir, filepath.Join(d.dir, packsDir)} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	// Another process may have made them a moment ago and not have come to this.
	return errors.Join(d.syncPath(filepath.Dir(d.dir)), d.syncPath(d.dir))
}

func (d *osDisk) dirRoot() (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return nil, ErrClosed
	}
	if d.root != nil {
		return d.root, nil
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, err
	}
	if info, err := root.Lstat(packsDir); err != nil || !info.IsDir() {
		_ = root.Close()
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	d.root = root
	return root, nil
}

func (d *osDisk) openFile(name string, how int) (*os.File, error) {
	root, err := d.dirRoot()
	if err != nil {
		return nil, err
	}
	return root.OpenFile(name, how, 0o600)
}

func (d *osDisk) list() ([]string, error) {
	dir, err := d.openFile(packsDir, os.O_RDONLY)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(-1)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() { // what stands there as a link or a directory is nobody's pack
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (d *osDisk) size(name string) (int64, error) {
	root, err := d.dirRoot()
	if err != nil {
		return 0, err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (d *osDisk) rename(from, to string) error {
	root, err := d.dirRoot()
	if err != nil {
		return err
	}
	return root.Rename(from, to)
}

func (d *osDisk) remove(name string) error {
	root, err := d.dirRoot()
	if err != nil {
		return err
	}
	return root.Remove(name)
}

func (d *osDisk) syncDir() error { return d.syncPath(filepath.Join(d.dir, packsDir)) }

func (d *osDisk) syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.sync(f), f.Close())
}

func (d *osDisk) lock(name string, exclusive bool) (io.Closer, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	f, err := d.openFile(name, os.O_RDWR|os.O_CREATE|sys.NoFollow|sys.NonBlock)
	if err != nil {
		return nil, err
	}
	how := sys.Shared
	if exclusive {
		how = sys.Exclusive
	}
	if ok, err := flock(f, how); err != nil || !ok {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d *osDisk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	if d.root == nil {
		return nil
	}
	root := d.root
	d.root = nil
	return root.Close()
}

// osFile is an open file.
type osFile struct {
	*os.File
	flush func(*os.File) error
}

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) truncate(size int64) error { return f.Truncate(size) }

func (f osFile) sync() error { return f.flush(f.File) }

func (f osFile) own() (bool, error) {
	if ok, err := flock(f.File, sys.Exclusive); err != nil || !ok {
		return false, err
	}
	n, err := sys.Names(f.File)
	return n > 0, err
}

// flock takes a lock that goes with the open file, without waiting.
func flock(f *os.File, how int) (bool, error) {
	for {
		err := sys.Flock(f, how|sys.Try)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, sys.ErrLocked):
			return false, nil
		case !errors.Is(err, sys.ErrInterrupted):
			return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}
