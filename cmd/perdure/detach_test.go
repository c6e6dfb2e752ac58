package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Goal: while a command is sent to the background, agent and sender are killed at random; the command runs once,
// its real exit code arrives as a task's or as the call's, never as both, and the model is told exactly one of them.
func TestDetachSurvivesKills(t *testing.T) {
	rounds := 3
	if os.Getenv("PERDURE_SOAK") == "1" {
		rounds = 100
	}
	w := newTerminal(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range rounds {
		w.detachRound(t, r, fmt.Sprintf("s%d", i))
	}
}

const detachModel = `{"turns": [{"match": "build", "steps": [
 {"tools": [{"name": "Bash", "input": {"command": "echo ran >> ran; echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 4"}}]},
 {"text": "end"}]}]}`

func (w *terminal) detachRound(t *testing.T, r *rand.Rand, id string) {
	dir := filepath.Join(filepath.Dir(w.home), id)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write("model.json", detachModel)
	start := func(args ...string) *exec.Cmd {
		cmd := exec.Command(w.exe, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PERDURE_HOME="+w.home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	agent := start("-p", "--session-id", id, "--model", "scripted/model.json", "--dangerously-skip-permissions", "build")
	w.until("the command runs", func() bool { _, err := os.Stat(filepath.Join(dir, "ran")); return err == nil })
	sender := start("task", "background", id)
	<-time.After(time.Duration(r.IntN(60)) * time.Millisecond)
	_ = agent.Process.Kill()
	if r.IntN(3) == 0 {
		_ = sender.Process.Kill()
	}
	_ = agent.Wait()
	_ = sender.Wait()
	again := start("-p", "-r", id, "--dangerously-skip-permissions")
	<-time.After(time.Duration(r.IntN(100)) * time.Millisecond)
	write("go", "")
	if err := again.Wait(); err != nil {
		t.Errorf("%s: %v", id, err)
	}
	tasks := func() (mine []map[string]any) {
		for _, l := range w.tasks() {
			if l["session_id"] == id {
				mine = append(mine, l)
			}
		}
		return mine
	}
	w.until("all of it ends", func() bool {
		return len(tasks()) == 0 || tasks()[0]["status"] != "running"
	})
	var shown struct {
		Messages []struct {
			Content []struct {
				Type    string
				Content []struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal([]byte(w.perdure("show", id, "--messages", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range shown.Messages {
		for _, c := range m.Content {
			for _, part := range c.Content {
				told = append(told, part.Text)
			}
		}
	}
	ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
	ls := tasks()
	switch {
	case string(ran) != "ran\n" || len(told) != 1:
		t.Errorf("%s: ran %q, told %q", id, ran, told)
	case len(ls) == 0 && !strings.HasSuffix(told[0], "exit code 4"):
		t.Errorf("%s: in the foreground, told %q", id, told)
	case len(ls) == 1 && (ls[0]["exit_code"] != 4.0 || !strings.Contains(told[0], "moved it to the background as bash_1")):
		t.Errorf("%s: task %v, told %q", id, ls[0], told)
	case len(ls) > 1:
		t.Errorf("%s: tasks %v", id, ls)
	}
	if out := w.perdure("verify", id); out != "ok\n" {
		t.Errorf("%s: verify: %s", id, out)
	}
}

// until waits for what happens outside of the terminal.
func (w *terminal) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
	}
}
