//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// The steps of Replace, in order. A crash before any of them leaves the file as before or as after the edit, never
// torn. The last three are those of a file written in place, where a crash between write and sync can leave a mix:
// its digest is then neither the edit's Pre nor its Post, which whoever settles the edit must call a conflict.
const (
	StepMkdir   = "mkdir"
	StepSweep   = "sweep"
	StepCreate  = "create"
	StepWrite   = "write"
	StepWritten = "written"
	StepSync    = "sync"
	StepCheck   = "check"
	StepRename  = "rename"
	StepSyncDir = "sync_dir"
	StepDone    = "done"

	StepPlaceWrite = "place_write"
	StepPlaceMid   = "place_mid"
	StepPlaceSync  = "place_sync"
)

func (f OSFiles) step(name string) error {
	if f.Fault == nil {
		return nil
	}
	return f.Fault(name)
}

// Replace makes an edit durable. The path must be resolved: a symlink at its end is refused as ErrChanged. The owner,
// access control list and user attributes of the file are kept (set-id bits are not, as after any write).
//
// After ErrUnsettled the file may be before or after the edit, as after a crash: its digest tells. After any other
// error it is as it was.
//
// Everything happens by the descriptor of the directory that the path leads to without a link, so that no link that
// appears meanwhile takes the write elsewhere: ErrChanged then.
//
// Between the last check of the file and its rename another program can still write; that write is then lost. The
// time between is a few microseconds, and no filesystem offers to close it.
func (f OSFiles) Replace(e session.Edit, content []byte) error {
	err := f.replace(e, content)
	if err == nil {
		return nil
	}
	if isFull(err) && !errors.Is(err, ErrUnsettled) {
		err = fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return fmt.Errorf("replace %s: %w", e.Path, err)
}

// isFull tells that there was no room: on the disk, in a quota, or under a file size limit.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

func (f OSFiles) replace(e session.Edit, content []byte) error {
	if !filepath.IsAbs(e.Path) || filepath.Clean(e.Path) != e.Path {
		return errors.New("path is not absolute and clean")
	}
	if store.Sum(content) != e.Post {
		return errors.New("content does not have the edit's digest")
	}
	if err := f.step(StepMkdir); err != nil {
		return err
	}
	dir, err := f.mkdirs(filepath.Dir(e.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	p := place{dir: dir, name: filepath.Base(e.Path), path: e.Path}
	if err := f.step(StepSweep); err != nil {
		return err
	}
	sweep(dir)
	now, info, err := f.current(p)
	switch {
	case err != nil:
		return err
	case now == e.Post:
		return unsettled(f.settled(p, e, info))
	case now != e.Pre:
		return ErrChanged
	case e.InPlace || info.Links > 1 || info.Foreign:
		return f.inPlace(p, e, content)
	}
	return f.byRename(p, e, content)
}

// current gives what the file is now.
func (f OSFiles) current(p place) (store.Digest, FileInfo, error) {
	file, info, err := f.openAt(p)
	if errors.Is(err, unix.ELOOP) {
		return store.Digest{}, FileInfo{}, fmt.Errorf("%w: it is a symlink now", ErrChanged)
	}
	d, info, err := digestOpened(p.path, file, info, err)
	if err == nil && info.Dir {
		err = fmt.Errorf("%w: it is a directory now", ErrChanged)
	}
	return d, info, err
}

// settled makes sure that a file which already is what the edit makes of it stays so.
func (f OSFiles) settled(p place, e session.Edit, info FileInfo) error {
	file, err := p.open(unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close()
	if mode := e.Mode & 0o777; info.Mode != mode && !e.InPlace && !info.Foreign {
		if err := file.Chmod(fs.FileMode(mode)); err != nil {
			return err
		}
	}
	if err := f.sync(file); err != nil {
		return err
	}
	return f.syncParent(p)
}

// byRename writes a temporary file beside the path and renames it over it.
func (f OSFiles) byRename(p place, e session.Edit, content []byte) (err error) {
	if err := f.step(StepCreate); err != nil {
		return err
	}
	temp, err := createTemp(p.dir)
	if err != nil {
		return err
	}
	// The lock on the temporary file is held until it has its final name: a sweeper leaves it alone until then.
	defer temp.Close()
	renamed := false
	defer func() {
		if !renamed {
			_ = unix.Unlinkat(p.fd(), filepath.Base(temp.Name()), 0)
		}
	}()
	if err := f.fill(temp, p, e, content); err != nil {
		return err
	}
	if err := f.step(StepCheck); err != nil {
		return err
	}
	now, info, err := f.current(p)
	switch {
	case err != nil:
		return err
	case now != e.Pre || info.Links > 1 || p.moved():
		return ErrChanged
	}
	if err := f.step(StepRename); err != nil {
		return err
	}
	if info.Exists {
		err = renameOver(p.dir, temp.Name(), p.name)
	} else {
		err = renameNew(p.dir, temp.Name(), p.name)
	}
	if err != nil {
		return err
	}
	renamed = true
	return unsettled(f.syncParent(p))
}

// unsettled marks an error after which the file's digest must be looked at.
func unsettled(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnsettled, err)
}

// fill writes and syncs the temporary file, with the mode, owner and extended attributes of what it replaces.
func (f OSFiles) fill(temp *os.File, p place, e session.Edit, content []byte) error {
	half := len(content) / 2
	if err := f.step(StepWrite); err != nil {
		return err
	}
	if _, err := temp.Write(content[:half]); err != nil {
		return err
	}
	if err := f.step(StepWritten); err != nil {
		return err
	}
	if _, err := temp.Write(content[half:]); err != nil {
		return err
	}
	if err := keepOwner(temp, p); err != nil {
		return err
	}
	// After the owner, for a change of owner may drop bits.
	if err := temp.Chmod(fs.FileMode(e.Mode & 0o777)); err != nil {
		return err
	}
	if err := f.step(StepSync); err != nil {
		return err
	}
	return f.sync(temp)
}

// keepOwner gives the temporary file the owner, group and extended attributes of the file at a place, if there is one.
// A group that this user may not give, and attributes that can't be copied, stay behind.
func keepOwner(temp *os.File, p place) error {
	var old, now unix.Stat_t
	if err := p.stat(&old); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := unix.Fstat(int(temp.Fd()), &now); err != nil {
		return err
	}
	if old.Uid != now.Uid || old.Gid != now.Gid {
		if err := temp.Chown(int(old.Uid), int(old.Gid)); err != nil && old.Uid != now.Uid {
			return err
		}
	}
	if file, err := p.open(unix.O_RDONLY); err == nil {
		copyAttributes(temp, file)
		file.Close()
	}
	return nil
}

// syncParent makes the name durable.
func (f OSFiles) syncParent(p place) error {
	if err := f.step(StepSyncDir); err != nil {
		return err
	}
	if err := f.syncDir(p.dir); err != nil {
		return err
	}
	return f.step(StepDone)
}

func (f OSFiles) sync(file *os.File) error {
	if f.Sync != nil {
		return f.Sync(file)
	}
	return file.Sync()
}
