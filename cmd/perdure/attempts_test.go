package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// aside moves the desk's work to a new directory, which no script lies in.
func (d *desk) aside(name string) string {
	d.t.Helper()
	d.dir = filepath.Join(filepath.Dir(d.home), name)
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	return d.dir
}

func (d *desk) git(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", d.dir, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Three attempts at the same thing run at the same time, each in a process of its own, in one repository and in one plain
// directory. All are at work before the first goes on, they write files of the same names, and each finds what it wrote and
// nothing of the others'. The user's own uncommitted work is in each copy, and stays as it is: while they run, after the
// best was applied, and when that was taken back.
func TestAttemptsRunAtTheSameTimeAndTheBestIsApplied(t *testing.T) {
	for _, kind := range []string{"repository", "plain directory"} {
		t.Run(kind, func(t *testing.T) {
			d := newDesk(t)
			met := filepath.Join(filepath.Dir(d.home), "met")
			if err := os.Mkdir(met, 0o700); err != nil {
				t.Fatal(err)
			}
			var turns []string
			for _, name := range []string{"one", "two", "three"} {
				command := fmt.Sprintf(`echo %[1]s > f; mkdir -p d; echo %[1]s > d/g; echo %[1]s > only-%[1]s; touch %[2]s/%[1]s; n=0
while [ $(ls %[2]s | wc -l) -lt 3 ] && [ $n -lt 1200 ]; do n=$((n+1)); sleep 0.05; done
[ $n -lt 1200 ] && cat f d/g uncommitted > seen; ls only-* > others; rm theirs`, name, met)
				turns = append(turns, fmt.Sprintf(`{"match":"attempt %s","steps":[{"tools":[{"name":"Bash","input":{"command":%q}}]},{"text":"done"}]}`, name, command))
			}
			model := d.model(`{"turns":[` + strings.Join(turns, ",") + `]}`)
			d.aside("project")
			d.write("f", "committed\n")
			d.write("theirs", "may go\n")
			if kind == "repository" {
				d.git("init", "-q", "-b", "main")
				d.git("add", "-A")
				d.git("commit", "-qm", "first")
			}
			d.write("uncommitted", "mine\n")
			d.attemptAll(model, met)
		})
	}
}

// work is what lies in the desk's directory, and what git says of it; git's own files are its own concern.
func (d *desk) work() string {
	d.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(d.dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git":
			out.WriteString(d.git("rev-parse", "HEAD") + d.git("status", "--porcelain"))
			return filepath.SkipDir
		case e.IsDir():
			fmt.Fprintln(&out, path)
			return nil
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %q\n", path, b)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.String()
}

func (d *desk) attemptAll(model, met string) {
	t := d.t
	before := d.work()
	names := []string{"one", "two", "three"}
	var all sync.WaitGroup
	ends := make([]said, len(names))
	for i, name := range names {
		all.Go(func() {
			ends[i] = d.run("-p", "--isolate", "--dangerously-skip-permissions", "--model", model, "--session-id", name, "attempt "+name)
		})
	}
	all.Wait()
	for i, name := range names {
		if ends[i].code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", name, ends[i].code, ends[i].stdout, ends[i].stderr)
		}
		own := filepath.Join(d.home, "isolated", name, "project")
		for file, want := range map[string]string{"seen": name + "\n" + name + "\nmine\n", "others": "only-" + name + "\n"} {
			if b, err := os.ReadFile(filepath.Join(own, file)); string(b) != want {
				t.Errorf("%s: %s is %q, want %q (%v)", name, file, b, want, err)
			}
		}
	}
	if got, err := os.ReadDir(met); err != nil || len(got) != len(names) {
		t.Fatalf("they did not run at the same time: %v, %v", got, err)
	}
	if now := d.work(); now != before {
		t.Errorf("the attempts are seen in the project:\n%s\nwas\n%s", now, before)
	}
	compared := d.ok("diff", "one", "two", "three", "--stat")
	for _, want := range []string{"they differ", "the same", "only-three"} {
		if !strings.Contains(compared, want) {
			t.Errorf("no %q in\n%s", want, compared)
		}
	}
	d.ok("apply", "two", "--yes")
	if d.read("f") != "two\n" || d.read("d/g") != "two\n" || d.read("only-two") != "two\n" || d.read("only-one") != "" || d.read("theirs") != "" {
		t.Errorf("applied:\n%s", d.work())
	}
	if d.read("uncommitted") != "mine\n" {
		t.Errorf("the user's own work is %q", d.read("uncommitted"))
	}
	d.ok("apply", "--undo", "two", "--yes")
	if now := d.work(); now != before {
		t.Errorf("taken back:\n%s\nwas\n%s", now, before)
	}
}

// An apply to a plain directory, and the taking back of one, are killed at any moment: the next run finishes it, or
// takes it back, so that the files are wholly one or the other, nothing is left over, and what the user changed
// meanwhile is there.
func TestApplyKilledAtAnyTime(t *testing.T) {
	rounds := 8
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 500
	}
	d := newDesk(t)
	command := "for i in $(seq 60); do mkdir -p d$i n$i; echo two $i > d$i/f; echo new > n$i/n; done; rm -rf d7 d8 gone"
	model := d.model(fmt.Sprintf(`{"turns":[{"match":"two","steps":[{"tools":[{"name":"Bash","input":{"command":%q}}]},{"text":"done"}]}]}`, command))
	d.aside("project")
	for i := range 60 {
		if err := os.Mkdir(filepath.Join(d.dir, fmt.Sprintf("d%d", i+1)), 0o700); err != nil {
			t.Fatal(err)
		}
		d.write(fmt.Sprintf("d%d/f", i+1), fmt.Sprintf("one %d\n", i+1))
	}
	d.write("gone", "one\n")
	d.ok("-p", "--isolate", "--dangerously-skip-permissions", "--model", model, "--session-id", "kid", "two")
	d.write("mine", "since\n")
	states := []string{d.tree(d.dir)}
	d.ok("apply", "kid", "--yes")
	if states = append(states, d.tree(d.dir)); states[0] == states[1] {
		t.Fatal("the apply changed nothing")
	}
	d.ok("apply", "--undo", "kid", "--yes")
	r := rand.New(rand.NewPCG(2, uint64(rounds)))
	now, killed, settled := 0, 0, 0
	for round := range rounds {
		verbs := [][]string{{"apply", "kid", "--yes"}, {"apply", "--undo", "kid", "--yes"}}
		if d.cutShort(r, 500*time.Millisecond, verbs[now]...) {
			killed++
		}
		// The next run: what is wanted again, or, in every other round, the way back.
		back := now == 0 && round%2 == 1
		next := d.run(verbs[now]...)
		if back {
			next = d.run("apply", "--undo", "kid", "--yes")
		}
		if strings.Contains(next.stderr, "was interrupted") {
			settled++
		}
		want := states[1-now]
		if back {
			want = states[0]
		}
		if got := d.tree(d.dir); got != want || next.code != 0 && next.code != 4 {
			t.Fatalf("round %d: exit %d, %s%s\nthe files are\n%s", round, next.code, next.stdout, next.stderr, got)
		}
		if !back {
			now = 1 - now
		}
	}
	t.Logf("%d were killed in %d rounds, %d were settled by the next run", killed, rounds, settled)
	if killed == 0 {
		t.Error("none was killed in time: the test shows nothing")
	}
}
