package homes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// fileFold goes through a log.
type fileFold struct {
	st      *session.State
	trees   tree.Reader
	out     *FileHistory
	stories map[string]*FileStory
	notKept map[string]*NotKept
	touches int
	pending []touched // what tools have said of files, until the event of their call's end
	known   capturedTree
	acts    []string // calls that were captured after, since known
	tasks   []session.Task
}

type touched struct {
	path  string
	touch FileTouch
}

// capturedTree is the newest capture whose bytes are here.
type capturedTree struct {
	dir  string
	tree store.Digest
	seq  int64
}

func (f *fileFold) event(ctx context.Context, ev store.Event, body session.Body) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	restore := f.st.Workspace.Restore
	f.st.ApplyBody(ev, body)
	switch b := body.(type) {
	case *session.Forked:
		f.known = capturedTree{f.st.Workspace.Dir, f.st.Workspace.Tree, ev.Seq}
		f.out.Captured = !f.known.tree.IsZero()
	case *session.FileSeen:
		f.pending = append(f.pending, touched{b.File.Path, FileTouch{
			Did: string(b.File.Use), Digest: b.File.Digest, Size: b.File.Size, Seq: ev.Seq, Time: view.Stamp(ev.Time),
		}})
	case *session.ToolFinished:
		f.settle(b.Act, ev.Actor)
	case *session.ToolUnknown:
		f.settle(b.Act, ev.Actor)
	case *session.TaskStarted:
		f.tasks = append(f.tasks, b.Task)
	case *session.FilesCaptured:
		return f.captured(ev, b)
	case *session.FilesRestored:
		return f.restored(ev, b, restore)
	default:
	}
	return nil
}

// settle says of which call it was what the newest events said of files.
func (f *fileFold) settle(act string, actor store.Actor) {
	by := ""
	if actor.Type == store.ActorTool {
		by = actor.ID
	}
	if c := f.st.Call(act); c != nil {
		by = c.Tool
	}
	for _, p := range f.pending {
		p.touch.By, p.touch.Act = by, act
		f.add(p.path, p.touch)
	}
	f.pending = f.pending[:0]
}

// add notes what became of a file, within the bound.
func (f *fileFold) add(path string, t FileTouch) {
	if f.touches >= maxTouches {
		f.out.LeftOut++
		return
	}
	f.touches++
	s := f.stories[path]
	if s == nil {
		s = &FileStory{Path: path}
		f.stories[path] = s
	}
	s.Touches = append(s.Touches, t)
}

// captured compares a capture with the one before it.
func (f *fileFold) captured(ev store.Event, b *session.FilesCaptured) error {
	if b.Refused != "" {
		if f.out.Why = b.Refused; len(f.out.Failures) < maxNotKept {
			f.out.Failures = append(f.out.Failures, NotCaptured{Seq: ev.Seq, Time: view.Stamp(ev.Time), Why: b.Refused})
		}
		return nil
	}
	if b.Tree.IsZero() {
		return nil
	}
	f.out.Captured, f.out.Why = true, ""
	f.skipped(ev, b)
	who := FileTouch{Seq: ev.Seq, Time: view.Stamp(ev.Time), By: byOutside}
	if b.Act != "" {
		f.acts = append(f.acts, b.Act)
	}
	switch {
	case len(f.acts) > 0:
		f.byActs(&who)
	case len(f.tasks) > 0:
		f.byTasks(&who)
	}
	return f.step(capturedTree{b.Dir, b.Tree, ev.Seq}, who)
}

// byActs names the calls that may have made a difference: one, unless captures between were thinned.
func (f *fileFold) byActs(who *FileTouch) {
	last := f.acts[len(f.acts)-1]
	who.By, who.Act = "call", last
	if c := f.st.Call(last); c != nil {
		who.By, who.About = c.Tool, c.About
	}
	if n := len(f.acts); n > 1 {
		who.By, who.About = "call", fmt.Sprintf("one of %d calls, from %s on", n, f.acts[0])
	}
	for _, t := range f.tasks[:min(len(f.tasks), 8)] {
		who.Tasks = append(who.Tasks, t.ID)
	}
}

// byTasks names the background tasks that ran since the capture before.
func (f *fileFold) byTasks(who *FileTouch) {
	who.By = byTask
	if len(f.tasks) == 1 {
		who.Act, who.About = f.tasks[0].ID, f.tasks[0].Command
		return
	}
	who.About = fmt.Sprintf("one of %d tasks", len(f.tasks))
}

// restored takes what a restore did, and what others had done before it.
func (f *fileFold) restored(ev store.Event, b *session.FilesRestored, r *session.Restore) error {
	if r == nil || r.Started == 0 || b.Tree.IsZero() {
		return nil
	}
	if err := f.step(capturedTree{r.Dir, r.Before, r.Started}, FileTouch{Seq: r.Started, Time: view.Stamp(r.Time), By: byOutside}); err != nil {
		return err
	}
	return f.step(capturedTree{r.Dir, b.Tree, ev.Seq}, FileTouch{Seq: ev.Seq, Time: view.Stamp(ev.Time), By: byRestore, About: "to " + r.To})
}

// step adds what differs between the newest known tree and this one. One whose bytes are not here is stepped over.
func (f *fileFold) step(now capturedTree, who FileTouch) error {
	var found []touched
	var err error
	if f.known.dir == now.dir && !f.known.tree.IsZero() {
		err = tree.Diff(f.trees, f.known.tree, now.tree, func(c tree.Change) error {
			if t, ok := touchOf(c, who); ok && len(found) <= maxTouches {
				found = append(found, touched{filepath.Join(now.dir, c.Path), t})
			}
			return nil
		})
	} else {
		_, err = tree.List(f.trees, now.tree)
	}
	if errors.Is(err, blob.ErrMissing) {
		f.out.Missing++
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range found {
		if !f.said(t.path, t.touch) {
			f.add(t.path, t.touch)
		}
	}
	f.known, f.acts = now, nil
	f.tasks = slices.DeleteFunc(f.tasks, func(t session.Task) bool {
		known := f.st.Task(t.ID)
		return known == nil || !known.Live()
	})
	return nil
}
