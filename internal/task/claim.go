//go:build linux || darwin

package task

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// claim is who decided an act. The zero value means nobody has.
type claim struct {
	word string // claimRun or claimVoid; anything else, such as a damaged file, counts as run: it may have run
	why  string // after void: the reason for which the act was lost before the claim was made
}

const (
	claimRun  = "run"
	claimVoid = "void"
)

// readClaim returns the zero claim when there is none.
func (d actDir) readClaim() (claim, error) {
	b, err := readBounded(d.path(claimName))
	switch {
	case missing(err):
		return claim{}, nil
	case err != nil && !errors.Is(err, errDamaged):
		return claim{}, err
	}
	f := append(strings.Fields(string(b)), "", "", "")
	if f[1] == claimVoid {
		return claim{claimVoid, f[2]}, nil
	}
	return claim{word: claimRun}, nil
}

func (c claim) encode() []byte { return []byte("1 " + strings.TrimSpace(c.word+" "+c.why) + "\n") }

// claimAct tries to decide the act and reports whether this call did.
func (d actDir) claimAct(c claim) (bool, error) {
	return createExclusive(d.path(claimName), c.encode())
}

// claimToRun is claimAct for the shim, with the file that Prepare has left for it.
func (d actDir) claimToRun() (bool, error) {
	return linkExclusive(d.path(claimSource), d.path(claimName))
}

// held says whether a living shim holds the act's lock.
func (d actDir) held() (bool, error) {
	held, _, err := d.holder()
	return held, err
}

// locked is held for those who look again whenever it is false: it may be that nobody can tell.
func (d actDir) locked() bool {
	held, _ := d.held()
	return held
}

// holder is held, with what the holder has written of itself, as far as it has. The probe is a shared lock, so that
// probes do not hinder each other; a shim that meets one tries again.
func (d actDir) holder() (held bool, shim shimRecord, err error) {
	path := d.path(lockName)
	fd, err := openRetry(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return false, shim, nil
	}
	if err != nil {
		return false, shim, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	switch err = flock(fd, unix.LOCK_SH|unix.LOCK_NB); err {
	case nil:
		return false, shim, nil
	case unix.EWOULDBLOCK:
		var buf [512]byte
		n, _ := unix.Pread(fd, buf[:], 0)
		if json.Unmarshal(buf[:max(n, 0)], &shim) != nil {
			shim = shimRecord{}
		}
		return true, shim, nil
	}
	return false, shim, &fs.PathError{Op: "probe", Path: path, Err: err}
}

func flock(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); err != unix.EINTR {
			return err
		}
	}
}
