package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// keeper keeps the files of a stage in memory: whole sets of them by their digest. It outlives processes.
type keeper struct {
	files *memFiles
	calls []string
	fail  func(r engine.CaptureRequest) error // if set, asked before a capture
	// before is asked at each step of a restore: what it returns is what happens.
	before func(step string) error
	held   int // answers that were not released

	mu    sync.Mutex
	trees map[store.Digest]map[string][]byte
	plans map[string]map[string][]byte // what the files were, by the restore's id
	wrote map[string]int               // how often a restore wrote a path, by its id
}

var (
	_ engine.Captures = (*keeper)(nil)
	_ engine.Contents = (*keeper)(nil)
)

// Content gives what a captured file held.
func (k *keeper) Content(d store.Digest, most int64) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, files := range k.trees {
		for _, b := range files {
			if store.Sum(b) == d && int64(len(b)) <= most {
				return b, nil
			}
		}
	}
	return nil, errors.New("it was not captured")
}

func newKeeper(f *memFiles) *keeper {
	return &keeper{files: f, trees: map[store.Digest]map[string][]byte{}, plans: map[string]map[string][]byte{}, wrote: map[string]int{}}
}

// now is the tree of the files as they are.
func (k *keeper) now() store.Digest {
	k.files.mu.Lock()
	defer k.files.mu.Unlock()
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.files.m)) {
		fmt.Fprintf(&all, "%s\x00%s\x00", name, k.files.m[name])
	}
	d := store.Sum([]byte(all.String()))
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trees[d] = maps.Clone(k.files.m)
	return d
}

func (k *keeper) Capture(_ context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	k.calls = append(k.calls, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Why, r.Rung, r.Act)))
	if k.fail != nil {
		if err := k.fail(r); err != nil {
			return engine.Captured{}, err
		}
	}
	k.held++
	return engine.Captured{Body: &session.FilesCaptured{Tree: k.now(), Rung: r.Rung, Files: 1}, Release: func() { k.held-- }}, nil
}

func (k *keeper) step(name string) error {
	k.calls = append(k.calls, name)
	if k.before != nil {
		return k.before(name)
	}
	return nil
}

func (k *keeper) Prepare(_ context.Context, r engine.RestoreRequest) (engine.Prepared, error) {
	if err := k.step("prepare"); err != nil {
		return engine.Prepared{}, err
	}
	if k.trees[r.Target] == nil {
		return engine.Prepared{}, errors.New("the tree is not there")
	}
	now := k.now()
	k.plans[r.ID] = k.trees[now]
	k.held++
	return engine.Prepared{Before: &session.FilesCaptured{Tree: now}, Release: func() { k.held-- }}, nil
}

func (k *keeper) Finish(_ context.Context, r engine.RestoreRequest) (engine.Restored, error) {
	if err := k.step("finish"); err != nil {
		return engine.Restored{}, err
	}
	was := k.plans[r.ID]
	if was == nil || k.trees[r.Before] == nil {
		return engine.Restored{}, errors.New("there is no plan")
	}
	out := engine.Restored{}
	for _, name := range slices.Sorted(maps.Keys(k.trees[r.Target])) {
		if string(was[name]) != string(k.trees[r.Target][name]) {
			out.Counts.Modified++
			out.Paths = append(out.Paths, strings.TrimPrefix(name, r.Dir+"/"))
		}
	}
	for name := range was {
		if _, stays := k.trees[r.Target][name]; !stays {
			out.Counts.Deleted++
		}
	}
	if k.now() != r.Target {
		k.wrote[r.ID]++
		k.put(k.trees[r.Target])
	}
	if err := k.step("finished"); err != nil {
		return engine.Restored{}, err
	}
	out.Tree = k.now()
	out.Release = func() { delete(k.plans, r.ID) }
	return out, nil
}

func (k *keeper) put(files map[string][]byte) {
	k.files.mu.Lock()
	defer k.files.mu.Unlock()
	k.files.m = maps.Clone(files)
}

func (k *keeper) Abandon(_ context.Context, r engine.RestoreRequest) error {
	if err := k.step("abandon"); err != nil {
		return err
	}
	k.put(k.plans[r.ID])
	delete(k.plans, r.ID)
	return nil
}

var errNo = errors.New("no room")

// basing notes what the restores of a keeper are against.
type basing struct {
	*keeper
	base *store.Digest
}

func (b basing) Prepare(ctx context.Context, r engine.RestoreRequest) (engine.Prepared, error) {
	*b.base = r.Base
	return b.keeper.Prepare(ctx, r)
}
