package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Keeping is a script whose files are captured: they are changed by edits and by commands, removed, given names, undone
// and restored, also while the session waits for its human.
func Keeping() *Script {
	return &Script{
		Keeps: true,
		Prompts: []Prompt{
			{Turn: "first"},
			{Turn: "second", Checkpoint: "good"},
			{Turn: "third", Restore: "good"},
			{Turn: "fourth", Undo: true},
			{Turn: "fifth", Undo: true},
		},
		Files: map[string]string{"/w/a": "one\n", "/w/gone": "still here\n", "/w/same": "same\n"},
		Commands: map[string]Behaviour{
			"run make":  {Output: "made\n", Takes: 3 * time.Second, Late: 20 * time.Millisecond, Writes: map[string]string{"/w/out": "made\n", "/w/gone": ""}},
			"run slow":  {Output: "slow\n", Takes: time.Second, Writes: map[string]string{"/w/slow": "slow\n"}},
			"run again": {Output: "again\n", Takes: 3 * time.Second, Writes: map[string]string{"/w/out": "again\n"}},
		},
		Answers: map[string]Answer{"ask first": {Allow: true}},
		Turns: map[string][]Reply{
			"first": {
				say("look", read("/w/a"), read("/w/same")),
				say("change", edit("/w/a", "one", "two"), bash("run make")),
				say("first over"),
			},
			"second": {
				say("new", write("/w/new", "new\n"), background("run slow")),
				say("and", edit("/w/a", "two", "three"), bash("run again")),
				say("second over"),
			},
			"third":  {say("look again", read("/w/a")), say("third over")},
			"fourth": {say("write", write("/w/new", "newer\n")), say("ask", bash("ask first")), say("fourth over")},
			"fifth":  {say("look last", read("/w/a"), read("/w/out")), say("fifth over")},
		},
	}
}

// wants is what a human wants done with the files before a prompt.
func (h *human) wants(st *session.State, p Prompt) bool {
	ws := &st.Workspace
	if _, made := ws.Checkpoint(p.Checkpoint); p.Checkpoint != "" && !made {
		h.send("checkpoint-"+p.Checkpoint, &session.CheckpointRequested{Name: p.Checkpoint})
		return true
	}
	if c, _ := ws.Checkpoint(p.Restore); p.Restore != "" && ws.Tree != c.Tree {
		h.send("restore-"+p.Restore, &session.RestoreRequested{Target: c.Tree, To: "checkpoint " + p.Restore})
		return true
	}
	if !p.Undo || len(ws.Points) == 0 {
		return false
	}
	if _, chosen := h.undo[p.Turn]; !chosen {
		h.undo[p.Turn] = ws.Points[len(ws.Points)-1].Seq
	}
	seq := h.undo[p.Turn]
	if _, there := ws.Point(seq); !there {
		return false
	}
	h.send("undo-"+p.Turn, &session.RestoreRequested{Undo: &seq, To: "before"})
	return true
}

// treeOf is a captured set of files by its digest.
func treeOf(files map[string][]byte) store.Digest {
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&all, "%s\x00%s\x00", name, files[name])
	}
	return store.Sum(all.Bytes())
}

// below gives the files below a directory.
func (w *World) below(dir string) map[string][]byte {
	out := map[string][]byte{}
	for name, f := range w.files {
		if strings.HasPrefix(name, dir+"/") {
			out[name] = f.data
		}
	}
	return out
}

// journal is the plan of a restore. It outlives processes.
type journal struct {
	before, target store.Digest
	written        map[string]int
}

// keeper is how a process captures and restores.
type keeper struct{ p *process }

var _ engine.Captures = keeper{}

// captureLocked makes the files durable as a tree.
func (k keeper) captureLocked(dir string) store.Digest {
	files := k.p.w.below(dir)
	d := treeOf(files)
	k.p.w.trees[d] = files
	return d
}

func (k keeper) Capture(_ context.Context, r engine.CaptureRequest) (out engine.Captured, err error) {
	var d store.Digest
	if err := k.p.effect("capture", func() { d = k.captureLocked(r.Dir) }); err != nil {
		return out, err
	}
	out.Body = &session.FilesCaptured{Tree: d, Rung: r.Rung, Files: int64(len(k.p.w.trees[d]))}
	out.Release = func() { k.logged(r.Session, d) }
	return out, nil
}

// logged checks that the log names a tree before its bytes are no longer protected.
func (k keeper) logged(id string, d store.Digest) {
	w := k.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if !k.p.dead && !w.released[d] {
		w.intended(id, session.KindFilesCaptured, d.String())
	}
	w.released[d] = true
}

func (k keeper) Prepare(_ context.Context, r engine.RestoreRequest) (out engine.Prepared, err error) {
	w := k.p.w
	err = k.p.effect("restore.prepare", func() {
		key := r.Session + "/" + r.ID
		if w.plans[key] != nil && len(w.plans[key].written) > 0 {
			w.faultLocked("restore %s is planned again after it was begun", key)
		}
		w.plans[key] = &journal{before: k.captureLocked(r.Dir), target: r.Target, written: map[string]int{}}
		out.Before = &session.FilesCaptured{Tree: w.plans[key].before}
		out.Counts.Modified = int64(len(w.differing(w.plans[key])))
	})
	return out, err
}

// differing are the paths that a restore touches.
func (w *World) differing(j *journal) (paths []string) {
	before, target := w.trees[j.before], w.trees[j.target]
	all := maps.Clone(before)
	maps.Copy(all, target)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		x, had := before[name]
		y, has := target[name]
		if had != has || !bytes.Equal(x, y) {
			paths = append(paths, name)
		}
	}
	return paths
}

func (k keeper) Finish(_ context.Context, r engine.RestoreRequest) (out engine.Restored, err error) {
	w, key := k.p.w, r.Session+"/"+r.ID
	w.mu.Lock()
	j := w.plans[key]
	w.mu.Unlock()
	if j == nil || j.before != r.Before {
		return out, errors.New("there is no plan of " + key)
	}
	for _, name := range w.differing(j) {
		want, has := w.trees[j.target][name]
		err := k.p.effect("restore.write", func() {
			now := w.files[name]
			if !w.cfg.Rewrites && has == (now != nil) && (now == nil || bytes.Equal(now.data, want)) {
				return // done before
			}
			w.intended(r.Session, session.KindRestoreStarted, fmt.Sprintf(`"request":%s,`, strings.TrimPrefix(r.ID, "restore.")))
			if j.written[name]++; j.written[name] > 1 {
				w.faultLocked("restore %s wrote %s twice", key, name)
			}
			if !has {
				delete(w.files, name)
				return
			}
			w.files[name] = &file{data: want, mode: 0o644}
		})
		if err != nil {
			return out, err
		}
		out.Paths = append(out.Paths, strings.TrimPrefix(name, r.Dir+"/"))
	}
	out.Counts.Modified = int64(len(out.Paths))
	err = k.p.effect("restore.end", func() { out.Tree = k.captureLocked(r.Dir) })
	out.Release = func() { _ = k.p.effect("restore.forget", func() { delete(w.plans, key) }) }
	return out, err
}

func (k keeper) Abandon(_ context.Context, r engine.RestoreRequest) error {
	k.p.w.faultf("restore %s was given up", r.ID)
	return k.p.check()
}

// checkFiles checks what the logs say of files: each tree that they name is there, no restore is left in the middle, and
// each that was asked for has one end.
func (w *World) checkFiles(id string, log []entryOf, st *session.State) {
	asked, ended, done := 0, 0, 0
	for _, e := range log {
		trees, _ := session.Keeps(e.body)
		for _, d := range trees {
			if w.trees[d] == nil {
				w.faultLocked("event %d of %s names a tree that is not there", e.Seq, id)
			}
		}
		switch b := e.body.(type) {
		case *session.RestoreRequested:
			asked++
		case *session.FilesRestored:
			ended++
			if b.Outcome == session.RestoreDone {
				done++
			}
		case *session.FilesCaptured:
			if b.Refused != "" {
				w.faultLocked("event %d of %s: files were not captured: %s", e.Seq, id, b.Refused)
			}
		default:
		}
	}
	if asked != ended || ended != done || st.Workspace.Restore != nil || len(st.Workspace.Asked) > 0 {
		w.faultLocked("session %s: %d restores were asked for, %d ended, %d of them well; left %+v", id, asked, ended, done, st.Workspace.Restore)
	}
	if w.script.Keeps && st.Workspace.Tree != treeOf(w.below("/w")) {
		w.faultLocked("session %s does not know its files as they are", id)
	}
}

// filesState is what of a workspace must be equal.
func filesState(ws session.Workspace) any {
	var points, names []string
	for _, p := range ws.Points {
		points = append(points, fmt.Sprintf("%d %s", p.Turn, p.Tree))
	}
	for _, c := range ws.Checkpoints {
		names = append(names, c.Name+" "+c.Tree.String())
	}
	return []any{ws.Tree, points, names}
}
