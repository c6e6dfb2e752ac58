package workflow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
)

var testTime = time.Date(2026, 4, 8, 12, 0, 0, 0, time.UTC)

// place is a project with a home, and its state file.
type place struct {
	*testing.T
	cfg knowledge.Config
}

func newPlace(t *testing.T, inProject bool) *place {
	dir := t.TempDir()
	p := &place{T: t, cfg: knowledge.Config{
		Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "project"), InProject: inProject, Now: func() time.Time { return testTime },
	}}
	for _, d := range []string{p.cfg.Home, filepath.Join(p.cfg.Dir, ".git"), filepath.Join(p.cfg.Dir, "sub")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) dir() string {
	p.Helper()
	k, err := knowledge.Open(p.cfg)
	if err != nil {
		p.Fatal(err)
	}
	return k.Project.Dir()
}

func (p *place) text(name string) string {
	b, _ := os.ReadFile(filepath.Join(p.dir(), name))
	return string(b)
}

func (p *place) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir(), name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// edit changes the main file as an editor does.
func (p *place) edit(old, now string) {
	p.Helper()
	text := p.text(MainFile)
	if !strings.Contains(text, old) {
		p.Fatalf("%q is not in\n%s", old, text)
	}
	p.write(MainFile, strings.Replace(text, old, now, 1))
}

// save saves, and wants the main file written, or this reason why it stays.
func (p *place) save(st *session.State, why string) *KeptError {
	p.Helper()
	written, err := Save(p.cfg, st)
	var kept *KeptError
	switch {
	case why == "" && (err != nil || !written):
		p.Fatalf("session %s: written %v, %v", st.ID, written, err)
	case why != "" && (!errors.As(err, &kept) || written || !strings.Contains(err.Error(), why)):
		p.Fatalf("session %s: written %v, %v; want %q", st.ID, written, err, why)
	}
	return kept
}

func (p *place) main() *Document {
	p.Helper()
	d, err := ParseJSON([]byte(p.text(MainFile)))
	if err != nil {
		p.Fatal(err)
	}
	return d
}

// aSession is a session that was opened n hours after the first one.
func aSession(id string, n int64) *session.State {
	st := session.New(id)
	st.Created = testTime.UnixMilli() + n*3600_000
	st.Updated, st.Head.Seq = st.Created+1000, 10
	st.Plan = []session.Step{{Content: "look", Status: session.StepDone}, {Content: "act", Status: session.StepExecuting}, {Content: "rest", Status: session.StepPlanned}}
	st.Facts = []session.Fact{{Kind: "failed_approach", Text: "by hand", Reason: "too slow", Provenance: "model"}}
	return st
}

// Goal: the file is where the memory lies, says what the session says, and is written only when that changed.
func TestSave(t *testing.T) {
	for _, inProject := range []bool{false, true} {
		p := newPlace(t, inProject)
		st := session.New("s1")
		if written, err := Save(p.cfg, st); written || err != nil {
			t.Fatalf("a session without a plan: %v, %v", written, err)
		}
		if _, err := os.Stat(p.dir()); err == nil {
			t.Error("nothing to write made a directory")
		}
		st = aSession("s1", 0)
		p.save(st, "")
		if in := strings.HasPrefix(p.dir(), p.cfg.Dir); in != inProject {
			t.Errorf("it lies in %s", p.dir())
		}
		want := os.FileMode(0o600)
		if inProject {
			want = 0o644
		}
		if info, err := os.Stat(filepath.Join(p.dir(), MainFile)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		st.Head.Seq, st.Updated = 11, st.Updated+5000
		if written, err := Save(p.cfg, st); written || err != nil {
			t.Errorf("the same again: %v, %v", written, err)
		}
		st.Plan[1].Status, st.Plan[1].Reason = session.StepFailed, "no way"
		p.save(st, "")
		d := p.main()
		if d.Session != "s1" || d.Seq != 11 || !slices.Equal(d.Steps(), st.Plan) || d.Failed[0].Text != "by hand - too slow" || d.Status != wordBlocked {
			t.Errorf("%+v", d)
		}
		st.Head.Seq = 5
		st.Plan = nil
		if written, err := Save(p.cfg, st); written || err != nil || len(p.main().Plan) != 3 {
			t.Errorf("an older state: %v, %v", written, err)
		}
		st.Head.Seq, st.Facts = 12, nil
		p.save(st, "")
		if d := p.main(); !d.Empty() {
			t.Errorf("the plan was taken out, the file says %+v", d)
		}
	}
}

// Goal: what a person changed in the file stays until it is judged: saved over by nobody, shown as a difference from what
// the session has done meanwhile, and taken or refused without the loss of either side.
func TestAPersonsEditIsAProposal(t *testing.T) {
	p, st := newPlace(t, true), aSession("s1", 0)
	p.save(st, "")
	if q, err := Propose(p.cfg, st); q != nil || err != nil {
		t.Fatalf("nothing was changed: %+v, %v", q, err)
	}
	p.edit(`"step": "rest",`, `"step": "rest well", "owner": "ann",`)
	p.edit(`"failed_approaches": [`, `"failed_approaches": [ "by foot - too far",`)
	edited := p.text(MainFile)
	st.Plan = append(st.Plan, session.Step{Content: "added by the agent", Status: session.StepPlanned})
	st.Plan[1].Status, st.Head.Seq = session.StepDone, 11
	if kept := p.save(st, "changed by hand"); filepath.Base(kept.Beside) != SideFile("s1") || p.text(MainFile) != edited {
		t.Fatalf("%+v\n%s", kept, p.text(MainFile))
	}
	q, err := Propose(p.cfg, st)
	if err != nil || q == nil {
		t.Fatal(q, err)
	}
	want := []session.Step{st.Plan[0], st.Plan[1], {Content: "rest well", Status: session.StepPlanned}, st.Plan[3]}
	if !slices.Equal(q.Steps, want) || len(q.Changes) != 1 || q.Changes[0].Kind != session.StepChanged {
		t.Errorf("steps %+v, changes %+v", q.Steps, q.Changes)
	}
	if len(q.Facts) != 1 || q.Facts[0].Text != "by foot - too far" || q.Facts[0].Kind != "failed_approach" || q.Facts[0].Provenance != "user" {
		t.Errorf("facts %+v", q.Facts)
	}
	refusing := *q
	st.Plan, st.Facts, st.Head.Seq = q.Steps, append(st.Facts, q.Facts...), 12 // it was accepted
	if q, err := Propose(p.cfg, st); err != nil || q == nil || !q.Nothing() {
		t.Errorf("accepted and not settled yet: %+v, %v", q, err)
	}
	if err := q.Settle(p.cfg, false); err != nil {
		t.Fatal(err)
	}
	p.save(st, "")
	if d := p.main(); !slices.Equal(d.Steps(), st.Plan) || !strings.Contains(p.text(MainFile), `"owner": "ann"`) || p.text(SideFile("s1")) != "" {
		t.Errorf("after it was accepted:\n%s\nbeside: %s", p.text(MainFile), p.text(SideFile("s1")))
	}
	if err := refusing.Settle(p.cfg, true); !errors.Is(err, knowledge.ErrChanged) {
		t.Errorf("an old proposal is settled: %v", err)
	}
	p.edit(`"rest well"`, `"work"`)
	edited = p.text(MainFile)
	q, err = Propose(p.cfg, st)
	if err != nil || q == nil || q.Nothing() {
		t.Fatal(q, err)
	}
	if err := q.Settle(p.cfg, true); err != nil || p.text("refused-state.json") != edited {
		t.Errorf("%v, kept %s", err, p.text("refused-state.json"))
	}
	if q, err := Propose(p.cfg, st); q != nil || err != nil || !slices.Equal(p.main().Steps(), st.Plan) {
		t.Errorf("after it was refused: %+v, %v\n%s", q, err, p.text(MainFile))
	}
}

// Goal: a file that a person wrote from the start is a proposal too, and one that cannot be read is named and kept.
func TestAFileThatPerdureDidNotWrite(t *testing.T) {
	p, st := newPlace(t, true), aSession("s1", 0)
	if err := os.MkdirAll(p.dir(), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(MainFile, `{"plan": [{"step": "look", "status": "pending"}, {"step": "mine", "status": "odd"}], "findings": ["f"], "x": 1}`)
	p.save(st, "changed by hand")
	q, err := Propose(p.cfg, st)
	if err != nil || q == nil {
		t.Fatal(q, err)
	}
	if len(q.Steps) != 4 || q.Steps[0].Status != session.StepPlanned || len(q.Facts) != 1 || len(q.Unknown) != 1 {
		t.Errorf("%+v", q)
	}
	for _, c := range q.Changes {
		if c.Kind == session.StepRemoved {
			t.Errorf("%s: a file that says nothing of a step does not take it out", c)
		}
	}
	p.write(MainFile, "{ torn")
	if kept := p.save(st, "changed by hand"); kept.Beside == "" || p.text(MainFile) != "{ torn" {
		t.Errorf("%+v, %q", kept, p.text(MainFile))
	}
	if q, err := Propose(p.cfg, st); err == nil || !strings.Contains(err.Error(), MainFile) {
		t.Errorf("%+v, %v", q, err)
	}
	p.write(SideFile("s1"), "{}")
	if kept := p.save(st, "changed by hand too"); kept.Beside != "" || p.text(SideFile("s1")) != "{}" {
		t.Errorf("%+v", kept)
	}
}

// Goal: of two sessions of one directory the one that was opened later has the main file, the other one lies beside it and
// names it; nothing of either is overwritten while it is not done.
func TestTwoSessionsOfOneDirectory(t *testing.T) {
	p, old, young := newPlace(t, false), aSession("old", 0), aSession("young", 1)
	young.Plan = []session.Step{{Content: "other work", Status: session.StepExecuting}}
	p.save(old, "")
	p.save(young, "")
	if d := p.main(); d.Session != "young" || !strings.Contains(p.text(SideFile("old")), `"look"`) {
		t.Fatalf("main is of %s; beside:\n%s", d.Session, p.text(SideFile("old")))
	}
	old.Plan[1].Status, old.Head.Seq = session.StepDone, 12
	p.save(old, "which was opened later")
	d, err := ParseJSON([]byte(p.text(SideFile("old"))))
	if err != nil || d.Other != "young" || d.Plan[1].Status != session.StepDone || p.main().Session != "young" {
		t.Errorf("%v, %+v", err, d)
	}
	if quiet := session.New("quiet"); true {
		quiet.Created = testTime.UnixMilli() + 9*3600_000
		if written, err := Save(p.cfg, quiet); written || err != nil || p.main().Session != "young" {
			t.Errorf("a session without a plan took the file: %v, %v", written, err)
		}
	}
	young.Plan[0].Status, young.Head.Seq = session.StepDone, 13
	p.save(young, "")
	old.Head.Seq = 14
	p.save(old, "")
	if d := p.main(); d.Session != "old" || d.Other != "" || p.text(SideFile("old")) != "" {
		t.Errorf("after the other one was done, main is of %s, other %q, beside %q", d.Session, d.Other, p.text(SideFile("old")))
	}
}

// Goal: a crash at any step of saving is no edit, loses no text, and the next save puts things right.
func TestSaveBrokenOffAtEveryStep(t *testing.T) {
	steps := 0
	for fail := 0; ; fail++ {
		if fail > 60 {
			t.Fatal("too many steps")
		}
		p, old, young := newPlace(t, false), aSession("old", 0), aSession("young", 1)
		p.save(old, "")
		n, broke := 0, false
		cfg := p.cfg
		cfg.Fault = func(string) error {
			if n++; n > fail {
				broke = true
				return errors.New("no room")
			}
			return nil
		}
		_, err := Save(cfg, young)
		if !broke {
			break
		}
		steps++
		if q, perr := Propose(p.cfg, young); err != nil && (q != nil || perr != nil) {
			t.Errorf("step %d: taken for an edit: %+v, %v", fail, q, perr)
		}
		if written, err := Save(p.cfg, young); err != nil || p.main().Session != "young" {
			t.Errorf("step %d: saved again: %v, %v", fail, written, err)
		}
		if !strings.Contains(p.text(SideFile("old")), `"look"`) {
			t.Errorf("step %d: the other session's plan is gone", fail)
		}
	}
	if steps < 12 {
		t.Errorf("%d steps", steps)
	}
}

// Goal: what others keep in the file is not dropped to make room.
func TestNoRoomBesideWhatOthersKeep(t *testing.T) {
	p, st := newPlace(t, false), aSession("s1", 0)
	p.save(st, "")
	p.edit(`"findings"`, `"notes": "`+strings.Repeat("n", MaxDocument-1200)+`", "findings"`)
	text := p.text(MainFile)
	q, err := Propose(p.cfg, st)
	if err == nil && q != nil {
		err = q.Settle(p.cfg, false)
	}
	if err != nil {
		t.Fatal(err, len(text))
	}
	for range 20 {
		st.Plan = append(st.Plan, session.Step{Content: strings.Repeat("c", 200), Status: session.StepPlanned})
	}
	st.Head.Seq = 11
	p.save(st, "leaves no room")
	if p.text(MainFile) != text {
		t.Error("the file is another one")
	}
	if k, err := knowledge.Open(p.cfg); err != nil {
		t.Error(err)
	} else if d, err := k.Project.Desk(context.Background()); err != nil {
		t.Error(err)
	} else {
		d.Close()
	}
}
