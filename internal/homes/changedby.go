package homes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// Bounds of the search for what others have changed.
const (
	maxNeighbours = 64      // sessions of the same directory, the newest
	maxCapture    = 10_000  // captures of each, the newest
	maxTheirs     = 500_000 // paths
)

// others finds out what other people and sessions have changed in a session's directory since the target of a restore was
// captured: what was found changed before the session's own acts, and what the acts of other sessions changed.
func (h *Home) others(ctx context.Context, r engine.RestoreRequest) workspace.Others {
	return func() (func(string) restore.Others, error) {
		own, err := h.trees(ctx, r.Session)
		if err != nil {
			return nil, err
		}
		i := len(own) - 1
		for i >= 0 && own[i].Tree != r.Target {
			i--
		}
		own = own[max(i, 0):]
		theirs, unclear, mine := h.changed(), h.changed(), h.changed()
		since := h.cfg.Now().UnixMilli()
		if len(own) > 0 {
			since = own[0].time
		}
		edits, err := h.edits(ctx, r.Session, r.Dir)
		if err != nil {
			return nil, err
		}
		err = h.steps(own, func(before, after store.Digest, by doers) error {
			switch {
			case by.unclear:
				return unclear.sort(before, after, edits, mine)
			case by.others && by.session:
				return errors.Join(theirs.add(before, after), mine.add(before, after))
			case by.others:
				return theirs.add(before, after)
			}
			return mine.add(before, after)
		})
		if err != nil {
			return nil, err
		}
		if err := h.neighbours(ctx, r, since, theirs); err != nil {
			return nil, err
		}
		return func(path string) restore.Others {
			switch {
			case theirs.paths[path] && mine.paths[path]:
				return restore.Mixed
			case theirs.paths[path]:
				return restore.Alien
			case unclear.paths[path]:
				return restore.Unclear
			}
			return restore.Own
		}, nil
	}
}

// taken is a capture in a log.
type taken struct {
	*session.FilesCaptured
	time int64
	// unclear says that the session may have changed files since the capture before, and that nothing was captured
	// after it: a capture failed, or a task ran.
	unclear bool
}

// by adds who may have changed what this capture found anew.
func (t taken) by(d doers) doers {
	if byOthers(t.Why) {
		return doers{others: true, session: d.session, unclear: d.unclear || t.unclear}
	}
	return doers{others: d.others, session: true, unclear: d.unclear}
}

// byOthers reports a capture that was made before anything of the session's own could change a file: what it found is
// somebody else's, if one came after each of the session's acts before.
func byOthers(why session.CaptureWhy) bool {
	switch why {
	case session.CaptureBefore, session.CaptureNamed, session.CaptureFork, session.CaptureRestore, session.CaptureResume:
		return true
	}
	return false
}

// trees are the captures of a session that have a tree, the newest last. What a restore has made of the files is the
// session's own, like what its acts have.
func (h *Home) trees(ctx context.Context, id string) (out []taken, err error) {
	kinds := []store.Kind{session.KindFilesCaptured, session.KindRestoreStarted, session.KindFilesRestored, session.KindTaskStarted, session.KindTaskExited}
	dir := ""                 // of the restore that was started last
	live := map[string]bool{} // tasks
	missed := false           // the session may have changed what nothing was captured after
	for ev, err := range h.Range(ctx, id, Range{Kinds: kinds, Last: maxCapture}) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *session.FilesCaptured:
			if b.Tree.IsZero() {
				missed = missed || b.Why != session.CaptureNamed
				continue
			}
			out = append(out, taken{b, ev.Time, missed || len(live) > 0})
			missed = false
		case *session.RestoreStarted:
			dir = b.Dir
		case *session.FilesRestored:
			if !b.Tree.IsZero() {
				out = append(out, taken{&session.FilesCaptured{Dir: dir, Tree: b.Tree, Why: session.CaptureAct}, ev.Time, false})
				missed = false
			}
		case *session.TaskStarted:
			live[b.Task.ID], missed = true, true
		case *session.TaskExited:
			delete(live, b.Task)
		default:
		}
	}
	return out, nil
}

// edits are what the session's own edits have made of files below a directory: the digest of the newest, by path. They say
// whose a content is where nothing was captured in between.
func (h *Home) edits(ctx context.Context, id, dir string) (map[string]store.Digest, error) {
	root, err := workspace.Where(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]store.Digest{}
	for ev, err := range h.Range(ctx, id, Range{Kinds: []store.Kind{session.KindToolStarted}, Last: maxCapture}) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		if b, ok := body.(*session.ToolStarted); ok && b.Start.Edit != nil {
			if rel, below := strings.CutPrefix(b.Start.Edit.Path, root+"/"); below {
				out[rel] = b.Start.Edit.Post
			}
		}
	}
	return out, nil
}

func (h *Home) changed() changedPaths {
	return changedPaths{workspace.Arrived(h.blobs), map[string]bool{}}
}

// changedPaths collects paths that were changed.
type changedPaths struct {
	trees tree.Reader
	paths map[string]bool
}

func (t changedPaths) add(before, after store.Digest) error {
	return tree.Diff(t.trees, before, after, func(c tree.Change) error { return t.put(c.Path) })
}

// sort adds the paths that were changed, but for those that hold what an edit of the session's own has put there: they are
// its own.
func (t changedPaths) sort(before, after store.Digest, edits map[string]store.Digest, own changedPaths) error {
	return tree.Diff(t.trees, before, after, func(c tree.Change) error {
		to := t
		if made, ok := edits[c.Path]; ok && c.After != nil && c.After.Kind == tree.File && c.After.Digest == made {
			to = own
		}
		return to.put(c.Path)
	})
}

func (t changedPaths) put(path string) error {
	t.paths[path] = true
	if len(t.paths) > maxTheirs {
		return fmt.Errorf("over %d files were changed meanwhile: name the paths that are to be restored", maxTheirs)
	}
	return nil
}

// neighbours adds what the acts of other sessions in the same directory have changed since a time.
func (h *Home) neighbours(ctx context.Context, r engine.RestoreRequest, since int64, t changedPaths) error {
	root, err := workspace.Where(r.Dir)
	if err != nil {
		return err
	}
	seen := 0
	for after := ""; seen < maxNeighbours; {
		page, err := h.store.List(ctx, store.Query{Limit: 1000, After: after})
		if err != nil {
			return err
		}
		for _, info := range page.Sessions {
			if info.Updated < since || seen >= maxNeighbours {
				return nil // the newest come first
			}
			at, err := workspace.Where(info.Heads.Cwd)
			if info.ID == r.Session || err != nil || at != root && !strings.HasPrefix(at, root+"/") {
				continue
			}
			seen++
			if err := h.neighbour(ctx, info.ID, root, since, t); err != nil {
				return err
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	return nil
}

func (h *Home) neighbour(ctx context.Context, id, root string, since int64, t changedPaths) error {
	own, err := h.trees(ctx, id)
	if err != nil {
		return err
	}
	own = slices.DeleteFunc(own, func(c taken) bool { at, err := workspace.Where(c.Dir); return err != nil || at != root })
	first := slices.IndexFunc(own, func(c taken) bool { return c.time >= since })
	if first < 0 {
		return nil
	}
	// The first step begins with the newest one from before that time that was not thinned.
	for first--; first > 0; first-- {
		if there, err := h.blobs.Has(own[first].Tree); there || err != nil {
			break
		}
	}
	return h.steps(own[max(first, 0):], func(before, after store.Digest, by doers) error {
		if !by.session && !by.unclear {
			return nil
		}
		return t.add(before, after)
	})
}
