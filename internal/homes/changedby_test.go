package homes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// witness is a home whose sessions' logs are written by hand: what was captured, when and why.
type witness struct {
	t   *testing.T
	h   *Home
	dir string
	now time.Time

	zero, one, two store.Digest // trees of which d/f has these words
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{t: t, dir: t.TempDir(), now: time.UnixMilli(1_700_000_000_000)}
	h, err := Open(t.Context(), filepath.Join(t.TempDir(), "home"), Config{Environ: []string{}, Files: &Files{}, Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	w.h = h
	w.session("s", w.dir)
	w.zero, w.one, w.two = w.tree("zero", "g"), w.tree("one", "g"), w.tree("two", "g")
	return w
}

func (w *witness) session(id, dir string) {
	w.t.Helper()
	if _, err := w.h.Create(w.t.Context(), engine.Spec{ID: id, Cwd: dir, Agent: session.Agent{Provider: "p", Model: "m", MaxTokens: 1}}); err != nil {
		w.t.Fatal(err)
	}
}

// logs adds what a session's log says, a second after what was added before.
func (w *witness) logs(id string, bodies ...session.Body) {
	w.t.Helper()
	for _, b := range bodies {
		w.now = w.now.Add(time.Second)
		if _, err := w.h.Append(w.t.Context(), id, AppendOptions{}, store.Actor{Type: store.ActorImport}, b); err != nil {
			w.t.Fatalf("%s: %+v: %v", id, b, err)
		}
	}
}

// tree keeps a tree of two files, f and g, in a directory d.
func (w *witness) tree(f, g string) store.Digest {
	w.t.Helper()
	b, err := w.h.blobs.Batch(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var d store.Digest
	entries := []tree.Entry{fileOf("f", f, 0), fileOf("g", g, 0)}
	for range 2 {
		raw, err := tree.Encode(entries)
		if err == nil {
			d, err = b.Put(raw)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		entries = []tree.Entry{dirOf("d", d, 0)}
	}
	if err := b.Commit(); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// who says who changed d/f since a tree, as a session's undo would be told.
func (w *witness) who(id string, since store.Digest) restore.Others {
	w.t.Helper()
	find, err := w.h.others(w.t.Context(), engine.RestoreRequest{Session: id, Dir: w.dir, Target: since})()
	if err != nil {
		w.t.Fatal(err)
	}
	if got := find("d/g"); got != restore.Own {
		w.t.Errorf("of what nobody changed: %d", got)
	}
	return find("d/f")
}

// seen adds a capture of the session s.
func (w *witness) seen(why session.CaptureWhy, d store.Digest) {
	w.t.Helper()
	w.seenIn("s", w.dir, why, d)
}

// seenIn adds a capture; without a tree it is one that failed.
func (w *witness) seenIn(id, dir string, why session.CaptureWhy, d store.Digest) {
	w.t.Helper()
	b := &session.FilesCaptured{Dir: dir, Why: why, Tree: d}
	if d.IsZero() {
		b.Refused = "the disk is full"
	}
	w.logs(id, b)
}

// restored adds a restore, and what it has made.
func (w *witness) restored(id string, outcome session.RestoreOutcome, d store.Digest) {
	w.t.Helper()
	w.logs(id, &session.RestoreRequested{Target: w.one, To: "one"})
	st, err := w.h.State(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.logs(id, &session.RestoreStarted{Request: st.Head.Seq, Before: w.zero, Target: w.one, Dir: w.dir},
		&session.FilesRestored{Request: st.Head.Seq, Outcome: outcome, Tree: d})
}

// edits adds edits of a file that the session has begun in a turn, one after the other.
func (w *witness) edits(path string, contents ...string) {
	w.t.Helper()
	answer := &session.ModelResponded{Act: "t1.s1.b0.a1", Model: "p/m", Provider: "p", Stop: modelapi.StopToolUse}
	for i := range contents {
		answer.Blocks = append(answer.Blocks, session.SealedBlock{Type: model.BlockToolUse, ID: fmt.Sprint(i), Name: "Write", Input: []byte("{}")})
	}
	w.logs("s", &session.TurnStarted{N: 1, Met: true}, &session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Through: 3, Model: "p/m"}, answer)
	for i, content := range contents {
		st, err := w.h.State(w.t.Context(), "s")
		if err != nil {
			w.t.Fatal(err)
		}
		c := st.Turn.Calls[i]
		e := &session.Edit{Path: filepath.Join(w.dir, path), Post: store.Sum([]byte(content))}
		w.logs("s", &session.ToolDecided{Act: c.ID, Effect: session.EffectEdit, Decision: session.Decision{Allow: true, Bound: st.Binding(&c)}},
			&session.ToolStarted{Act: c.ID, Start: session.Start{Edit: e}},
			&session.ToolFinished{Act: c.ID, Outcome: session.OutcomeOK})
	}
}

// Whose a change is follows from what was captured before and after the session's own acts, and from what its edits have
// written; where nothing was captured after an act, or a task ran, it is not known.
func TestWhoseAChangeIs(t *testing.T) {
	const act, before = session.CaptureAct, session.CaptureBefore
	task := &session.TaskStarted{Task: session.Task{ID: "bash_1", Command: "make"}}
	ended := &session.TaskExited{Task: "bash_1"}
	for name, c := range map[string]struct {
		do   func(w *witness) // after zero, the target, was captured
		want restore.Others
	}{
		"nobody's": {func(w *witness) {
			w.seen(before, w.zero)
		}, restore.Own},
		"an act of its own": {func(w *witness) {
			w.seen(act, w.one)
		}, restore.Own},
		"found before an act": {func(w *witness) {
			w.seen(before, w.one)
		}, restore.Alien},
		"found before an act, then its own": {func(w *witness) {
			w.seen(before, w.one)
			w.seen(act, w.two)
		}, restore.Mixed},
		"its own, then found before an act": {func(w *witness) {
			w.seen(act, w.one)
			w.seen(before, w.two)
		}, restore.Mixed},
		"after an act whose capture failed": {func(w *witness) {
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"after a checkpoint that failed": {func(w *witness) {
			w.seen(session.CaptureNamed, store.Digest{})
			w.seen(before, w.one)
		}, restore.Alien},
		"after a failed capture and a good one": {func(w *witness) {
			w.seen(act, store.Digest{})
			w.seen(act, w.zero)
			w.seen(before, w.one)
		}, restore.Alien},
		"while a task ran": {func(w *witness) {
			w.logs("s", task)
			w.seen(act, w.zero)
			w.seen(before, w.one)
		}, restore.Unclear},
		"when a task had ended": {func(w *witness) {
			w.logs("s", task)
			w.logs("s", ended)
			w.seen(before, w.one)
		}, restore.Unclear},
		"long after a task": {func(w *witness) {
			w.logs("s", task)
			w.logs("s", ended)
			w.seen(act, w.zero)
			w.seen(before, w.one)
		}, restore.Alien},
		"what an edit of its own has written": {func(w *witness) {
			w.edits("d/f", "one")
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Own},
		"not what its edit has written": {func(w *witness) {
			w.edits("d/f", "other")
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"the newest edit counts": {func(w *witness) {
			w.edits("d/f", "one", "other")
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"what it has written under another path": {func(w *witness) {
			w.edits("d/other", "one")
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"what it has written in a neighbouring directory": {func(w *witness) {
			w.edits("../"+filepath.Base(w.dir)+"x/d/f", "one")
			w.seen(act, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"what a restore has made": {func(w *witness) {
			w.restored("s", session.RestoreDone, w.one)
			w.seen(before, w.one)
		}, restore.Own},
		"after a restore, and after an act whose capture failed": {func(w *witness) {
			w.seen(act, store.Digest{})
			w.restored("s", session.RestoreDone, w.zero)
			w.seen(before, w.one)
		}, restore.Alien},
		"after a restore that left nobody knows what": {func(w *witness) {
			w.seen(act, store.Digest{})
			w.restored("s", session.RestoreFailed, store.Digest{})
			w.seen(before, w.one)
		}, restore.Unclear},
		"since the target was there for the second time": {func(w *witness) {
			w.seen(before, w.one)
			w.seen(act, w.zero)
			w.seen(act, w.two)
		}, restore.Own},
		"a capture between is gone": {func(w *witness) {
			w.seen(before, store.Sum([]byte("gone")))
			w.seen(act, w.two)
		}, restore.Mixed},
	} {
		w := newWitness(t)
		w.seen(before, w.zero)
		c.do(w)
		if got := w.who("s", w.zero); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Of other sessions counts what their acts have changed in this directory since then: not what they found changed, nor what
// they did elsewhere or before. Where their newest capture from before that time is gone, an older one is the beginning.
func TestWhatOtherSessionsHaveChanged(t *testing.T) {
	for name, c := range map[string]struct {
		cwd, dir      string // of the other session and of its captures, from the directory
		early, lately string // its captures before and after the target
		own           string // the session's after that
		want          restore.Others
	}{
		"an act":                              {early: "before zero", lately: "act one", want: restore.Alien},
		"an act, from a directory within":     {cwd: "d", early: "before zero", lately: "act one", want: restore.Alien},
		"an act, then its own":                {early: "before zero", lately: "act one", own: "act two", want: restore.Mixed},
		"a neighbouring directory":            {cwd: "../x", early: "before zero", lately: "act one"},
		"a directory of almost this name":     {cwd: ".x", early: "before zero", lately: "act one"},
		"a directory that is gone":            {cwd: "gone", early: "before zero", lately: "act one"},
		"captures of another directory":       {dir: "d", early: "before zero", lately: "act one"},
		"captures of one that is gone":        {dir: "gone", early: "before zero", lately: "act one"},
		"found changed":                       {early: "before zero", lately: "before one"},
		"nothing since":                       {early: "before zero,act one"},
		"nothing new since":                   {early: "before zero,act one", lately: "before one"},
		"only one capture":                    {lately: "act one"},
		"maybe an act of its own":             {early: "before zero", lately: "act failed,before one", want: restore.Alien},
		"begun before a capture that is gone": {early: "before one,act zero,act gone", lately: "act one", want: restore.Alien},
		"begun before two that are gone":      {early: "act zero,act gone,act gone", lately: "act one", want: restore.Alien},
		"all before it are gone":              {early: "act gone", lately: "act one"},
		"the newest before it counts":         {early: "before zero,act one,act one", lately: "before one"},
	} {
		w := newWitness(t)
		if err := os.MkdirAll(place(w.dir, c.cwd), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(w.dir, "d"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.session("n", place(w.dir, c.cwd))
		if c.cwd == "gone" {
			if err := os.Remove(place(w.dir, c.cwd)); err != nil {
				t.Fatal(err)
			}
		}
		w.all("n", place(w.dir, c.dir), c.early)
		w.all("s", w.dir, "before zero")
		w.all("n", place(w.dir, c.dir), c.lately)
		w.all("s", w.dir, c.own)
		if got := w.who("s", w.zero); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// place is a directory, or one within it or beside it whose name goes on where its name ends.
func place(dir, name string) string {
	if name == "" || name == ".x" {
		return dir + name
	}
	return filepath.Join(dir, name)
}

// all adds captures of a session: why, and which tree it was.
func (w *witness) all(id, dir, captures string) {
	w.t.Helper()
	trees := map[string]store.Digest{"zero": w.zero, "one": w.one, "two": w.two, "gone": store.Sum([]byte("gone")), "failed": {}}
	for one := range strings.SplitSeq(captures, ",") {
		if why, which, ok := strings.Cut(one, " "); ok {
			w.seenIn(id, dir, session.CaptureWhy(why), trees[which])
		}
	}
}

// What another session's restore has made of the files here is its doing, too.
func TestWhatOtherSessionsHaveRestored(t *testing.T) {
	w := newWitness(t)
	w.session("n", w.dir)
	w.all("n", w.dir, "before zero")
	w.all("s", w.dir, "before zero")
	w.restored("n", session.RestoreDone, w.one)
	if got := w.who("s", w.zero); got != restore.Alien {
		t.Errorf("%d, want %d", got, restore.Alien)
	}
}

// A capture of another session in the very moment of the target is one since then, and a target that was never captured
// is older than all; of a directory that is gone nobody can say who has changed it.
func TestWhoHasChangedWhatAtTheEdges(t *testing.T) {
	w := newWitness(t)
	w.session("n", w.dir)
	w.all("n", w.dir, "before zero")
	w.all("s", w.dir, "before zero")
	w.now = w.now.Add(-time.Second)
	w.all("n", w.dir, "act one")
	if got := w.who("s", w.zero); got != restore.Alien {
		t.Errorf("in the same moment: %d, want %d", got, restore.Alien)
	}
	w = newWitness(t)
	w.all("s", w.dir, "before zero,before one")
	if got := w.who("s", store.Sum([]byte("never"))); got != restore.Alien {
		t.Errorf("since before the first capture: %d, want %d", got, restore.Alien)
	}
	for _, r := range []engine.RestoreRequest{{Session: "s", Dir: filepath.Join(w.dir, "gone")}, {Session: "missing", Dir: w.dir}} {
		if find, err := w.h.others(t.Context(), r)(); err == nil || find != nil {
			t.Errorf("%+v: no error", r)
		}
	}
}
