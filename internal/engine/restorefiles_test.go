package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// changedOnce is a session whose first turn has changed a file: /w/a was "old".
func changedOnce(t *testing.T) (*stage, *keeper, process, *engine.Session) {
	s := newStage(t, reply(modelapi.StopToolUse, use("1", "Read", `{"file_path":"/w/a"}`)),
		reply(modelapi.StopToolUse, use("2", "Write", `{"file_path":"/w/a","content":"new"}`), use("3", "Read", `{"file_path":"/w/b"}`)),
		reply(modelapi.StopEndTurn, text("done")), reply(modelapi.StopEndTurn, text("I see")))
	k := s.kept()
	s.files.m["/w/a"], s.files.m["/w/b"] = []byte("old"), []byte("same")
	p, se := s.start("go")
	run(t, se)
	if string(s.files.m["/w/a"]) != "new" {
		t.Fatalf("the turn changed nothing: %q", s.files.m)
	}
	return s, k, p, se
}

// undo asks for the newest point.
func (p process) undo(key string, st *session.State) {
	points := st.Workspace.Points
	p.send(key, &session.RestoreRequested{Undo: &points[len(points)-1].Seq, To: "before turn 1"})
}

// A turn is undone: its files are what they were, the model is told so once, in its next request, and the session goes on.
func TestUndo(t *testing.T) {
	s, k, p, se := changedOnce(t)
	p.undo("u", se.State())
	st := run(t, se)
	if string(s.files.m["/w/a"]) != "old" || st.Workspace.Tree != k.now() || st.Workspace.Restore != nil || len(st.Workspace.Points) != 0 {
		t.Fatalf("files %q, workspace %+v", s.files.m, st.Workspace)
	}
	p.say("and now?")
	run(t, se)
	told := render(s.last().Messages)
	for _, want := range []string{"restored by the user to before turn 1", "1 modified", "/w/a (changed)"} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q:\n%s", want, told)
		}
	}
	if n := strings.Count(told, "hanged on disk since"); n != 1 || strings.Contains(told, "[changed on disk") {
		t.Errorf("that a file changed is told %d times:\n%s", n, told)
	}
	if k.held != 0 || len(k.plans) != 0 || k.wrote["restore."+itoa(p, session.KindRestoreRequested)] != 1 {
		t.Errorf("held %d, plans %d, wrote %v", k.held, len(k.plans), k.wrote)
	}
}

// The changes of another session are told as what they are, with who brought them, and no restore to an earlier moment is
// spoken of.
func TestTheModelIsToldOfAnApplyAsOfOne(t *testing.T) {
	_, _, p, se := changedOnce(t)
	point := se.State().Workspace.Points[0]
	p.send("a", &session.RestoreRequested{Target: point.Tree, Merge: se.State().Workspace.Tree, To: "the changes of session kid"})
	run(t, se)
	told := string(p.log(session.KindFilesRestored)[0].(*session.FilesRestored).Text)
	if !strings.HasPrefix(told, "[The user applied the changes of session kid to the files in /w: 0 added, 1 modified, 0 deleted: ") || strings.Contains(told, "restored") {
		t.Errorf("the model is told %q", told)
	}
}

// itoa is the seq of the newest event of a kind, in digits.
func itoa(p process, kind store.Kind) (seq string) {
	for e, err := range p.store.Read(context.Background(), "s", 1, 0) {
		if err == nil && e.Kind == kind {
			seq = strings.TrimPrefix(session.RestoreID(e.Seq), "restore.")
		}
	}
	return seq
}

// A restore is itself undone by a restore to what was there before it.
func TestARestoreCanBeUndone(t *testing.T) {
	s, _, p, se := changedOnce(t)
	point := se.State().Workspace.Points[0]
	p.send("r", &session.RestoreRequested{Target: point.Tree, To: "event 3"})
	st := run(t, se)
	if string(s.files.m["/w/a"]) != "old" || len(st.Workspace.Points) != 2 {
		t.Fatalf("files %q, points %+v", s.files.m, st.Workspace.Points)
	}
	p.undo("u", st)
	if st = run(t, se); string(s.files.m["/w/a"]) != "new" || len(st.Workspace.Points) != 1 {
		t.Errorf("files %q, points %+v", s.files.m, st.Workspace.Points)
	}
}

// What others changed since the session looked last is captured before a restore touches anything.
func TestARestoreCapturesFirst(t *testing.T) {
	s, k, p, se := changedOnce(t)
	s.files.m["/w/mine"] = []byte("typed by hand")
	before := k.now()
	p.undo("u", se.State())
	run(t, se)
	if k.trees[before] == nil {
		t.Fatal("there is no tree of what was there")
	}
	b := p.log(session.KindRestoreStarted)[0].(*session.RestoreStarted)
	if b.Before != before || b.Base == before || b.Base.IsZero() {
		t.Errorf("started %+v", b)
	}
	all := p.log(session.KindFilesCaptured)
	if last := all[len(all)-1].(*session.FilesCaptured); last.Why != session.CaptureRestore || last.Tree != before {
		t.Errorf("captured %+v", last)
	}
}

// Whoever opens a session that died while its files were restored finishes that before anything else, whether files had
// been touched or not, and nothing is written twice.
func TestARestoreOfADeadProcess(t *testing.T) {
	for _, step := range []string{"prepare", "finish", "finished"} {
		synctest.Test(t, func(t *testing.T) {
			s, k, p, se := changedOnce(t)
			died, free := make(chan struct{}), make(chan struct{})
			k.before = func(name string) error {
				if name == step {
					k.before = nil
					close(died)
					<-free
					return context.Canceled
				}
				return nil
			}
			p.undo("u", se.State())
			p.say("and now?")
			stop, over := background(t, se)
			<-died
			p.store.Kill()
			stop()
			close(free)
			<-over
			p = s.process()
			st := run(t, p.open(engine.Options{}))
			if string(s.files.m["/w/a"]) != "old" || st.Workspace.Restore != nil || st.Workspace.Tree != k.now() {
				t.Errorf("%s: files %q, workspace %+v", step, s.files.m, st.Workspace)
			}
			for id, n := range k.wrote {
				if n != 1 {
					t.Errorf("%s: %s was written %d times", step, id, n)
				}
			}
			if st.Turns != 2 || !strings.Contains(render(s.last().Messages), "restored by the user") {
				t.Errorf("%s: the turn that waited did not run, or was not told", step)
			}
		})
	}
}

// What cannot be finished is taken back, and says so; what cannot be taken back either is said to be half done. A restore
// that is not possible touches nothing.
func TestARestoreThatFails(t *testing.T) {
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		fails   []string
		outcome session.RestoreOutcome
		now     string
		told    bool
	}{
		"at once": {[]string{"prepare"}, session.RestoreFailed, "new", false},
		"undone":  {[]string{"finished"}, session.RestoreUndone, "new", false},
		"half":    {[]string{"finished", "abandon"}, session.RestoreFailed, "old", true},
	} {
		s, k, p, se := changedOnce(t)
		k.before = func(step string) error {
			if slices.Contains(c.fails, step) {
				return full
			}
			return nil
		}
		p.undo("u", se.State())
		st := run(t, se)
		b := p.log(session.KindFilesRestored)[0].(*session.FilesRestored)
		if b.Outcome != c.outcome || !strings.Contains(b.Error, "the disk is full") || (len(b.Text) > 0) != c.told {
			t.Errorf("%s: %+v", name, b)
		}
		if string(s.files.m["/w/a"]) != c.now || st.Workspace.Restore != nil || len(st.Workspace.Points) == 0 {
			t.Errorf("%s: files %q, workspace %+v", name, s.files.m, st.Workspace)
		}
		if (st.Workspace.Refused != "") != c.told {
			t.Errorf("%s: what the files are is said to be known: %+v", name, st.Workspace)
		}
	}
}

// While a turn runs nothing is restored: the person is told why, and the turn goes on.
func TestNoRestoreWhileATurnRuns(t *testing.T) {
	s, _, p, se := changedOnce(t)
	points := se.State().Workspace.Points
	s.answer = func(_ context.Context, _ int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		p.send("u", &session.RestoreRequested{Undo: &points[0].Seq, To: "before turn 1"})
		return reply(modelapi.StopEndTurn, text("ok")), nil
	}
	p.say("more")
	st := run(t, se)
	refused := p.log(session.KindInboxRefused)
	if len(refused) != 1 || !strings.Contains(refused[0].(*session.InboxRefused).Reason, "turn 2 is running") {
		t.Errorf("refused %+v", refused)
	}
	if string(s.files.m["/w/a"]) != "new" || st.Turns != 2 || st.Turn != nil {
		t.Errorf("files %q, %d turns", s.files.m, st.Turns)
	}
}

// A path that leaves the workspace, or is not in its one form, is refused before anything looks at it.
func TestPathsOfARestore(t *testing.T) {
	_, k, p, se := changedOnce(t)
	target := se.State().Workspace.Points[0].Tree
	for i, path := range []string{"../x", "/etc/passwd", "a/../../x", "", ".", "a//b", "a/", "a\x00b", strings.Repeat("x", 5000)} {
		p.send(strings.Repeat("k", i+1), &session.RestoreRequested{Target: target, To: "x", Paths: []string{"ok", path}})
	}
	calls := len(k.calls)
	run(t, se)
	if n := len(p.log(session.KindInboxRefused)); n != 9 || len(k.calls) != calls {
		t.Errorf("%d were refused, calls %q", n, k.calls[calls:])
	}
}

// A person who holds a session still restores its files all the same.
func TestAStillSessionRestores(t *testing.T) {
	s, _, p, se := changedOnce(t)
	se.Still(true)
	p.undo("u", se.State())
	p.say("not yet")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err := se.Serve(ctx, func(st *session.State) {
		if st.Workspace.Restore == nil && len(st.Workspace.Points) == 0 {
			stop()
		}
	})
	if !errors.Is(err, engine.ErrParked) || string(s.files.m["/w/a"]) != "old" || se.State().Turn != nil {
		t.Errorf("serve: %v, files %q", err, s.files.m)
	}
}
