package care

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/settings"
)

// writable looks whether sessions can be made and go on in the home: a look at it needs less.
func (d *diagnosis) writable(home string) {
	err := unwritable(home)
	of, at, copied := homes.CopyOf(home)
	if copied {
		d.add(levelOK, "copy", "", "%s is a copy of %s, of %s; what is done here is not done there", home, of, at.Format(time.DateTime))
	}
	switch _, missing := os.Stat(home); {
	case err != nil:
		d.notWritable(err, copied)
	case missing != nil:
		d.add(levelOK, "write", "", "%s can be made", home)
	default:
		d.add(levelOK, "write", "", "%s can be written", home)
	}
}

// notWritable tells why nothing can be written. A copy is good to be looked at all the same.
func (d *diagnosis) notWritable(err error, copied bool) {
	level := levelFail
	if copied {
		level = levelWarn
	}
	d.add(level, "write", "what is there can be looked at; to go on, make it writable, or name another home by PERDURE_HOME", "%v", err)
}

// unwritable says why nothing can be written in the home, or why it cannot be made; nil: it can, as far as permissions
// go. The directory of an owner that is closed to writing is no obstacle: the first write opens it.
func unwritable(home string) error {
	info, err := os.Stat(home)
	if errors.Is(err, fs.ErrNotExist) {
		parent := existing(home)
		if info, err := os.Stat(parent); err != nil || !info.IsDir() {
			return fmt.Errorf("%s cannot be made: %s is no directory", home, parent)
		}
		if err := writes(parent, unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("%s cannot be made: %w", home, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := writes(home, unix.W_OK|unix.X_OK); errors.Is(err, unix.EROFS) || err != nil && !owns(info) {
		return err
	}
	for _, name := range []string{"perdure.db", "perdure.db-wal"} {
		if err := writes(filepath.Join(home, name), unix.W_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writes says why this process may not write a file or directory.
func writes(path string, how uint32) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, how, unix.AT_EACCESS)
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// owns reports whether this process's user owns a file.
func owns(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// existing is the nearest directory above a path, or the path itself, that is there.
func existing(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) || up == path {
			return path
		}
		path = up
	}
}

// configuration reads the files that a run in this directory would read: what no run accepts fails here too.
func (d *diagnosis) configuration(a *app.App) settings.Loaded {
	user := settings.UserFile(a.Getenv)
	set, err := settings.Load(user, a.Dir)
	if err != nil {
		d.add(levelFail, "config", "no run starts until it is put right", "%v", err)
		return set
	}
	for _, text := range set.Ignored {
		d.add(levelWarn, "config", "", "ignored: %s", text)
	}
	for _, text := range set.Unknown {
		d.add(levelWarn, "config", "", "%s", text)
	}
	if set.Mode == string(permission.ModeBypass) {
		d.add(levelWarn, "config", "", "%s", app.BypassNotTaken)
	}
	d.add(levelOK, "config", "", "%s; the user's file is %s", display.Count(int64(len(set.Rules)), "rule"), orNone(user))
	return set
}

func orNone(path string) string {
	if path == "" {
		return "nowhere: neither HOME nor XDG_CONFIG_HOME is set"
	}
	return path
}
