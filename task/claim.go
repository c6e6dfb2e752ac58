package task

import (
	"errors"
	"os"
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

// claimAct tries to decide the act and reports whether this call did.
func (d actDir) claimAct(c claim) (bool, error) {
	return createExclusive(d.path(claimName), []byte("1 "+strings.TrimSpace(c.word+" "+c.why)+"\n"))
}

// held says whether a living shim holds the act's lock. The probe is a shared lock, so that probes do not hinder each
// other; a shim that meets one tries again.
func (d actDir) held() (bool, error) {
	f, err := os.OpenFile(d.path(lockName), os.O_RDONLY, 0)
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
