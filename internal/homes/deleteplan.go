package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// A plan to delete a session is an empty file with its id as its name: that takes no block of a full disk. Whoever
// works on plans holds the lock beside them.
const (
	plansDir  = "deleting"
	plansLock = ".lock"
)

// plainID reports whether an id is the name of a file that is not hidden; only such sessions have files.
func plainID(id string) bool {
	const longest = 128
	if id == "" || len(id) > longest {
		return false
	}
	for i, r := range id {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return true
}

func (h *Home) plan(id string) string { return filepath.Join(h.dir, plansDir, id) }

// planDeletion makes it durable that a session is to be deleted. One without files needs no plan: the store removes it
// in one step.
func (h *Home) planDeletion(id string) error {
	if !plainID(id) {
		return nil
	}
	root, err := realdir.Make(h.dir, plansDir)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(id, os.O_WRONLY|os.O_CREATE|sys.NoFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close(), sys.SyncDir(filepath.Dir(h.plan(id))))
	h.step("plan")
	return err
}

func (h *Home) dropPlan(id string) error {
	if !plainID(id) {
		return nil
	}
	if err := os.Remove(h.plan(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return sys.SyncDir(filepath.Dir(h.plan(id)))
}

// endPlans gives back the space of deleted sessions and drops the plans of those of which nothing is left.
// With wait it waits for a search that uses the index.
func (h *Home) endPlans(ctx context.Context, ids []string, wait bool) error {
	errs := []error{search.Forget(ctx, h.dir, ids, wait, h.step)}
	h.step("index")
	if s, ok := h.store.(store.Scrubber); ok {
		errs = append(errs, s.Scrub(ctx))
		h.step("scrub")
	}
	if errors.Join(errs...) != nil {
		return errors.Join(errs...) // The plans stay: the next process goes on.
	}
	for _, id := range ids {
		if _, err := h.store.Get(ctx, id); errors.Is(err, store.ErrNotFound) && !h.leftovers(id) {
			errs = append(errs, h.dropPlan(id))
		}
	}
	return errors.Join(errs...)
}

// step is where a crash campaign ends the process.
func (h *Home) step(name string) {
	if h.cfg.crash != nil {
		h.cfg.crash(name)
	}
}

// plans are the ids of the sessions whose deletion is under way or was interrupted.
func (h *Home) plans() []string {
	entries, err := os.ReadDir(filepath.Join(h.dir, plansDir))
	if err != nil {
		return nil
	}
	var ids []string
	for _, e := range entries {
		if plainID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// finishDeletions goes on with the deletions that a process did not live to finish. One that somebody works on, or
// whose session was taken up again before it was gone, is left alone. What fails is tried by the next opening.
func (h *Home) finishDeletions(ctx context.Context) {
	if len(h.plans()) == 0 {
		return
	}
	unlock, ok := h.tryDeletions()
	if !ok {
		return
	}
	defer unlock()
	_ = h.endPlans(ctx, h.deletePlanned(ctx, h.plans()), false)
}

// deletePlanned deletes sessions, forks before what they were forked from, and returns those of which nothing is left.
func (h *Home) deletePlanned(ctx context.Context, plans []string) (gone []string) {
	for len(plans) > 0 {
		var parents []string
		for _, id := range plans {
			err := h.store.Delete(ctx, id)
			var children *store.ChildrenError
			switch {
			case errors.As(err, &children):
				parents = append(parents, id)
			case errors.Is(err, store.ErrHeld):
				_ = h.dropPlan(id)
			case err != nil && !errors.Is(err, store.ErrNotFound) || h.removeFiles(ctx, id) != nil:
			default:
				gone = append(gone, id)
			}
		}
		if len(parents) == len(plans) { // their forks are to stay
			for _, id := range parents {
				_ = h.dropPlan(id)
			}
			return gone
		}
		plans = parents
	}
	return gone
}

// tryDeletions is lockDeletions if nobody deletes.
func (h *Home) tryDeletions() (unlock func(), ok bool) {
	root, err := realdir.Open(h.dir, plansDir)
	if err != nil {
		return nil, false
	}
	lock, err := root.OpenFile(plansLock, os.O_RDWR|os.O_CREATE|sys.NoFollow, 0o600)
	if errors.Join(err, root.Close()) != nil {
		return nil, false
	}
	if sys.Flock(lock, sys.Exclusive|sys.Try) != nil {
		_ = lock.Close() // It was not had.
		return nil, false
	}
	return func() { _ = lock.Close() }, true
}

// lockDeletions waits until nobody else deletes.
func (h *Home) lockDeletions(ctx context.Context) (unlock func(), err error) {
	root, err := realdir.Make(h.dir, plansDir)
	if err != nil {
		return nil, err
	}
	lock, err := root.OpenFile(plansLock, os.O_RDWR|os.O_CREATE|sys.NoFollow, 0o600)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, err
	}
	if err := waitLock(ctx, lock, "another process deletes sessions"); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// waitLock takes the kernel's lock of a file alone, and waits for it as long as ctx allows; why says who has it.
func waitLock(ctx context.Context, lock *os.File, why string) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := sys.Flock(lock, sys.Exclusive|sys.Try)
		if err == nil || !errors.Is(err, sys.ErrLocked) && !errors.Is(err, sys.ErrInterrupted) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", why, ctx.Err())
		case <-tick.C:
		}
	}
}
