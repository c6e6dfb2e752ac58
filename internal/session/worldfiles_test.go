package session_test

import (
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// tree is the digest of a captured set of files that has a name.
func tree(name string) store.Digest { return store.Sum([]byte(name)) }

// captured is what a capture says.
func captured(why session.CaptureWhy, name string) *session.FilesCaptured {
	return &session.FilesCaptured{Dir: "/w", Tree: tree(name), Rung: session.RungWalk, Why: why, Files: 1}
}

// wantFiles is what a human, or what happens to the files, asks of the session.
func (r *run) wantFiles() {
	w := &r.st.Workspace
	switch r.src.number(4) {
	case 0:
		if name := words[r.src.number(len(words))]; w.TakesCheckpoint(name) == nil {
			r.append(human, &session.CheckpointRequested{Name: name})
		}
	case 1:
		b := &session.RestoreRequested{Target: tree("old"), To: "old"}
		if n := len(w.Points); n > 0 && r.src.number(2) == 0 {
			b.Undo, b.Target = &w.Points[r.src.number(n)].Seq, store.Digest{}
		}
		if r.st.TakesRestore(b) == nil {
			r.append(human, b)
		}
	case 2:
		if !w.Restoring() {
			r.append(engine, captured(session.CaptureAct, words[r.src.number(len(words))]))
		}
	case 3:
		r.append(engine, &session.ArtifactAdded{Artifact: session.Artifact{Name: "a", Digest: tree("a")}})
	}
}

// doFiles does what an engine does about files, or stops in the middle of it.
func (r *run) doFiles(a session.Action) {
	switch d := a.Do.(type) {
	case session.CaptureFiles:
		b := captured(session.CaptureNamed, "now")
		b.Name, b.Request = d.Ask.Name, d.Ask.Seq
		if r.src.number(4) == 0 {
			b.Tree, b.Refused = store.Digest{}, "the disk is full"
		}
		r.append(engine, b)
	case session.RestoreFiles:
		if r.src.number(3) == 0 {
			r.append(engine, &session.FilesRestored{Request: d.Restore.Request, Outcome: session.RestoreFailed, Error: "no such tree"})
			return
		}
		r.append(engine, &session.RestoreStarted{Request: d.Restore.Request, Before: tree("before"), Base: r.st.Workspace.Tree, Target: d.Restore.Target, Dir: "/w"})
	case session.FinishRestore:
		b := &session.FilesRestored{Request: d.Restore.Request, Outcome: session.RestoreDone, Tree: d.Restore.Target, Text: []byte("[restored]")}
		if r.src.number(3) == 0 {
			b.Outcome, b.Tree = session.RestoreUndone, store.Digest{}
		}
		r.append(engine, b)
	default:
	}
}

// aboutFiles says, apart from Next, whether something is to be done about files now.
func (r *run) aboutFiles() bool {
	w, t := &r.st.Workspace, r.st.Turn
	executing := func(c session.Call) bool { return c.State == session.ActExecuting && !c.Left }
	changes := func(c session.Call) bool { return executing(c) && c.Effect.Changes() }
	if len(w.Asked) > 0 && (t == nil || !slices.ContainsFunc(t.Calls, changes)) {
		return true
	}
	calls := t != nil && (t.Model != nil && t.Model.Status == session.CallRequested || slices.ContainsFunc(t.Calls, executing))
	if c := r.st.Compaction; c != nil && c.Model != nil && c.Model.Status == session.CallRequested {
		calls = true
	}
	return w.Restore != nil && !calls
}
