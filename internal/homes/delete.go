package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/spare"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// PlanDelete looks what the deletion of a session would take away, and changes nothing. Errors: store.ErrNotFound.
func (h *Home) PlanDelete(ctx context.Context, id string) (view.Deletion, error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return view.Deletion{}, err
	}
	d := view.Deletion{Info: info}
	page, err := h.store.List(ctx, store.Query{Parent: id, Limit: 100})
	if err != nil {
		return d, err
	}
	for _, child := range page.Sessions {
		d.Children = append(d.Children, child.ID)
	}
	h.ownGoes(ctx, &d)
	d.Running, err = h.runningActs(ctx, id)
	return d, err
}

func (h *Home) runningActs(ctx context.Context, id string) ([]view.RunningAct, error) {
	if !plainID(id) {
		return nil, nil // It can have no commands.
	}
	acts, err := h.commands().List(id)
	if err != nil || len(acts) == 0 {
		return nil, err
	}
	names := map[string]string{}
	// A session that cannot be read can be deleted nevertheless; its commands then have no other names.
	if st, err := h.State(ctx, id); err == nil {
		for _, t := range st.Tasks {
			if t.Session == "" {
				names[t.Act] = t.ID
			}
		}
	}
	var running []view.RunningAct
	for _, act := range acts {
		st, err := h.commands().State(id, act)
		if err != nil {
			return nil, err
		}
		if st.Status == command.Running || st.Stragglers > 0 {
			running = append(running, view.RunningAct{Act: act, Task: names[act], PID: st.PID})
		}
	}
	return running, nil
}

// Delete removes sessions for good, and with them what they left in the home: their commands that still run are ended,
// their outputs and directories go, and what the store held of them is overwritten and its space given back. A session
// that is to go with its forks is named beside them.
//
// Before anything is removed, the plan is durable: if this process dies in the middle, the next one that opens the home
// finishes it. Errors: store.ErrNotFound, *store.HeldError and *store.ChildrenError, all of them before anything is
// removed; after others the next opening goes on too.
func (h *Home) Delete(ctx context.Context, ids ...string) error {
	_ = spare.Use(h.dir, spare.Free) // What comes next says what is wrong with the disk.
	unlock, err := h.lockDeletions(ctx)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	defer unlock()
	if ids, err = h.deletable(ctx, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := h.planDeletion(id); err != nil {
			return fmt.Errorf("delete session %s: %w", id, err)
		}
	}
	var errs []error
	for _, id := range ids {
		if err := h.store.Delete(ctx, id); err != nil {
			if !errors.Is(err, store.ErrUncertain) {
				err = errors.Join(err, h.dropPlan(id))
			}
			errs = append(errs, err)
			continue
		}
		h.step("row")
		if err := h.removeFiles(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("session %s is deleted, but not all of its files; the next command that opens the home goes on: %w", id, err))
		}
	}
	return errors.Join(append(errs, h.endPlans(ctx, ids, true))...)
}

// deletable checks that all the sessions may go, and puts forks before what they were forked from.
func (h *Home) deletable(ctx context.Context, ids []string) ([]string, error) {
	var ordered []string
	var add func(id string) error
	add = func(id string) error {
		if slices.Contains(ordered, id) {
			return nil
		}
		d, err := h.PlanDelete(ctx, id)
		switch {
		case err != nil:
			return err
		case d.Holder != nil && d.Holder.Alive != store.Dead:
			return &store.HeldError{Session: id, Holder: *d.Holder}
		}
		for _, child := range d.Children {
			if !slices.Contains(ids, child) {
				return &store.ChildrenError{Session: id, Children: d.Children}
			}
			if err := add(child); err != nil {
				return err
			}
		}
		ordered = append(ordered, id)
		return nil
	}
	for _, id := range ids {
		if err := add(id); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// removeFiles ends a session's commands and removes what it left outside of the store. It may be repeated.
func (h *Home) removeFiles(ctx context.Context, id string) error {
	if !plainID(id) {
		return nil // It never had any: such an id is no name of a directory.
	}
	for _, dir := range homeDirs {
		if err := realdir.Check(h.dir, dir); err != nil {
			return err // what is behind a link is not ours
		}
	}
	r := h.commands()
	acts, err := r.List(id)
	if err != nil {
		return err
	}
	var live []task.Target
	for _, act := range acts {
		if st, err := r.State(id, act); err != nil || st.Status == command.Running || st.Stragglers > 0 {
			live = append(live, task.Target{Session: id, Act: act})
		}
	}
	errs := r.KillAll(ctx, live, command.ByUser)
	h.step("commands")
	for _, act := range acts {
		errs = append(errs, r.Remove(id, act))
		h.step("act")
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	errs = append(errs, h.FreePorts(id))
	defer h.Progress().Begin("removing files", "").End()
	_ = h.noteGone() // on a full disk too sessions go; what others hold is measured a day later at the latest
	for _, dir := range homeDirs {
		if dir == isolatedDir {
			errs = append(errs, h.removeOwn(ctx, id))
		} else {
			errs = append(errs, h.removeDir(dir, id))
		}
		h.step(dir)
	}
	return errors.Join(errs...)
}

// removeDir removes a session's directory from one of the home's.
func (h *Home) removeDir(dir, id string) error {
	root, err := realdir.Open(h.dir, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(root.RemoveAll(id), root.Close())
}

// homeDirs are the home's directories that have one for each session, or a file.
var homeDirs = []string{"acts", "outputs", "tmp", "streams", "background", draftsDir, roomDir, movingDir, incomingDir, isolatedDir}

// leftovers reports whether directories of an id are there.
func (h *Home) leftovers(id string) bool {
	return slices.ContainsFunc(homeDirs, func(dir string) bool {
		_, err := os.Lstat(filepath.Join(h.dir, dir, id))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// makeWay removes what a session that is gone left under an id, and keeps others from doing the same until done.
func (h *Home) makeWay(ctx context.Context, id string) (done func(), err error) {
	if !plainID(id) || !h.leftovers(id) {
		return func() {}, nil
	}
	unlock, err := h.lockDeletions(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = h.store.Get(ctx, id); errors.Is(err, store.ErrNotFound) {
		err = errors.Join(h.planDeletion(id), h.removeFiles(ctx, id), h.dropPlan(id))
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}
