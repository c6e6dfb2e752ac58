//go:build linux || darwin

package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// formatVersion is written into every record. A reader accepts newer records as far as it understands them, so that
// shims and agents of neighbouring versions work with each other.
const formatVersion = 1

// maxRecord bounds every record that is read back, in bytes.
const maxRecord = 16 << 20

// readAhead is how much room is made for a file that is longer than it said, in bytes.
const readAhead = 1 << 10

// specRecord is spec.json. Env and Script are empty in it: they are raw bytes in files of their own.
type specRecord struct {
	command.Spec
	BootID  string `json:"boot_id"`
	Created int64  `json:"created"`
}

// runRecord is run.json: the identity of the command.
type runRecord struct {
	Version    int    `json:"version"`
	PID        int    `json:"pid"` // of the command, and its process group
	SID        int    `json:"sid"` // its session, which is the shim's
	StartTicks uint64 `json:"start_ticks"`
	BootID     string `json:"boot_id"`
	Started    int64  `json:"started"`
	Cgroup     string `json:"cgroup,omitempty"` // of its processes, with their memory limit

	// Which file the shim locks. In a copy of the directory it is another one. 0: an older shim did not say.
	LockDev uint64 `json:"lock_dev,omitempty"`
	LockIno uint64 `json:"lock_ino,omitempty"`
}

// exitRecord is exit.json. Exactly one of Code, Signal and Reason is set.
type exitRecord struct {
	Version    int              `json:"version"`
	Code       *int             `json:"code,omitempty"`
	Signal     string           `json:"signal,omitempty"`
	By         string           `json:"by,omitempty"`
	Reason     string           `json:"reason,omitempty"` // why nobody knows how it ended
	Output     int64            `json:"output_bytes"`
	Started    int64            `json:"started"`
	Ended      int64            `json:"ended"`
	Stragglers int              `json:"stragglers,omitempty"`
	Cwd        string           `json:"cwd,omitempty"`
	Env        command.EnvDelta `json:"env,omitempty"`
}

// intentRecord is intent.json: the first request to end the command.
type intentRecord struct {
	Version int    `json:"version"`
	By      string `json:"by"`
	Time    int64  `json:"time"`
	GraceMS int64  `json:"grace_ms"`
	Sent    bool   `json:"sent,omitempty"` // a signal followed, before the command ended
}

// shimRecord is the content of lock: the process that holds it.
type shimRecord struct {
	Version int    `json:"version"`
	PID     int    `json:"pid"`
	Ticks   uint64 `json:"start_ticks"`
	Adopted int    `json:"adopted,omitempty"` // 1: it took over, so the command and its tree are not its children
	Standby int    `json:"standby,omitempty"` // the process that takes over should this one die

	StandbyTicks uint64 `json:"standby_ticks,omitempty"`
}

// errDamaged says that a record exists and cannot be understood.
var errDamaged = errors.New("damaged record")

// readRecord decodes a JSON record into v. It returns fs.ErrNotExist when there is none and errDamaged when it makes
// no sense, an empty file included.
func readRecord(path string, v any) error {
	b, err := readBounded(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, errDamaged, err)
	}
	return nil
}

// readBounded reads a file that should be small, without the descriptor ever meeting the runtime's poller.
func readBounded(path string) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: path, Err: err} }
	fd, err := openRetry(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fail(err)
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG || info.Size > maxRecord {
		return fail(fmt.Errorf("%w: %d bytes, mode %o", errDamaged, info.Size, info.Mode))
	}
	b := make([]byte, 0, info.Size+1)
	for {
		if len(b) == cap(b) { // the kernel's own files say that they are empty
			b = slices.Grow(b, readAhead)
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return fail(err)
		case n == 0:
			return b, nil
		case len(b)+n > maxRecord:
			return fail(fmt.Errorf("%w: more than %d bytes", errDamaged, maxRecord))
		default:
			b = b[:len(b)+n]
		}
	}
}

// openRetry opens a file of an act's directory, whose command may have put a link there: it is not followed, and the
// file counts as missing. It may as well have put a pipe there: whoever means a file opens it with O_NONBLOCK, or waits
// for ever.
func openRetry(path string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_NOFOLLOW, mode)
		switch err {
		case unix.EINTR:
			continue
		case unix.ELOOP:
			err = unix.ENOENT
		}
		return fd, err
	}
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// shim returns the living holder of the act's lock, once it has said who it is.
func (d actDir) shim() (shimRecord, bool) {
	var shim shimRecord
	err := readRecord(d.path(lockName), &shim)
	return shim, err == nil && alive(shim.PID, shim.Ticks)
}

func (d actDir) readRun() (runRecord, error) {
	var run runRecord
	err := readRecord(d.path(runName), &run)
	if err == nil && run.PID <= 0 {
		err = errDamaged
	}
	return run, err
}

// killedBy names who asked for the command's death, if anybody did.
func (d actDir) killedBy() string {
	var intent intentRecord
	if readRecord(d.path(intentName), &intent) != nil {
		return ""
	}
	return intent.By
}

func ignoreMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}
