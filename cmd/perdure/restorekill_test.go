package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tree is what lies in a directory: names with what they hold, without what a restore uses for itself.
func (d *desk) tree(dir string) string {
	d.t.Helper()
	var out []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel := strings.TrimPrefix(path, dir+"/")
		switch {
		case info.IsDir():
			out = append(out, rel+"/")
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf("%s %o %s", rel, info.Mode().Perm(), b))
		default:
			out = append(out, rel+" "+info.Mode().String())
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// cutShort runs perdure and kills it at a moment within a time. It reports whether that came before its end, which is
// then a good one.
func (d *desk) cutShort(r *rand.Rand, within time.Duration, args ...string) (killed bool) {
	d.t.Helper()
	cmd := exec.Command(d.exe, args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		if err != nil {
			d.t.Fatalf("%v: %v", args, err)
		}
		return false
	case <-time.After(time.Duration(r.Int64N(int64(within)))):
		_ = cmd.Process.Kill()
		<-exited
		return true
	}
}

// A restore is killed at any moment: whoever opens the session next finishes it, and the files are then wholly what they
// were before it or wholly what was wanted, with nothing left over.
func TestRestoreKilledAtAnyTime(t *testing.T) {
	rounds := 12
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 1000
	}
	d := newDesk(t)
	project := filepath.Join(d.dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	command := "for i in $(seq 60); do mkdir -p d$i; echo one $i > d$i/f; ln -s f d$i/l; done; rm -rf gone"
	again := "for i in $(seq 60); do echo two $i > d$i/f; rm d$i/l; echo new > d$i/n; done; rm -rf d7 d8; mkdir empty"
	model := d.model(fmt.Sprintf(`{"turns":[
	 {"match":"one","steps":[{"tools":[{"name":"Bash","input":{"command":%q}}]},{"text":"done"}]},
	 {"match":"two","steps":[{"tools":[{"name":"Bash","input":{"command":%q}}]},{"text":"done"}]}]}`, command, again))
	d.dir = project
	for _, word := range []string{"one", "two"} {
		args := []string{"-p", "--dangerously-skip-permissions", "--model", model, "--session-id", "s", word}
		if word == "two" {
			args = []string{"-p", "--dangerously-skip-permissions", "-r", "s", word}
		}
		d.ok(args...)
		d.ok("checkpoint", "s", word)
	}
	states := map[string]string{"two": d.tree(project)}
	d.ok("restore", "s", "one", "--files", "--yes")
	states["one"] = d.tree(project)
	if states["one"] == states["two"] {
		t.Fatal("both checkpoints are the same")
	}
	r := rand.New(rand.NewPCG(1, uint64(rounds)))
	now, done, killed, finished := "one", 0, 0, 0
	for round := range rounds {
		to := map[string]string{"one": "two", "two": "one"}[now]
		if d.cutShort(r, 600*time.Millisecond, "restore", "s", to, "--files", "--yes") {
			killed++
		} else {
			done++
		}
		d.ok("-p", "-r", "s")
		switch got := d.tree(project); got {
		case states[to]:
			now = to
			finished++
		case states[now]:
		default:
			t.Fatalf("round %d, from %s to %s, the files are neither:\n%s", round, now, to, got)
		}
	}
	t.Logf("%d restores ended, %d were killed, of which %d were finished by the next command", done, killed, finished-done)
	if killed == 0 {
		t.Error("none was killed in time: the test shows nothing")
	}
	d.ok("verify", "s")
}
