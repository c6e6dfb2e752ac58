package app

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// disk are the faults of a disk. One of them fails whatever is tried after it too: it is told once.
var disk = []error{store.ErrFull, store.ErrUncertain, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS}

// Sentences gives the texts of an error that is several joined ones, each once, and a fault of the disk once.
func Sentences(err error) []string {
	var out []string
	told := map[error]bool{}
	for _, leaf := range leaves(err, "") {
		i := slices.IndexFunc(disk, func(fault error) bool { return errors.Is(leaf.err, fault) })
		if slices.Contains(out, leaf.text) || i >= 0 && told[disk[i]] {
			continue
		}
		if i >= 0 {
			told[disk[i]] = true
		}
		out = append(out, leaf.text)
	}
	return out
}

// leaf is an error that is one, and its text with what wraps the whole.
type leaf struct {
	err  error
	text string
}

func leaves(err error, prefix string) []leaf {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && strings.Contains(err.Error(), "\n") {
		var out []leaf
		for _, e := range joined.Unwrap() {
			out = append(out, leaves(e, prefix)...)
		}
		return out
	}
	if inner := errors.Unwrap(err); inner != nil && strings.Contains(inner.Error(), "\n") {
		if before, ok := strings.CutSuffix(err.Error(), inner.Error()); ok {
			return leaves(inner, prefix+before)
		}
	}
	return []leaf{{err, prefix + err.Error()}}
}

// readOnlyHome is the home, if it lies, or would be made, on a file system that nobody can write to; else empty.
func (a *App) readOnlyHome() string {
	home, err := a.HomeDir()
	if err != nil {
		return ""
	}
	for dir := home; ; dir = filepath.Dir(dir) {
		switch err := unix.Access(dir, unix.W_OK); {
		case errors.Is(err, syscall.EROFS):
			return home
		case !errors.Is(err, syscall.ENOENT) || dir == filepath.Dir(dir):
			return ""
		}
	}
}

// reportReadOnly words an error of a read-only file system, if it is the home's: which of its files was to be changed first
// says nothing to anybody.
func (a *App) reportReadOnly(err error) bool {
	home := ""
	if errors.Is(err, syscall.EROFS) {
		home = a.readOnlyHome()
	}
	if home == "" {
		return false
	}
	a.Note("the home %s is on a read-only file system: nothing can be kept there", home)
	a.Hint("list, show, log, search and backup work as it is; to go on, make it writable, or set PERDURE_HOME to another directory")
	return true
}
