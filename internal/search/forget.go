package search

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// maxPurged is the size of an index in bytes that is rewritten to take something out; a larger one is removed, and made
// anew by the next search: that needs neither room nor memory.
const maxPurged = 256 << 20

// Forget takes sessions out of a home's index, so that none of their words is left in its file. With wait it waits for
// another process that uses the index. If anything keeps it from that, the index is removed. It may be repeated. Errors:
// ErrBusy, and what keeps the file from being removed.
func Forget(ctx context.Context, home string, sessions []string, wait bool, fault func(step string)) error {
	p, err := openPlace(home, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x := &index{cfg: Config{Home: home, Fault: fault}, place: p}
	defer func() { _ = x.close() }() // it gives the lock back
	if err := p.hold(ctx, true, wait, nil); err != nil {
		return err
	}
	info, err := p.root.Lstat(indexName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.clear() // of a journal that was left alone
	case err == nil && info.Mode().IsRegular() && info.Size() <= maxPurged:
		if err = x.forget(ctx, sessions); err == nil {
			return nil
		}
	}
	if x.db != nil {
		_ = x.db.close()
		x.db = nil
	}
	return p.clear()
}

func (x *index) forget(ctx context.Context, sessions []string) (err error) {
	if x.db, err = openDB(fileURI(filepath.Join(x.cfg.Home, Dir, indexName), "")); err != nil {
		return err
	}
	if err := x.db.check(); err != nil {
		return err
	}
	known, err := x.rows()
	if err != nil {
		return err
	}
	for k, r := range known {
		if k.kind == Sessions && slices.Contains(sessions, k.name) {
			if err := x.drop(r, true); err != nil {
				return err
			}
		}
	}
	if err := x.commit(); err != nil {
		return err
	}
	return x.sweep(context.WithoutCancel(ctx)) // what is left of a text is worse than a moment more
}
