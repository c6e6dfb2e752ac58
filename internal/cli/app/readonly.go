package app

import (
	"errors"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

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
