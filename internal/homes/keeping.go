package homes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// keeping finds what is to be kept of the files of a home's sessions. It may be asked again: it then finds what is new.
type keeping struct {
	h     *Home
	blobs *blob.Store
	now   time.Time
	read  map[string]int64                     // by session, the seq up to which its log was read
	trees map[store.Digest][]child             // what was read of trees, as far as there is room
	names int                                  // children in it
	found func(session string, d store.Digest) // is told each content that a session leads to, at least once
	mine  map[store.Digest]bool                // the trees that found was told for the session at hand
	each  bool                                 // tell a tree's contents for each session; else for the first
	thin  func(session string) thinning        // what of a session's captures goes whatever its age
}

// maxRemembered bounds what is remembered of trees for the next session, in names; the others are read again. 33 bytes
// each.
const maxRemembered = 1_000_000

// child is what a tree names.
type child struct {
	digest store.Digest
	dir    bool
}

func (h *Home) keeping(blobs *blob.Store, found func(session string, d store.Digest)) *keeping {
	return &keeping{
		h: h, blobs: blobs, now: h.cfg.Now(), found: found,
		read: map[string]int64{}, trees: map[store.Digest][]child{}, mine: map[store.Digest]bool{}, thin: h.thinningOf,
	}
}

// look goes through what is new in all logs. An error means that something may not have been found.
func (k *keeping) look(ctx context.Context) error {
	all, err := k.h.everySession(ctx)
	if err != nil {
		return err
	}
	forks := map[string][]int64{} // by session, the events after which another goes its own way
	for _, info := range all {
		if p := info.Parent; p != nil {
			forks[p.Session] = append(forks[p.Session], p.Seq)
		}
	}
	work := k.h.Progress().Begin("looking at what sessions keep", "")
	defer work.End()
	work.Set(0, int64(len(all)))
	for id, info := range all {
		work.Add(1, 0)
		if n, known := k.read[id]; known && n >= info.Head.Seq {
			continue
		}
		slices.Sort(forks[id])
		if err := k.session(ctx, id, forks[id]); errors.Is(err, store.ErrNotFound) {
			continue // it was deleted meanwhile
		} else if err != nil {
			return fmt.Errorf("what session %s keeps cannot be told: %w", id, err)
		}
	}
	return nil
}

// keepRestores finds what restores that are under way need and no tree has.
func (k *keeping) keepRestores() error {
	need, err := workspace.Needs(filepath.Join(k.h.dir, spacesDir))
	for _, d := range need {
		k.found("", d)
	}
	return err
}

// everySession lists them. One that changes while it is listed moves to the first page: with several pages the list
// is made twice.
func (h *Home) everySession(ctx context.Context) (map[string]store.Info, error) {
	all := map[string]store.Info{}
	for range 2 {
		pages := 0
		for after := ""; ; pages++ {
			page, err := h.store.List(ctx, store.Query{Limit: 1000, After: after})
			if err != nil {
				return nil, err
			}
			for _, info := range page.Sessions {
				all[info.ID] = info
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if pages == 0 {
			break
		}
	}
	return all, nil
}

// session finds what is new of one.
func (k *keeping) session(ctx context.Context, id string, forks []int64) error {
	if k.each {
		clear(k.mine)
	}
	from, known := k.read[id]
	undo, thin := from, k.thin(id)
	if !known {
		st, err := k.h.State(ctx, id)
		if err != nil {
			return err
		}
		if st.ReadOnly != "" {
			return errors.New(st.ReadOnly)
		}
		points := thin.points(st.Workspace.Points)
		trees, blobs := ofState(st, points)
		if err := k.keep(ctx, id, trees, blobs); err != nil {
			return err
		}
		if w := &st.Workspace; w.Tree.IsZero() && len(w.Artifacts) == 0 && w.Restore == nil {
			k.read[id] = st.Head.Seq // it never had any
			return nil
		}
		undo = st.Head.Seq
		if len(points) > 0 {
			undo = points[0].Seq
		}
	}
	return k.log(ctx, id, span{from: from, undo: undo, thinned: thin.Acts}, forks)
}

// span is what is read of a log, and what of its captures stays.
type span struct {
	from    int64 // what comes after it is read
	undo    int64 // from here on undo goes back to points
	thinned int64 // captures up to here that nobody named are gone, however young
}

// log finds what the events of a log keep. From where undo begins, what others changed is kept with what was
// before it: a restore has to know whose a change is.
func (k *keeping) log(ctx context.Context, id string, s span, forks []int64) error {
	var last []store.Digest // the newest tree so far
	for ev, err := range k.h.store.Read(ctx, id, s.from+1, 0) {
		if err != nil {
			return err
		}
		for len(forks) > 0 && forks[0] < ev.Seq {
			if err := k.keep(ctx, id, last, nil); err != nil {
				return err
			}
			forks = forks[1:]
		}
		k.read[id] = ev.Seq
		if !session.Knows(ev.Kind) {
			return fmt.Errorf("event %d is of kind %q, which this version does not know", ev.Seq, ev.Kind)
		}
		if !slices.Contains(keptKinds, ev.Kind) {
			continue
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		trees, blobs := session.Keeps(body)
		named := trees
		always, age := outlives(body)
		if !always && (ev.Seq <= s.thinned || k.now.Sub(time.UnixMilli(ev.Time)) > age) {
			trees = nil
		}
		switch b := body.(type) {
		case *session.FilesCaptured:
			if byOthers(b.Why) && ev.Seq >= s.undo {
				trees = append(slices.Clone(last), named...)
			}
			last = orLast(named, last)
		case *session.FilesRestored:
			last = orLast(named, last)
		default:
		}
		if err := k.keep(ctx, id, trees, blobs); err != nil {
			return err
		}
	}
	if len(forks) > 0 {
		return k.keep(ctx, id, last, nil)
	}
	return nil
}

func orLast(named, last []store.Digest) []store.Digest {
	if len(named) > 0 {
		return named
	}
	return last
}

// keptKinds are the kinds of events that name what is kept.
var keptKinds = []store.Kind{
	session.KindFilesCaptured, session.KindRestoreRequested, session.KindRestoreStarted, session.KindFilesRestored, session.KindArtifactAdded,
}

// keep tells what trees and blobs lead to.
func (k *keeping) keep(ctx context.Context, id string, trees, blobs []store.Digest) error {
	for _, d := range blobs {
		k.found(id, d)
	}
	for _, root := range trees {
		for todo := []store.Digest{root}; len(todo) > 0; {
			d := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if d.IsZero() || k.mine[d] {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			children, err := k.tree(d)
			if errors.Is(err, blob.ErrMissing) {
				continue // looked for again when it is named again
			}
			if err != nil {
				return err
			}
			k.mine[d] = true
			k.found(id, d)
			for _, c := range children {
				if c.dir {
					todo = append(todo, c.digest)
				} else {
					k.found(id, c.digest)
				}
			}
		}
	}
	return nil
}

// tree reads what a tree names. A content that is no tree names nothing: a log from elsewhere may call it one.
func (k *keeping) tree(d store.Digest) ([]child, error) {
	if known, ok := k.trees[d]; ok {
		return known, nil
	}
	b, err := workspace.Trees(k.blobs).Get(d)
	if errors.Is(err, blob.ErrTooLarge) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := tree.Decode(b)
	if err != nil {
		return nil, nil //nolint:nilerr // it is no tree
	}
	var out []child
	for i := range entries {
		if e := &entries[i]; !e.Digest.IsZero() {
			out = append(out, child{e.Digest, e.Kind == tree.Dir})
		}
	}
	if k.each && k.names+len(out) <= maxRemembered {
		k.trees[d], k.names = out, k.names+len(out)
	}
	return out, nil
}
