package care

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/store"
)

// Bounds of the looks at a home.
const (
	maxLooked = 20_000    // files whose permissions are looked at
	lowSpace  = 512 << 20 // bytes of free disk under which doctor warns
	noSpace   = 32 << 20  // and under which it fails
)

// permissions looks whether others can reach into the home.
func (d *diagnosis) permissions(home string) {
	info, err := os.Stat(home)
	if errors.Is(err, fs.ErrNotExist) {
		d.add(levelOK, "permissions", "", "%s is not there yet; the first session makes it, 0700", home)
		return
	}
	if err == nil && !info.IsDir() {
		return // it is no home, which is told when it is opened
	}
	open, looked, first := 0, 0, ""
	err = filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			if path == home {
				return err
			}
			return nil // gone meanwhile, or told by what needs it
		}
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		if path == filepath.Join(home, "tmp") {
			return fs.SkipDir // what commands put there is theirs; the home itself keeps others out
		}
		if reachable(e) {
			if open++; first == "" {
				first = path
			}
		}
		return nil
	})
	switch {
	case err != nil:
		d.add(levelFail, "permissions", "check who owns it", "%v", err)
	case open > 0:
		d.add(levelWarn, "permissions", "chmod -R go-rwx "+display.Quote(home), "others may reach %s of the home, such as %s", display.Count(int64(open), "file"), first)
	default:
		d.add(levelOK, "permissions", "", "%s is for its owner alone", home)
	}
}

// links looks for what stands in the place of the home's directories: nothing is written through a symbolic link.
func (d *diagnosis) links(home string) {
	for _, name := range []string{"acts", "background", "blobs", "building", "deleting", "drafts", "holders", "incoming", "moving", "outputs", "ports", "search", "streams", "tmp", "workspaces"} {
		if err := realdir.Check(home, name); errors.Is(err, realdir.ErrLink) {
			d.add(levelFail, "links", "", "%v", err)
		}
	}
}

// reachable reports whether others have any right to a file or directory. One that is gone meanwhile is not.
func reachable(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeNamedPipe) == 0 && info.Mode().Perm()&0o077 != 0
}

func (d *diagnosis) disk(home string) {
	var st unix.Statfs_t
	if err := unix.Statfs(home, &st); err != nil {
		d.add(levelWarn, "disk", "", "free space is unknown: %v", err)
		return
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ from system to system
	level, hint := levelOK, ""
	switch {
	case free < noSpace:
		level, hint = levelFail, "free some space: nothing can be accepted without"
	case free < lowSpace:
		level, hint = levelWarn, "free some space"
	}
	d.add(level, "disk", hint, "%s free", display.Bytes(free))
}

// maxFaults bounds how many faults of the database are listed.
const maxFaults = 10

// store lets the database check itself.
func (d *diagnosis) store(ctx context.Context, a *app.App, h *homes.Home) {
	checker, ok := h.Store().(store.Checker)
	if !ok {
		return
	}
	for _, lost := range app.Losses(ctx, h) {
		d.add(levelFail, "losses", a.HintLosses(h), "%s", lost)
	}
	if _, err := os.Stat(filepath.Join(d.Home, "perdure.db")); errors.Is(err, fs.ErrNotExist) {
		d.add(levelOK, "store", "", "there is no %s yet", filepath.Join(d.Home, "perdure.db"))
		return
	}
	const hint = "put a backup in its place (perdure backup makes them); perdure verify --all names the sessions that are hit"
	backend, faults, err := checker.Check(ctx, maxFaults)
	switch {
	case err != nil:
		d.add(levelFail, "store", hint, "%v", err)
	case len(faults) > 0:
		for _, f := range faults {
			d.add(levelFail, "store", hint, "%s: %s", d.Home, f)
		}
	default:
		d.add(levelOK, "store", "", "%s is sound (%s)", filepath.Join(d.Home, "perdure.db"), backend)
	}
}
