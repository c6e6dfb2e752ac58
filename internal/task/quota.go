//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// freeBytes is what every command may print before anybody asks how full the place is.
	freeBytes = 256 << 10
	// maxGrant is how much output one look at the disk allows.
	maxGrant = 4 << 20
	// quotaPause is how long a refusal holds.
	quotaPause = time.Second
)

// Why output is dropped though the disk would take it.
var (
	errQuota = errors.New("the session's output is at its bound")
	errFloor = errors.New("too little free space on the disk")
)

// allowance bounds what the commands of one session keep together, and leaves some of the disk to everybody else. The
// bound of a single command is the segments' matter.
type allowance struct {
	quota, floor int64 // 0: none
	now          func() time.Time

	left    int64 // bytes that may be kept before the next look
	refused error
	until   time.Time // when to look again after a refusal
}

// take returns how many of the wanted bytes may be kept now, at least one, or why none.
func (a *allowance) take(wanted int64) (int64, error) {
	if a.quota <= 0 && a.floor <= 0 {
		return wanted, nil
	}
	if a.left <= 0 {
		if a.refused != nil && a.now().Before(a.until) {
			return 0, a.refused
		}
		if a.left, a.refused = a.grant(); a.refused != nil {
			a.until = a.now().Add(quotaPause)
			return 0, a.refused
		}
	}
	return min(wanted, a.left), nil
}

func (a *allowance) grant() (int64, error) {
	most := int64(maxGrant)
	if a.floor > 0 {
		free, err := freeSpace(".")
		if err == nil && free <= a.floor {
			return 0, fmt.Errorf("%w: %d bytes, %d are left alone", errFloor, free, a.floor)
		}
		if err == nil {
			most = min(most, free-a.floor)
		}
	}
	if a.quota > 0 {
		used := usedBySession("..")
		if used >= a.quota {
			return 0, fmt.Errorf("%w: %d bytes of %d", errQuota, used, a.quota)
		}
		most = min(most, a.quota-used)
	}
	return most, nil
}

// usedBySession adds up the segments of all acts below a session's directory. What cannot be read counts nothing.
func usedBySession(dir string) (sum int64) {
	acts, _ := os.ReadDir(dir)
	for _, act := range acts {
		if !act.IsDir() || strings.HasPrefix(act.Name(), ".") {
			continue
		}
		segs, err := actDir(dir + "/" + act.Name()).segments()
		if err != nil {
			continue
		}
		for _, s := range segs {
			sum += s.end - s.base
		}
	}
	return sum
}

// freeSpace returns how many bytes an ordinary user can still write.
func freeSpace(dir string) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil //nolint:unconvert // the widths differ between systems
}
