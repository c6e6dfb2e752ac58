//go:build unix

package capture

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// capture looks, keeps what has changed, and only then takes what it found for known.
func (d *Dir) capture(ctx context.Context, batch *blob.Batch, rung Rung, room *Room) (Result, error) {
	swept := !batch.Still(d.mark)
	if swept {
		d.walked = false
	}
	places, rung := d.places(rung)
	if err := d.weigh(ctx, rung); err != nil {
		d.lost(places)
		return Result{}, err
	}
	w := &walk{d: d, ctx: ctx, keep: batch, now: d.clock(), all: rung == Verify, ask: swept}
	if rung == Hint { // what is not looked at counts as it was
		w.files, w.bytes = d.files, d.bytes
		for _, p := range places {
			w.files, w.bytes = w.files-d.dirs[p.path].count, w.bytes-d.dirs[p.path].bytes
		}
	}
	seen, err := w.run(places)
	if err != nil {
		d.heavy = errors.Is(err, ErrRefused)
		d.lost(places)
		return Result{}, err
	}
	next := d.next(seen)
	changed := seen.dirs
	if swept { // a tree that is there says nothing of what it names: all are put again, each after what is in it
		changed = next.all()
	}
	root, err := next.objects(batch, changed, swept)
	if err == nil {
		err = room.Commit(batch)
	}
	if err != nil {
		d.lost(places)
		return Result{}, err
	}
	r := Result{Tree: root, Rung: rung, Changed: seen.changed, Before: d.tree}
	d.take(next, root, rung)
	d.mark = batch.Mark()
	r.Repos = d.repos
	d.sum(&r, seen)
	if rung != Hint && len(seen.dirs) > 0 {
		_ = d.save() // a cache: without it the next process reads every file again
	}
	return r, nil
}

// weigh refuses a directory that is too large before any file is read: reading costs a hundred times what looking does. It
// looks only where much would be read: at a first capture, and where the one before was refused.
func (d *Dir) weigh(ctx context.Context, rung Rung) error {
	if rung == Hint || len(d.dirs) > 0 && !d.heavy {
		return nil
	}
	w := &walk{d: d, ctx: ctx, now: d.clock(), weigh: true}
	_, err := w.run([]place{{path: "", rules: d.ignore, whole: true}})
	d.heavy = errors.Is(err, ErrRefused)
	return err
}

// places are where a capture begins, and the rung that it really is.
func (d *Dir) places(rung Rung) ([]place, Rung) {
	if d.watch == nil && d.cfg.Watch {
		d.watch, d.walked = newWatcher(), false
	}
	told, all := d.watch.drain()
	for _, p := range told {
		d.dirty[p] = true
	}
	whole := []place{{path: "", rules: d.ignore, whole: true}}
	if rung != Hint || all || !d.walked || d.watch == nil {
		if rung == Hint {
			rung = Walk
		}
		return whole, rung
	}
	var out []place
	for path := range d.dirty {
		if d.dirs[path] == nil {
			continue // it is new: the look at its parent finds it
		}
		out = append(out, place{path: path, rules: d.rulesAround(path), private: d.private(path)})
	}
	return out, Hint
}

// rulesAround are the rules of the directories around one.
func (d *Dir) rulesAround(path string) rules {
	for path != "" {
		path = parent(path)
		if r := d.rules[path]; r != nil {
			return r.sums
		}
	}
	return d.ignore
}

// private reports whether git ignores a known directory.
func (d *Dir) private(path string) bool {
	up := d.dirs[parent(path)]
	if path == "" || up == nil {
		return false
	}
	f := up.find(path[strings.LastIndexByte(path, '/')+1:])
	return f != nil && f.flags&tree.Private != 0
}

// lost has what could not be captured looked at again.
func (d *Dir) lost(places []place) {
	for _, p := range places {
		if p.whole {
			d.walked = false
		}
		d.dirty[p.path] = true
	}
}

// known is what a capture will know if it succeeds.
type known struct {
	*Dir
	dirs    map[string]*directory // nil: gone
	seen    found
	entries []tree.Entry // of the directory whose tree object is made: room for the next one
}

var errGone = errors.New("the directory is gone")

func (k *known) dir(path string) *directory {
	if d, ok := k.dirs[path]; ok {
		return d
	}
	return k.Dir.dirs[path]
}

func (d *Dir) next(seen found) *known {
	k := &known{Dir: d, dirs: make(map[string]*directory, len(seen.dirs)), seen: seen}
	for _, path := range seen.gone {
		k.drop(path)
	}
	for _, dir := range seen.dirs {
		k.dirs[dir.path] = dir
	}
	return k
}

// drop forgets a directory and all below.
func (k *known) drop(path string) {
	dir := k.Dir.dirs[path]
	if dir == nil {
		return
	}
	k.dirs[path] = nil
	for i := range dir.files {
		if dir.files[i].kind == tree.Dir {
			k.drop(join(path, dir.files[i].name))
		}
	}
}

// all gives every directory that is there.
func (k *known) all() []*directory {
	out := make([]*directory, 0, len(k.Dir.dirs)+len(k.dirs))
	for path, dir := range k.Dir.dirs {
		if _, seen := k.dirs[path]; !seen {
			out = append(out, dir)
		}
	}
	for _, dir := range k.dirs {
		if dir != nil {
			out = append(out, dir)
		}
	}
	return out
}

// objects makes the tree objects of what has changed and of all above it, the deepest first; with every, also of
// directories that are as they were.
func (k *known) objects(keep keeper, changed []*directory, every bool) (store.Digest, error) {
	levels := map[int][]*directory{}
	deepest := 0
	queued := map[string]bool{}
	push := func(dir *directory) {
		if dir == nil || queued[dir.path] {
			return
		}
		queued[dir.path] = true
		n := level(dir.path)
		levels[n], deepest = append(levels[n], dir), max(deepest, n)
	}
	for _, dir := range changed {
		if every || !dir.same {
			push(dir)
		}
	}
	for _, path := range k.seen.gone {
		push(k.dir(parent(path)))
	}
	for n := deepest; n >= 0; n-- {
		for _, dir := range levels[n] {
			object, err := k.object(keep, dir)
			if err != nil {
				return store.Digest{}, err
			}
			if object == dir.object {
				continue
			}
			made := *dir
			made.object = object
			k.dirs[dir.path] = &made
			if dir.path != "" {
				push(k.dir(parent(dir.path)))
			}
		}
	}
	root := k.dir("")
	if root == nil {
		return store.Digest{}, errGone
	}
	return root.object, nil
}

// level is how deep a directory lies: the root at 0.
func level(path string) int {
	if path == "" {
		return 0
	}
	return strings.Count(path, "/") + 1
}

// object keeps the tree object of one directory, whose directories have theirs.
func (k *known) object(keep keeper, dir *directory) (store.Digest, error) {
	entries := slices.Grow(k.entries[:0], len(dir.files))
	for i := range dir.files {
		f := &dir.files[i]
		e := tree.Entry{Name: f.name, Kind: f.kind, Flags: f.flags, Mode: f.mode & tree.MaxMode, Digest: f.digest, Target: f.target()}
		switch f.kind {
		case tree.File:
			e.Size, e.MTime = f.size, f.mtime
		case tree.Link:
			e.Mode, e.MTime = 0, f.mtime
		case tree.Dir:
			below := k.dir(join(dir.path, f.name))
			if below == nil && f.flags&tree.Skipped == 0 && !k.unkept(join(dir.path, f.name)) {
				continue // it went while this looked
			}
			if below == nil {
				e.Flags |= tree.Skipped
			} else {
				e.Digest = below.object
			}
		case tree.Other:
			e.Flags &^= tree.Skipped
		}
		entries = append(entries, e)
	}
	k.entries = entries
	b, err := tree.Encode(entries)
	if err != nil {
		return store.Digest{}, err
	}
	if len(b) > blob.MaxBlob {
		d, _, err := keep.PutFrom(bytes.NewReader(b))
		return d, err
	}
	return keep.PutLike(b, dir.object)
}

// unkept reports a directory that is there and could not be looked into.
func (k *known) unkept(path string) bool {
	is := func(s skips) bool { return s.dir == path && len(s.skips) == 1 && s.skips[0].Path == path }
	if slices.ContainsFunc(k.seen.skipped, is) {
		return true
	}
	s := k.skipped[path]
	return len(s) == 1 && s[0].Path == path
}

// take makes what was found known.
func (d *Dir) take(k *known, root store.Digest, rung Rung) {
	for path, dir := range k.dirs {
		if was := d.dirs[path]; was != nil {
			d.files, d.bytes = d.files-was.count, d.bytes-was.bytes
		}
		if dir == nil {
			delete(d.dirs, path)
			delete(d.skipped, path)
			delete(d.rules, path)
			d.watch.remove(path)
			continue
		}
		dir.same = true
		d.dirs[path] = dir
		d.files, d.bytes = d.files+dir.count, d.bytes+dir.bytes
	}
	for _, s := range k.seen.skipped {
		if len(s.skips) == 0 {
			delete(d.skipped, s.dir)
			continue
		}
		d.skipped[s.dir] = s.skips
	}
	for _, r := range k.seen.ruled {
		d.rules[r.path] = r
	}
	if rung != Hint {
		d.repos = slices.Sorted(slices.Values(k.seen.repos))
		d.walked = true
	}
	clear(d.dirty)
	d.tree = root
}

// sum puts what is known of the whole into a result.
func (d *Dir) sum(r *Result, seen found) {
	for _, s := range d.skipped {
		r.Skipped = append(r.Skipped, s...)
	}
	slices.SortFunc(r.Skipped, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	r.Files, r.Bytes = d.files, d.bytes
	for _, dir := range seen.dirs {
		for i := range dir.files {
			if dir.files[i].flags&tree.Torn != 0 {
				r.Torn = append(r.Torn, join(dir.path, dir.files[i].name))
			}
		}
	}
	slices.Sort(r.Torn)
}
