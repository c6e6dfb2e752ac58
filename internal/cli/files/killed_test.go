package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// An undo whose process was killed is finished by the next one, which says so and goes back no further: the person asked
// for it again, not for one more. With --dry-run nothing is finished.
func TestAnUndoThatWasKilledIsFinishedByTheNext(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > f", "second": "echo 2 > f"}))
	p.run(m, "first")
	after := p.files()
	p.run(m, "second")
	last := p.files()

	h := p.Open("")
	st, err := h.State(t.Context(), "s")
	if err != nil || len(st.Workspace.Points) != 2 {
		t.Fatalf("%+v, %v", st.Workspace, err)
	}
	p.Close(h)
	seq := st.Workspace.Points[1].Seq
	p.Append("s", store.Actor{Type: store.ActorUser}, &session.RestoreRequested{Undo: &seq, Target: st.Workspace.Points[1].Tree, To: "before turn 2"})
	p.OK("undo", "s", "--dry-run")
	p.same("a look finishes nothing", last)
	if out := p.OK("undo", "s", "--yes"); !strings.Contains(out, "restored: 0 added, 1 modified") {
		t.Errorf("it says %q", out)
	}
	p.same("the killed undo is finished, and no more is undone", after)
}

// A restore that waits for somebody to finish it is finished before another one is planned: no plan is made of files that
// are half of one moment and half of another.
func TestARestoreThatWasKilledIsFinishedBeforeTheNext(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	start := p.files()
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > f", "second": "echo 2 > f"}))
	p.run(m, "first")
	p.run(m, "second")
	h := p.Open("")
	st, err := h.State(t.Context(), "s")
	if err != nil || len(st.Workspace.Points) != 2 {
		t.Fatalf("%+v, %v", st.Workspace, err)
	}
	p.Close(h)
	killed := &session.RestoreRequested{Target: st.Workspace.Points[1].Tree, To: "turn 2"}
	p.Append("s", store.Actor{Type: store.ActorUser}, killed)
	p.OK("restore", "s", "turn 1", "--files", "--yes")
	p.same("the wanted moment", start)
	p.Append("s", store.Actor{Type: store.ActorUser}, killed)
	p.OK("undo", "s", "--yes")
	p.same("the restore that was killed is finished, and undone", start)
}

// killedWithin runs a prompt of session s in a process of its own and kills it once a file is there.
func (p *project) killedWithin(model, prompt, file string) {
	p.T.Helper()
	args := []string{"-p", "--dangerously-skip-permissions", "--model", model, "--session-id", "s", prompt}
	cmd := exec.CommandContext(p.T.Context(), os.Args[0])
	cmd.Dir, cmd.Env = p.dir, append([]string{"CLI_TEST_ARGS=" + strings.Join(args, "\n")}, p.App.Environ...)
	if err := cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	clitest.Until(p.T, file+" is written", func() bool {
		_, err := os.Stat(filepath.Join(p.dir, file))
		return err == nil
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// An undo of a session that was killed while the model was answering is done at once: nobody runs it. The turn stays open;
// when it goes on, the model is told first.
func TestUndoOfAnOpenTurnThatNobodyRuns(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	start := p.files()
	m := p.Scripted(`{"turns":[{"match":"go","steps":[
		{"tools":[{"name":"Bash","input":{"command":"echo 1 > f; echo new > new"}}]},
		{"text":"a long answer that takes its time, so that it is cut short by a kill","delay_ms":1000}]}]}`)
	p.killedWithin(m, "go", "new")
	var o clitest.Outcome
	clitest.Until(t, "the command has ended", func() bool {
		o = p.Run("undo", "s", "--yes")
		return o.Code == 0 || !strings.Contains(o.Stderr, "once it has ended")
	})
	if o.Code != 0 || !strings.Contains(o.Stderr, "turn 1 of session s stays open: when it goes on, the model is told first") {
		t.Errorf("it says %s", o.Stderr)
	}
	p.same("undone", start)
	p.OK("-p", "-r", "s", "--dangerously-skip-permissions", "--model", p.Scripted(`{"turns":[{"match":"go","steps":[{"text":"no"},{"text":"on"}]}]}`))
	p.same("it has gone on", start)
	if said := p.OK("show", "s", "--messages"); !strings.Contains(said, "were restored by the user to before turn 1") {
		t.Errorf("the model was told\n%s", said)
	}
	p.OK("verify", "s")
}

// A command that the kill has left running may write on: nothing is undone under its hands, and once it has ended it is.
func TestUndoWaitsForACommandThatRunsOn(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	start := p.files()
	m := p.Scripted(script(t, map[string]string{"go": "echo 1 > f; echo x > f.new; mv f.new f.began; until [ -e ../end ]; do sleep 0.05; done; echo 2 > late"}))
	p.killedWithin(m, "go", "f.began")
	changed := p.files()
	if o := p.Run("undo", "s", "--yes"); o.Code == 0 || !strings.Contains(o.Stderr, "turn 1 is within Bash") {
		t.Errorf("exit %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	p.same("nothing is touched", changed)
	if err := os.WriteFile(filepath.Join(p.dir, "..", "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Until(t, "it is undone", func() bool { return p.Run("undo", "s", "--yes").Code == 0 })
	p.same("undone", start)
	p.OK("verify", "s")
}
