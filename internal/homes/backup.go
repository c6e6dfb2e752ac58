package homes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Backup writes a copy of the home into a directory, which it makes: all sessions in one state, and the outputs and
// directories of their commands as they are afterwards. Everything in it is durable and every log verified when it
// returns; what fails leaves nothing, and a crash a directory whose name ends in .partial. The copy is a home of its
// own, for PERDURE_HOME or Open. Commands that run are recorded in it, and run on here. Errors: fs.ErrExist.
func (h *Home) Backup(ctx context.Context, dir string) error {
	archiver, ok := h.store.(store.Archiver)
	if !ok {
		return errors.New("back up: this store cannot be backed up")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("back up to %s: %w", dir, fs.ErrExist)
	}
	if h.holds(filepath.Dir(dir)) {
		return fmt.Errorf("back up to %s: it is inside of the home %s, and would be a part of itself", dir, h.dir)
	}
	partial := dir + ".partial"
	if err := os.Mkdir(partial, 0o700); err != nil {
		return fmt.Errorf("back up to %s: %w", dir, err)
	}
	err = archiver.Backup(ctx, partial)
	for _, name := range []string{"acts", "outputs", "knowledge"} {
		if err == nil {
			err = copyTree(ctx, filepath.Join(h.dir, name), filepath.Join(partial, name))
		}
	}
	if err == nil {
		err = h.markCopy(partial)
	}
	if err == nil {
		err = verifyBackup(ctx, partial)
	}
	if err == nil {
		err = errors.Join(os.Rename(partial, dir), sys.SyncDir(filepath.Dir(dir)))
	}
	if err != nil {
		return fmt.Errorf("back up to %s: %w", dir, errors.Join(err, os.RemoveAll(partial)))
	}
	return nil
}

// copyName is the file in a backup that says what it is a copy of.
const copyName = "perdure.copy"

// copyMark is what stands in it.
type copyMark struct {
	Home string    `json:"home"`
	Time time.Time `json:"time"`
}

func (h *Home) markCopy(dir string) error {
	home, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		return err
	}
	b, err := json.Marshal(copyMark{home, h.cfg.Now()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, copyName), append(b, '\n'), 0o600)
}

// CopyOf tells of which home a directory is a backup, and of when. ok is false for any other directory, and for a backup
// that was put in the place of its original.
func CopyOf(dir string) (home string, at time.Time, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, copyName))
	var m copyMark
	if err != nil || json.Unmarshal(b, &m) != nil || m.Home == "" {
		return "", time.Time{}, false
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real == m.Home {
		return "", time.Time{}, false
	}
	return m.Home, m.Time, true
}

// holds reports whether a directory that exists is the home or inside of it, by whatever path it is named.
func (h *Home) holds(dir string) bool {
	home, err := filepath.EvalSymlinks(h.dir)
	if err != nil {
		return false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	rel, err := filepath.Rel(home, dir)
	return err == nil && filepath.IsLocal(rel)
}

// copyTree copies regular files and directories; sockets and pipes of commands that run have no meaning in a copy.
// What goes away meanwhile is left out.
func copyTree(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		if err := copyFile(path, target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // It was only read.
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// verifyBackup opens a copy and verifies every session in it.
func verifyBackup(ctx context.Context, dir string) error {
	h, err := Open(ctx, dir, Config{})
	if err != nil {
		return err
	}
	var faults []error
	q := store.Query{Limit: 1000}
	for {
		page, err := h.store.List(ctx, q)
		if err != nil {
			return errors.Join(err, h.Close())
		}
		for _, s := range page.Sessions {
			found, err := h.Verify(ctx, s.ID)
			if err == nil && len(found) > 0 {
				err = fmt.Errorf("session %s: %s", s.ID, found[0])
			}
			faults = append(faults, err)
		}
		if page.Next == "" {
			return errors.Join(append(faults, h.Close())...)
		}
		q.After = page.Next
	}
}
