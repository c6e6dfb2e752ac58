package homes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// What is applied to a directory with no session has no log: $PERDURE_HOME/workspaces/KEY/applies/ID.json says what it was
// and how far it is, so that it can be finished after a kill, and taken back.
const (
	spacesDir  = "workspaces"
	appliesDir = "applies"
	recordEnd  = ".json"
	lockName   = "lock"
)

// Bounds of what is kept of a directory's applies.
const (
	maxApplies  = 16                  // that can be taken back, the newest
	keepApplied = 30 * 24 * time.Hour // for so long
	maxRecord   = 1 << 20             // bytes
)

// Stage says how far an apply is.
type Stage string

// The stages of an apply.
const (
	ApplyPlanned Stage = "planned" // nothing was touched
	ApplyStarted Stage = "started" // the plan is durable, and files may have been touched
	ApplyBack    Stage = "back"    // it could not be finished, and is being taken back
	ApplyDone    Stage = "done"
)

// Applied is what was done to a directory with no session: a branch's changes were applied, or that was taken back.
type Applied struct {
	ID      string `json:"id"`
	Session string `json:"session"` // whose changes
	Dir     string `json:"dir"`
	Undo    string `json:"undo,omitempty"` // the ID of the apply that this takes back
	Stage   Stage  `json:"stage"`
	Force   bool   `json:"force,omitempty"`
	Time    int64  `json:"time"` // ms UTC
	// Base and Target are what is merged in; Before and After what the directory was and is.
	Base   store.Digest `json:"base,omitzero"`
	Target store.Digest `json:"target,omitzero"`
	Before store.Digest `json:"before,omitzero"`
	After  store.Digest `json:"after,omitzero"`
	session.RestoreCounts
	Kept []string `json:"kept,omitempty"` // conflicts
}

// Words name what is done.
func (a *Applied) Words() string {
	if a.Undo != "" {
		return "taking back " + changesOf(a.Session)
	}
	return "applying " + changesOf(a.Session)
}

// applies are the records of one directory, while this process alone may change them.
type applies struct {
	root *os.Root
	lock *os.File
	all  []Applied            // the oldest first
	disk func(*os.File) error // makes a file or a directory durable; nil: its Sync
}

// openApplies takes a directory's records; who has them lets them go by close.
func (h *Home) openApplies(ctx context.Context, dir string) (*applies, error) {
	where, err := workspace.Where(dir)
	if err != nil {
		return nil, err
	}
	a := &applies{}
	if a.root, err = realdir.Make(h.dir, spacesDir, workspace.Key(where), appliesDir); err != nil {
		return nil, err
	}
	a.lock, err = a.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|sys.NoFollow, 0o600)
	if err == nil {
		err = waitLock(ctx, a.lock, "another process applies changes to "+dir)
	}
	if err == nil {
		a.all, err = readApplies(a.root)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *applies) close() {
	if a.lock != nil {
		_ = a.lock.Close()
	}
	_ = a.root.Close()
}

// put makes a record durable.
func (a *applies) put(r Applied) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := r.ID + recordEnd
	_ = a.root.Remove(name + ".tmp") // of a process that died
	f, err := a.root.OpenFile(name+".tmp", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, a.durable(f), f.Close()); err == nil {
		err = a.root.Rename(name+".tmp", name)
	}
	if err = errors.Join(err, a.sync()); err != nil {
		return fmt.Errorf("record of an apply: %w", err)
	}
	if i := slices.IndexFunc(a.all, func(o Applied) bool { return o.ID == r.ID }); i >= 0 {
		a.all[i] = r
	} else {
		a.all = append(a.all, r)
	}
	return nil
}

// drop forgets a record, durably.
func (a *applies) drop(id string) error {
	err := a.root.Remove(id + recordEnd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.all = slices.DeleteFunc(a.all, func(o Applied) bool { return o.ID == id })
	return a.sync()
}

func (a *applies) sync() error {
	d, err := a.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(a.durable(d), d.Close())
}

func (a *applies) durable(f *os.File) error {
	if a.disk != nil {
		return a.disk(f)
	}
	return f.Sync()
}

// open is the one that was interrupted, nil if there is none: one at a time is under way in a directory.
func (a *applies) open() *Applied {
	for i := range a.all {
		if a.all[i].Stage != ApplyDone {
			return &a.all[i]
		}
	}
	return nil
}

// thin forgets those that can no longer be taken back.
func (a *applies) thin(now time.Time) error {
	var errs []error
	all := slices.Clone(a.all)
	for i, r := range all {
		if r.Stage == ApplyDone && (len(all)-i > maxApplies || r.old(now)) {
			errs = append(errs, a.drop(r.ID))
		}
	}
	return errors.Join(errs...)
}

func (a *Applied) old(now time.Time) bool { return now.Sub(time.UnixMilli(a.Time)) > keepApplied }

// readApplies reads a directory's records.
func readApplies(root *os.Root) (all []Applied, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), recordEnd) || !e.Type().IsRegular() {
			continue
		}
		f, err := root.OpenFile(e.Name(), os.O_RDONLY|noFollow, 0)
		if errors.Is(err, fs.ErrNotExist) { // another process forgot it
			continue
		}
		var b []byte
		if err == nil {
			b, err = io.ReadAll(io.LimitReader(f, maxRecord))
			err = errors.Join(err, f.Close())
		}
		var r Applied
		if err == nil {
			err = json.Unmarshal(b, &r)
		}
		if err == nil && r.ID+recordEnd != e.Name() {
			err = errors.New("it is of another name")
		}
		if err != nil {
			return nil, fmt.Errorf("what was applied cannot be read, %s: %w", filepath.Join(root.Name(), e.Name()), err)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y Applied) int { return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.ID, y.ID)) })
	return all, nil
}

// keepApplies finds what is to be kept for applies that are under way or can be taken back.
func (k *keeping) keepApplies(ctx context.Context) error {
	spaces, err := os.ReadDir(filepath.Join(k.h.dir, spacesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, s := range spaces {
		root, err := realdir.Open(k.h.dir, spacesDir, s.Name(), appliesDir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		all, err := readApplies(root)
		if err := errors.Join(err, root.Close()); err != nil {
			return err
		}
		for _, r := range all {
			trees := []store.Digest{r.Before, r.After, r.Base, r.Target}
			if r.Stage == ApplyDone {
				if trees = trees[:2]; r.old(k.now) {
					continue
				}
			}
			if err := k.keep(ctx, "", trees, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
