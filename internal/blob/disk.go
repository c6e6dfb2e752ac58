package blob

import (
	"errors"
	"io"
	"io/fs"
)

// disk is what the store needs of a file system, so that tests can take it away, tear it and fill it. Names are
// relative to the store's directory and of two forms: NAME, and packs/NAME.
type disk interface {
	// list names what is in packs; nothing if that is not there.
	list() ([]string, error)
	// size of a file; fs.ErrNotExist.
	size(name string) (int64, error)
	// open opens a file that is there; fs.ErrNotExist.
	open(name string, write bool) (file, error)
	// create makes a file that is not there, and the directories; fs.ErrExist. The file's name is durable after syncDir.
	create(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	// syncDir makes the names in packs durable.
	syncDir() error
	// lock takes the lock of that name without waiting; nil, nil if it is held.
	lock(name string, exclusive bool) (io.Closer, error)
	close() error
}

// file is an open file of a [disk].
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	size() (int64, error)
	truncate(size int64) error
	// sync makes the file's bytes and length durable, whoever wrote them.
	sync() error
	// own takes the file for one writer, until it is closed; false if another one has it, or if the file was removed.
	own() (bool, error)
}

func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// step asks a fault function before a step that changes something.
type faulty struct {
	disk
	fault func(step string) error
}

func (d faulty) open(name string, write bool) (file, error) {
	f, err := d.disk.open(name, write)
	if err != nil || !write {
		return f, err
	}
	return faultyFile{f, d.fault, name}, nil
}

func (d faulty) create(name string) (file, error) {
	if err := d.fault("create " + name); err != nil {
		return nil, err
	}
	f, err := d.disk.create(name)
	if err != nil {
		return nil, err
	}
	return faultyFile{f, d.fault, name}, nil
}

func (d faulty) rename(from, to string) error {
	if err := d.fault("rename " + to); err != nil {
		return err
	}
	return d.disk.rename(from, to)
}

func (d faulty) remove(name string) error {
	if err := d.fault("remove " + name); err != nil {
		return err
	}
	return d.disk.remove(name)
}

func (d faulty) syncDir() error {
	if err := d.fault("sync packs"); err != nil {
		return err
	}
	return d.disk.syncDir()
}

type faultyFile struct {
	file
	fault func(step string) error
	name  string
}

func (f faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fault("write " + f.name); err != nil {
		return 0, err
	}
	return f.file.WriteAt(p, off)
}

func (f faultyFile) truncate(size int64) error {
	if err := f.fault("truncate " + f.name); err != nil {
		return err
	}
	return f.file.truncate(size)
}

func (f faultyFile) sync() error {
	if err := f.fault("sync " + f.name); err != nil {
		return err
	}
	return f.file.sync()
}
