package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"
	ncruces "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"
)

var boots atomic.Int64

// boot gives the SQLite of one life of a machine with this disk: the same store code over another driver, whose file
// system is the disk. Shared memory does not outlive the life.
func boot(t testing.TB, d *disk) *engine {
	name := fmt.Sprintf("boot%d", boots.Add(1))
	vfs.Register(name, &simVFS{disk: d, shm: filepath.Join(t.TempDir(), name), locks: map[string]*fileLocks{}})
	t.Cleanup(func() { vfs.Unregister(name) })
	return &engine{
		connect: func(path string, how access) (driver.Conn, error) {
			if d.gone() { // The driver keeps the memory of a connection that it could not open.
				return nil, errPower
			}
			path = "file:" + filepath.Base(path) + "?vfs=" + name
			if how != readWrite {
				path += "&mode=ro"
			}
			return (&ncruces.SQLite{}).Open(path)
		},
		exists: func(path string) bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.files[filepath.Base(path)] != nil
		},
		code: func(err error) (int, bool) {
			var extended sqlite3.ExtendedErrorCode
			var plain sqlite3.ErrorCode
			switch {
			case errors.As(err, &extended):
				return int(extended), true
			case errors.As(err, &plain):
				return int(plain), true
			}
			return 0, false
		},
		create: func(string, func(string) error) error { return nil },
		openLog: func(path string) (logFile, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			f := d.files[filepath.Base(path)]
			if d.lost || f == nil {
				return nil, errPower
			}
			return &simLog{d, f, f.faults}, nil
		},
		aliased: true,
	}
}

// simLog is a file that is only synced.
type simLog struct {
	disk *disk
	file *diskFile
	seen int // faults
}

func (l *simLog) Close() error { return nil }
func (l *simLog) Sync() error  { return l.disk.sync(l.file, &l.seen) }

// unsynced is a log whose syncs do nothing.
type unsynced struct{}

func (unsynced) Close() error { return nil }
func (unsynced) Sync() error  { return nil }

// withoutSyncs leaves an engine only the syncs that SQLite makes by itself, as the pragma synchronous says.
func withoutSyncs(e *engine) *engine {
	e.openLog = func(string) (logFile, error) { return unsynced{}, nil }
	return e
}

// simVFS is SQLite's view of a disk.
type simVFS struct {
	disk  *disk
	shm   string
	mu    sync.Mutex
	locks map[string]*fileLocks
}

func (v *simVFS) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	v.disk.mu.Lock()
	defer v.disk.mu.Unlock()
	if v.disk.lost {
		return nil, flags, sqlite3.CANTOPEN
	}
	f := v.disk.files[name]
	if f == nil {
		if flags&vfs.OPEN_CREATE == 0 {
			return nil, flags, sqlite3.CANTOPEN
		}
		f = &diskFile{name: name}
		v.disk.files[name] = f
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.locks[name] == nil {
		v.locks[name] = &fileLocks{}
	}
	return &simFile{disk: v.disk, file: f, locks: v.locks[name], memory: vfs.NewSharedMemory(v.shm+"-shm", flags), readOnly: flags&vfs.OPEN_READONLY != 0, seen: f.faults}, flags, nil
}

func (v *simVFS) Delete(name string, _ bool) error {
	v.disk.mu.Lock()
	defer v.disk.mu.Unlock()
	if v.disk.lost {
		return errPower
	}
	if v.disk.files[name] == nil {
		return sqlite3.IOERR_DELETE_NOENT
	}
	delete(v.disk.files, name)
	return nil
}

func (v *simVFS) Access(name string, _ vfs.AccessFlag) (bool, error) {
	v.disk.mu.Lock()
	defer v.disk.mu.Unlock()
	return v.disk.files[name] != nil, nil
}

func (v *simVFS) FullPathname(name string) (string, error) { return name, nil }

// simFile is one connection's descriptor.
type simFile struct {
	disk   *disk
	file   *diskFile
	locks  *fileLocks
	level  vfs.LockLevel
	memory vfs.SharedMemory

	readOnly bool
	seen     int // faults
}

func (f *simFile) Close() error {
	if f.memory != nil {
		_ = f.memory.Close()
	}
	return f.Unlock(vfs.LOCK_NONE)
}

func (f *simFile) ReadAt(b []byte, off int64) (int, error) { return f.disk.read(f.file, b, off) }

func (f *simFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.disk.change(f.file, change{at: off, data: slices.Clone(b)}); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (f *simFile) Truncate(size int64) error     { return f.disk.change(f.file, change{at: size}) }
func (f *simFile) Sync(flags vfs.SyncFlag) error { return f.disk.sync(f.file, &f.seen) }

func (f *simFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.file.now)), nil
}

func (f *simFile) SectorSize() int { return 4096 }

func (f *simFile) DeviceCharacteristics() vfs.DeviceCharacteristic {
	return vfs.IOCAP_POWERSAFE_OVERWRITE // As SQLite assumes on a unix file system.
}

func (f *simFile) SharedMemory() vfs.SharedMemory { return f.memory }

// fileLocks are the five lock levels of a database file.
type fileLocks struct {
	mu       sync.Mutex
	shared   int
	reserved *simFile
	pending  *simFile
}

func (f *simFile) Lock(level vfs.LockLevel) error {
	l := f.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case f.level >= level:
		return nil
	case f.readOnly && level > vfs.LOCK_SHARED: // The kernel gives no write lock on such a descriptor.
		return sqlite3.IOERR_LOCK
	}
	switch level {
	case vfs.LOCK_SHARED:
		if l.pending != nil {
			return sqlite3.BUSY
		}
		l.shared++
	case vfs.LOCK_RESERVED:
		if l.reserved != nil {
			return sqlite3.BUSY
		}
		l.reserved = f
	case vfs.LOCK_EXCLUSIVE:
		if l.pending != nil && l.pending != f || l.reserved != nil && l.reserved != f {
			return sqlite3.BUSY
		}
		l.pending, l.reserved = f, f
		f.level = max(f.level, vfs.LOCK_PENDING)
		if l.shared > 1 {
			return sqlite3.BUSY
		}
	}
	f.level = level
	return nil
}

func (f *simFile) Unlock(level vfs.LockLevel) error {
	l := f.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.level <= level {
		return nil
	}
	if l.reserved == f {
		l.reserved = nil
	}
	if l.pending == f {
		l.pending = nil
	}
	if level < vfs.LOCK_SHARED && f.level >= vfs.LOCK_SHARED {
		l.shared--
	}
	f.level = level
	return nil
}

func (f *simFile) CheckReservedLock() (bool, error) {
	f.locks.mu.Lock()
	defer f.locks.mu.Unlock()
	return f.locks.reserved != nil, nil
}
