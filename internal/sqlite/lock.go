package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/perdure/perdure/internal/sys"
)

// writeLock makes the writers of all processes take turns. Whoever wants to write waits at the turn lock first, and
// holds it while waiting for the write lock: a writer that has just finished finds the turn lock busy and cannot
// overtake those who wait.
type writeLock struct {
	turn, write, door *os.File
}

func openWriteLock(home string) (*writeLock, error) {
	turn, err := openPrivate(filepath.Join(home, "turn.lock"))
	if err != nil {
		return nil, err
	}
	write, err := openPrivate(filepath.Join(home, "write.lock"))
	if err != nil {
		return nil, errors.Join(err, turn.Close())
	}
	door, err := openPrivate(filepath.Join(home, doorName))
	if err != nil {
		return nil, errors.Join(err, turn.Close(), write.Close())
	}
	return &writeLock{turn: turn, write: write, door: door}, nil
}

// Bounds of the wait at the door.
const (
	doorName  = "door.lock"
	doorPause = 2 * time.Millisecond
	doorTries = 5000
)

// enter makes processes open and close the database one after another: the last one to close takes the WAL away, and
// SQLite tells who opens in just that moment that the database is locked, whatever busy_timeout says. A process that
// was stopped in the door is not waited for longer than ten seconds. The returned function leaves.
func (l *writeLock) enter() func() {
	waitAt(l.door, sys.Exclusive)
	return func() { _ = flock(l.door, sys.Unlock) } // Unlocking a descriptor of ours cannot fail.
}

// waitAt waits at the door for as long as its bounds allow.
func waitAt(door *os.File, how int) {
	for range doorTries {
		if got, err := tryLock(door, how); got || err != nil {
			return
		}
		time.Sleep(doorPause) //nolint:forbidigo // a lock of another process cannot be waited for with a bound
	}
}

// acquire blocks until it is this process's turn.
func (l *writeLock) acquire() error {
	if err := flock(l.turn, sys.Exclusive); err != nil {
		return err
	}
	err := flock(l.write, sys.Exclusive)
	return errors.Join(err, flock(l.turn, sys.Unlock))
}

func (l *writeLock) release() { _ = flock(l.write, sys.Unlock) } // Unlocking a descriptor of ours cannot fail.

func (l *writeLock) close() error {
	return errors.Join(l.turn.Close(), l.write.Close(), l.door.Close())
}

// flock locks a whole file. The lock belongs to the open file, so that two stores of one process exclude each other.
func flock(f *os.File, how int) error {
	for {
		err := sys.Flock(f, how)
		if !errors.Is(err, syscall.EINTR) {
			if err != nil {
				return fmt.Errorf("lock %s: %w", f.Name(), err)
			}
			return nil
		}
	}
}

// tryLock reports false when somebody else holds the lock.
func tryLock(f *os.File, how int) (bool, error) {
	err := flock(f, how|sys.Try)
	if errors.Is(err, sys.ErrLocked) {
		return false, nil
	}
	return err == nil, err
}

// openPrivate opens or creates a file that only its owner may use, whatever the umask. It is opened as blocking:
// these files are never polled.
func openPrivate(path string) (*os.File, error) {
	f, err := openOwn(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openOwn opens a regular file that lies beside the database. What somebody has put in its place is neither followed nor
// waited for: it may lead to a file of somebody else, which would be locked, closed to others and written over.
func openOwn(path string, flag int) (*os.File, error) {
	if runtime.GOOS != "windows" { // where Shareable itself follows no link out of the directory
		flag |= sys.NoFollow | sys.NonBlock
	}
	f, err := sys.Shareable(path, flag, 0o600)
	if err != nil {
		if info, there := os.Lstat(path); there == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file and is not followed: remove it (%w)", path, err)
		}
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no regular file: remove it", path), err, f.Close())
	}
	return f, nil
}

// createFile makes an empty database file unless there is one. It is made aside and linked into place: closing a
// descriptor of the database itself would drop the locks that SQLite holds on it in this process.
func createFile(path string, syncDir func(string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*.db")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncFile makes a file durable and its owner's alone.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}
