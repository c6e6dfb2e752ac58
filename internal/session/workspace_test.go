package session_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// filesWorld is a world that plays lines of a script.
type filesWorld struct {
	*world
	t *testing.T
}

func (w filesWorld) play(lines ...string) {
	w.t.Helper()
	s := &script{w: w.world}
	for _, line := range lines {
		if _, err := s.command(tokens(line)); err != nil {
			w.t.Fatalf("%s: %s", line, err)
		}
	}
	w.sound()
}

// sound demands that the log folds to the live state, without a fault.
func (w filesWorld) sound() {
	w.t.Helper()
	if err := w.check(); err != nil {
		w.t.Fatal(err)
	}
}

// next demands these actions, by their ids.
func (w filesWorld) next(want string) {
	w.t.Helper()
	var ids []string
	for _, a := range session.Next(w.st) {
		ids = append(ids, a.ID)
	}
	if got := strings.Join(ids, " "); got != want {
		w.t.Errorf("next is %q, want %q", got, want)
	}
}

func (w filesWorld) points() string {
	var out []string
	for _, p := range w.st.Workspace.Points {
		out = append(out, fmt.Sprintf("%d:%.4s", p.Turn, p.Tree))
	}
	return strings.Join(out, " ")
}

func newFilesWorld(t *testing.T) filesWorld {
	return filesWorld{called("Bash", "Bash"), t}
}

func short(name string) string { return tree(name).String()[:4] }

// The first act of a turn that may change files makes a point of what they were; the second one makes none.
func TestATurnsFirstChangeMakesAPoint(t *testing.T) {
	w := newFilesWorld(t)
	w.append(engine, captured(session.CaptureBefore, "one"))
	w.play(`do t1.s1.b2.a1 ok "x"`)
	w.append(engine, captured(session.CaptureAct, "two"))
	w.play("run", `do t1.s1.b3.a1 ok "x"`)
	if got := w.points(); got != "1:"+short("one") {
		t.Errorf("points %s", got)
	}
	if ws := w.st.Workspace; ws.Tree != tree("two") || ws.Turn != 1 || ws.Dir != "/w" {
		t.Errorf("workspace %+v", ws)
	}
	w.sound()
}

// What the files were before a turn is not claimed to be known when they could not be captured.
func TestNoPointWithoutACapture(t *testing.T) {
	w := newFilesWorld(t)
	w.append(engine, captured(session.CaptureTurn, "old"), &session.FilesCaptured{Dir: "/w", Why: session.CaptureBefore, Refused: "the disk is full"})
	w.play(`do t1.s1.b2.a1 ok "x"`)
	if ws := w.st.Workspace; len(ws.Points) != 0 || ws.Refused != "the disk is full" || ws.Tree != tree("old") {
		t.Errorf("workspace %+v", ws)
	}
	w.append(engine, captured(session.CaptureAct, "new"))
	w.play("run", `do t1.s1.b3.a1 ok "x"`)
	if ws := w.st.Workspace; w.points() != "1:"+short("new") || ws.Refused != "" {
		t.Errorf("after the next capture: %+v", ws)
	}
}

// That files may have changed since they were captured stands in the log's state until they are, or the session is given
// back by somebody who has looked.
func TestUnsure(t *testing.T) {
	w := newFilesWorld(t)
	unsure := func(want bool) {
		t.Helper()
		if got := w.st.Workspace.Unsure != 0; got != want {
			t.Errorf("unsure: %t, want %t", got, want)
		}
	}
	w.append(engine, captured(session.CaptureBefore, "one"))
	w.play("start t1.s1.b2.a1")
	unsure(false) // it runs
	w.play(`finish t1.s1.b2.a1 ok "x"`)
	unsure(true)
	w.append(engine, &session.FilesCaptured{Why: session.CaptureAct, Refused: "no"})
	unsure(true)
	w.append(engine, captured(session.CaptureAct, "two"))
	unsure(false)
	w.play("task bash_1")
	unsure(false)
	w.play("exited bash_1")
	unsure(true)
	w.append(engine, &session.Released{})
	unsure(false)
}

// restoreTo asks for a restore and gives the seq of the request.
func (w filesWorld) restoreTo(name string, undo *int64) int64 {
	w.t.Helper()
	b := &session.RestoreRequested{Target: tree(name), To: name, Undo: undo}
	if undo != nil {
		b.Target = store.Digest{}
	}
	if err := w.st.TakesRestore(b); err != nil {
		w.t.Fatal(err)
	}
	w.append(human, b)
	return w.st.Head.Seq
}

func (w filesWorld) started(request int64, before string) {
	w.append(engine, &session.RestoreStarted{Request: request, Before: tree(before), Base: w.st.Workspace.Tree, Target: w.st.Workspace.Restore.Target, Dir: "/w"})
}

func (w filesWorld) restored(request int64, outcome session.RestoreOutcome, now string) {
	b := &session.FilesRestored{Request: request, Outcome: outcome, Text: []byte("[files were restored]")}
	if now != "" {
		b.Tree = tree(now)
	}
	w.append(engine, b)
}

// While files are being restored nothing else begins, whoever holds the session; it is one act, known by its request.
func TestOnlyTheRestoreGoesOn(t *testing.T) {
	w := filesWorld{called(), t}
	w.append(engine, captured(session.CaptureTurn, "one"))
	n := w.restoreTo("old", nil)
	w.play(`message "next"`)
	id := session.RestoreID(n)
	w.next(id) // the message waits
	if _, plans := session.Next(w.st)[0].Do.(session.RestoreFiles); !plans {
		t.Errorf("next is %+v", session.Next(w.st))
	}
	w.started(n, "one")
	for range 2 {
		if _, finishes := session.Next(w.st)[0].Do.(session.FinishRestore); !finishes {
			t.Errorf("next is %+v", session.Next(w.st))
		}
		if session.ActivityOf(w.st) != session.Running || w.st.SettledNow() {
			t.Error("a restore is no rest, and no place to fork from")
		}
		w.next(id)
		w.resume() // as after a crash
	}
	w.restored(n, session.RestoreDone, "old")
	w.next("turn")
	if ws := w.st.Workspace; ws.Restore != nil || ws.Tree != tree("old") || w.points() != "0:"+short("one") {
		t.Errorf("workspace %+v", ws)
	}
	w.play("run")
	if said := asJSON(w.tr.Upcoming()); !strings.Contains(said, "files were restored") {
		t.Error("the model is not told")
	}
}

// An undo takes back its point and all that came after; what it replaced is a point of its own only for a restore that
// was no undo.
func TestUndoGoesBackStepByStep(t *testing.T) {
	w := newFilesWorld(t)
	w.append(engine, captured(session.CaptureBefore, "one"))
	w.play(`do t1.s1.b2.a1 ok "x"`, "run", `do t1.s1.b3.a1 ok "x"`)
	w.append(engine, captured(session.CaptureTurn, "two"))
	w.play("run", `do t1.s2.b0.a1 text "done"`, "run")
	n := w.restoreTo("elsewhere", nil)
	w.started(n, "two")
	w.restored(n, session.RestoreDone, "elsewhere")
	if got := w.points(); got != "1:"+short("one")+" 0:"+short("two") {
		t.Fatalf("points %s", got)
	}
	for _, want := range []string{"two", "one"} {
		newest := w.st.Workspace.Points[len(w.st.Workspace.Points)-1]
		n := w.restoreTo("", &newest.Seq)
		if w.st.Workspace.Restore.Target != tree(want) {
			t.Fatalf("it goes back to %s", w.st.Workspace.Restore.Target)
		}
		w.started(n, "now")
		w.restored(n, session.RestoreDone, want)
	}
	if got := w.points(); got != "" {
		t.Errorf("points %s", got)
	}
	w.sound()
}

// A restore that could not be finished and was taken back leaves everything as it was; one that failed half-way can be
// undone, and what the files are is not claimed to be known.
func TestARestoreThatFails(t *testing.T) {
	for outcome, want := range map[session.RestoreOutcome]string{session.RestoreUndone: "", session.RestoreFailed: "0:" + short("two")} {
		w := filesWorld{called(), t}
		w.append(engine, captured(session.CaptureTurn, "one"))
		n := w.restoreTo("old", nil)
		w.started(n, "two")
		w.restored(n, outcome, "")
		if ws := w.st.Workspace; ws.Tree != tree("two") || ws.Restore != nil || w.points() != want || (ws.Refused == "") != (want == "") {
			t.Errorf("%s: %+v", outcome, ws)
		}
		if ws := w.st.Workspace; ws.Seq != w.st.Head.Seq || ws.Time != w.st.Updated || ws.Dir == "" {
			t.Errorf("%s: known since event %d of %d: %+v", outcome, ws.Seq, w.st.Head.Seq, ws)
		}
		w.sound()
	}
	w := filesWorld{called(), t}
	w.append(engine, captured(session.CaptureTurn, "one"))
	n := w.restoreTo("old", nil)
	w.restored(n, session.RestoreFailed, "")
	if ws := w.st.Workspace; ws.Tree != tree("one") || ws.Restore != nil || w.points() != "" || ws.Refused != "" {
		t.Errorf("not begun: %+v", ws)
	}
}

// A restore is refused while a turn runs, and waits for nothing while one waits for a human.
func TestARestoreOfARunningTurnIsRefused(t *testing.T) {
	w := filesWorld{called("Fetch"), t}
	ask := &session.RestoreRequested{Target: tree("old"), To: "old"}
	if err := w.st.TakesRestore(ask); err != nil {
		t.Errorf("a turn that waits: %v", err)
	}
	w.play("approve t1.s1.b2.a1 allow")
	if err := w.st.TakesRestore(ask); err == nil || !strings.Contains(err.Error(), "turn 1 is running") {
		t.Errorf("a turn that runs: %v", err)
	}
	undo := int64(99)
	if err := w.st.TakesRestore(&session.RestoreRequested{Undo: &undo}); err == nil {
		t.Error("a point that is not there")
	}
}

// A restore that was asked for comes before whatever else the same moment allows.
func TestARestoreGoesBeforeTheTurn(t *testing.T) {
	w := filesWorld{called("Fetch"), t}
	n := w.restoreTo("old", nil)
	w.play("approve t1.s1.b2.a1 allow")
	w.next(session.RestoreID(n))
}

// A checkpoint waits for the end of an act that may change files, and for nothing else.
func TestACheckpointWaitsForTheAct(t *testing.T) {
	w := newFilesWorld(t)
	w.play("start t1.s1.b2.a1")
	w.append(human, &session.CheckpointRequested{Name: "good"})
	n := w.st.Head.Seq
	w.next("t1.s1.b2.a1 t1.s1.b3.a1")
	w.play(`finish t1.s1.b2.a1 ok "x"`)
	w.next(fmt.Sprintf("checkpoint.%d t1.s1.b3.a1", n))
	b := captured(session.CaptureNamed, "good")
	b.Name, b.Request = "good", n
	w.append(engine, b)
	c, ok := w.st.Workspace.Checkpoint("good")
	if !ok || c.Tree != tree("good") || c.Seq != w.st.Head.Seq || len(w.st.Workspace.Asked) != 0 {
		t.Errorf("workspace %+v", w.st.Workspace)
	}
	if err := w.st.Workspace.TakesCheckpoint("good"); err == nil {
		t.Error("the name is taken")
	}
	w.append(human, &session.CheckpointRequested{Name: "bad"})
	w.append(engine, &session.FilesCaptured{Why: session.CaptureNamed, Name: "bad", Request: w.st.Head.Seq, Refused: "the disk is full"})
	if _, made := w.st.Workspace.Checkpoint("bad"); made || len(w.st.Workspace.Asked) != 0 {
		t.Error("a checkpoint that was refused is there, or still asked for")
	}
	w.sound()
}

// A name is short and plain, so that no shell and no log reads anything into it.
func TestNamesOfCheckpoints(t *testing.T) {
	for _, name := range []string{"a", "v1.2", "before_refactor-3", "_", strings.Repeat("x", 64)} {
		if err := session.CheckpointName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "12", "-a", ".a", "a b", "a/b", "é", "a\n", "a\x00", strings.Repeat("x", 65), "\xff"} {
		if session.CheckpointName(name) == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// The bounds: named checkpoints never leave, one more is refused; points and artifacts leave by age, and are counted.
func TestBoundsOfFiles(t *testing.T) {
	w := filesWorld{called(), t}
	for i := range 256 {
		b := captured(session.CaptureNamed, "x")
		b.Name = fmt.Sprintf("n%d", i)
		w.append(engine, b)
	}
	if err := w.st.Workspace.TakesCheckpoint("more"); err == nil {
		t.Error("one more is taken")
	}
	over := captured(session.CaptureNamed, "x")
	over.Name = "more"
	w.append(engine, over)
	if len(w.st.Workspace.Checkpoints) != 256 || w.st.Workspace.Checkpoints[0].Name != "n0" || len(w.st.Faults) != 1 {
		t.Errorf("%d checkpoints, faults %q", len(w.st.Workspace.Checkpoints), w.st.Faults)
	}
	w.st.Faults = nil
	for i := range 1030 {
		w.append(engine, &session.ArtifactAdded{Artifact: session.Artifact{Name: fmt.Sprint("a", i), Digest: tree("a")}})
	}
	w.append(engine, &session.ArtifactAdded{Artifact: session.Artifact{Name: "a1029", Digest: tree("b")}})
	as := w.st.Workspace.Artifacts
	if len(as) != 1024 || as[1023].Digest != tree("b") || as[0].Name != "a6" || w.st.Dropped.Artifacts != 6 {
		t.Errorf("%d artifacts, the first %s, %d dropped", len(as), as[0].Name, w.st.Dropped.Artifacts)
	}
	for range 70 {
		n := w.restoreTo("old", nil)
		w.started(n, "now")
		w.restored(n, session.RestoreDone, "old")
	}
	if n := len(w.st.Workspace.Points); n != 64 || w.st.Dropped.Points != 6 {
		t.Errorf("%d points, %d dropped", n, w.st.Dropped.Points)
	}
}

// A fork begins with its parent's files and what they were, at positions before its own; what the parent was asked for
// is left to the parent.
func TestAForkKnowsItsParentsFiles(t *testing.T) {
	w := newFilesWorld(t)
	named := captured(session.CaptureNamed, "one")
	named.Name = "good"
	w.append(engine, named)
	w.append(human, &session.CheckpointRequested{Name: "later"})
	w.play(`do t1.s1.b2.a1 ok "x"`)
	w.append(engine, &session.ArtifactAdded{Artifact: session.Artifact{Name: "a", Digest: tree("a")}})
	head := w.st.Head.Seq
	child := filesWorld{w.fork("child", head), t}
	ws := child.st.Workspace
	if ws.Tree != tree("one") || len(ws.Asked) != 0 || ws.Restore != nil || len(ws.Points) != 1 || len(ws.Checkpoints) != 1 || len(ws.Artifacts) != 1 {
		t.Fatalf("workspace %+v", ws)
	}
	if ws.Points[0].Seq > 0 || ws.Checkpoints[0].Seq >= ws.Points[0].Seq || ws.Artifacts[0].Seq != 0 || ws.Seq > 0 {
		t.Errorf("positions %+v", ws)
	}
	if w.st.Workspace.Points[0].Seq <= 0 {
		t.Error("the parent's positions changed")
	}
	child.sound()
	undo := ws.Points[0].Seq
	if err := child.st.TakesRestore(&session.RestoreRequested{Undo: &undo}); err == nil {
		t.Error("the child's turn is open and runs")
	}
}

// What a log names of trees and blobs is all found, in every kind that has a place for one.
func TestKeepsFindsEveryTree(t *testing.T) {
	for _, k := range kinds {
		if !strings.HasPrefix(string(k), "files.") && k != session.KindArtifactAdded {
			continue
		}
		body := emptyBody(k)
		want := fillTrees(reflect.ValueOf(body).Elem())
		trees, blobs := session.Keeps(body)
		if len(trees)+len(blobs) != want {
			t.Errorf("%s keeps %d trees and %d blobs, it has %d", k, len(trees), len(blobs), want)
		}
	}
	if trees, blobs := session.Keeps(&session.FilesCaptured{}); len(trees)+len(blobs) > 0 {
		t.Error("nothing is kept")
	}
}

// fillTrees puts a digest into each field that is one, and counts them.
func fillTrees(v reflect.Value) (n int) {
	if v.Type() == reflect.TypeFor[store.Digest]() {
		v.Set(reflect.ValueOf(tree("x")))
		return 1
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				n += fillTrees(v.Field(i))
			}
		}
	}
	return n
}
