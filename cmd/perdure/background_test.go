package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// desk is a home whose sessions run in the background, and a directory that they work in.
type desk struct {
	t         *testing.T
	exe, home string
	dir       string
	env       []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	top := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, exe: filepath.Join(top, "perdure"), home: filepath.Join(top, "home"), dir: filepath.Join(top, "work")}
	if err := os.Symlink(self, d.exe); err != nil { // by that name the test binary is the command
		t.Fatal(err)
	}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.env = []string{"PERDURE_HOME=" + d.home, "HOME=" + top, "PATH=" + os.Getenv("PATH"), "USER=tester"}
	t.Cleanup(d.nothingIsLeft)
	return d
}

// said is what a command line gave.
type said struct {
	stdout, stderr string
	code           int
}

func (d *desk) run(args ...string) said {
	d.t.Helper()
	return d.runIn(d.env, args...)
}

func (d *desk) runIn(env []string, args ...string) said {
	d.t.Helper()
	cmd := exec.Command(d.exe, args...)
	cmd.Dir, cmd.Env = d.dir, env
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		d.t.Fatalf("perdure %q: %v", args, err)
	}
	return said{out.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok demands success and gives stdout.
func (d *desk) ok(args ...string) string {
	d.t.Helper()
	s := d.run(args...)
	if s.code != 0 {
		d.t.Fatalf("perdure %q: exit %d\n%s%s", args, s.code, s.stdout, s.stderr)
	}
	return s.stdout
}

// model writes a script and gives its name.
func (d *desk) model(script string) string {
	d.t.Helper()
	d.write("model.json", script)
	return "scripted/" + filepath.Join(d.dir, "model.json")
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(d.dir, name))
	return string(b)
}

func (d *desk) until(what string, ok func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("never: %s", what)
		}
	}
}

// listed is a line of list --json. It brings nothing back: show does not.
type listed struct {
	ID       string `json:"id"`
	Activity string
	Holder   *struct {
		PID   int
		Alive string
	}
}

// session is one session as show has it, which brings nothing back.
func (d *desk) session(id string) (s listed) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.ok("show", id, "--json")), &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) does(id, activity string) func() bool {
	return func() bool { return d.session(id).Activity == activity }
}

// processes are those that have this home in their environment, by pid, with their arguments.
func (d *desk) processes() map[int]string {
	out := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || pid == os.Getpid() || !bytes.Contains(env, []byte("PERDURE_HOME="+d.home+"\x00")) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		out[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return out
}

// supervisors are the processes that run sessions, by session.
func (d *desk) supervisors() map[string][]int {
	out := map[string][]int{}
	for pid, line := range d.processes() {
		words := strings.Fields(line)
		if len(words) > 2 && words[1] == "supervise" {
			out[words[2]] = append(out[words[2]], pid)
		}
	}
	return out
}

// kill kills the supervisor of a session, and waits until it is gone.
func (d *desk) kill(id string, sig syscall.Signal) {
	d.t.Helper()
	pids := d.supervisors()[id]
	if len(pids) != 1 {
		d.t.Fatalf("session %s has supervisors %v", id, pids)
	}
	if err := syscall.Kill(pids[0], sig); err != nil {
		d.t.Fatal(err)
	}
	d.until("the supervisor ends with its locks", func() bool {
		h := d.session(id).Holder
		return ended(pids[0]) && (h == nil || h.Alive != "alive") && d.free(id)
	})
}

// free reports whether nobody holds the lock of a session's record; one that is gone is free.
func (d *desk) free(id string) bool {
	f, err := os.Open(filepath.Join(d.home, "background", id))
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// ended reports whether a process is gone, or about to be. While the system takes its threads down, its files may still be
// open, and locked.
func ended(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, fields, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(fields, "Z") || strings.HasPrefix(fields, "X")
}

func (d *desk) records() []string {
	all, _ := filepath.Glob(filepath.Join(d.home, "background", "[^.]*"))
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// nothingIsLeft fails for a process or a file that outlives a test, and ends the process.
func (d *desk) nothingIsLeft() {
	for deadline := time.Now().Add(20 * time.Second); len(d.processes())+len(d.records()) > 0 && time.Now().Before(deadline); {
		<-time.After(20 * time.Millisecond)
	}
	for pid, line := range d.processes() {
		d.t.Errorf("left behind: pid %d: %s", pid, line)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if left := d.records(); len(left) > 0 {
		d.t.Errorf("left behind: records of %v", left)
	}
	prints, _ := filepath.Glob(filepath.Join(d.home, "streams", "*", "supervisor.txt"))
	if len(prints) > 0 {
		d.t.Errorf("left behind: %v", prints)
	}
}

func decode(line string, to any) error { return json.Unmarshal([]byte(line), to) }

// gated is a script whose turn runs a command that counts itself and waits for a file, and then says so in slow words.
const gated = `{"turns":[{"match":"go","steps":[
 {"tools":[{"name":"Bash","input":{"command":"echo $PERDURE_SESSION_ID >> ran; until [ -e gate ]; do sleep 0.02; done"}}]},
 {"text":"It is done."}]},
 {"match":"slow","steps":[{"tools":[{"name":"Bash","input":{"command":"echo ran >> ran"}}]},
  {"text":"These words take their time, so that there is a moment in which a kill meets them, and another one after it.","delay_ms":150}]},
 {"match":"hi","steps":[{"text":"Hello."}]}]}`

// Goal: a command that runs for minutes or a model that speaks is no reason to keep a terminal: start returns when the
// session and its prompt are durable; killed in mid call, the next list brings the session back, its turn ends, and
// nothing that was done is done again.
func TestStartOutlivesItsKill(t *testing.T) {
	d := newDesk(t)
	id := strings.TrimSpace(d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "slow"))
	if id != "one" {
		t.Fatalf("start printed %q", id)
	}
	d.until("the model speaks", func() bool { return strings.Count(d.ok("log", "one"), "model.requested") == 2 })
	d.kill("one", syscall.SIGKILL)
	if a := d.session("one").Activity; a != "interrupted" && a != "parked" {
		t.Errorf("killed, it is %s", a)
	}
	s := d.run("list", "--json")
	if s.code != 0 || !strings.Contains(s.stderr, "1 background session was killed, and runs on: one") {
		t.Errorf("list: %d %s", s.code, s.stderr)
	}
	if !strings.Contains(s.stdout, `"activity":"running"`) {
		t.Errorf("the list is of before: %s", s.stdout)
	}
	d.until("the turn ends", d.does("one", "idle"))
	if ran := d.read("ran"); ran != "ran\n" {
		t.Errorf("the command ran: %q", ran)
	}
	if log := d.ok("log", "one"); strings.Count(log, "tool.started") != 1 || strings.Count(log, "turn.ended") != 1 {
		t.Errorf("log:\n%s", log)
	}
	d.until("its record goes", func() bool { return len(d.records()) == 0 })
	if s := d.run("list"); s.stderr != "" {
		t.Errorf("later: %s", s.stderr)
	}
}

// Goal: however many commands look at once, one of them starts the supervisor.
func TestManyLooksStartOne(t *testing.T) {
	d := newDesk(t)
	d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	for round := range 3 {
		d.kill("one", syscall.SIGKILL)
		before := strings.Count(d.ok("log", "one"), "session.resumed")
		var looks []*exec.Cmd
		for range 4 {
			cmd := exec.Command(d.exe, "list")
			cmd.Dir, cmd.Env = d.dir, d.env
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			looks = append(looks, cmd)
		}
		for _, cmd := range looks {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		if n := len(d.supervisors()["one"]); n != 1 {
			t.Errorf("round %d: %d supervisors", round, n)
		}
		if n := strings.Count(d.ok("log", "one"), "session.resumed") - before; n != 1 {
			t.Errorf("round %d: resumed %d times", round, n)
		}
	}
	d.write("gate", "")
	d.until("it ends", d.does("one", "idle"))
	if ran := d.read("ran"); ran != "one\n" {
		t.Errorf("the command ran: %q", ran)
	}
}

// Goal: no more sessions work at once than were asked for, at the start, after a kill of all, and as places become free;
// all of them end, each command having run once.
func TestResumeAllKeepsTheBound(t *testing.T) {
	const sessions, first, later = 20, 2, 4
	d := newDesk(t)
	model := d.model(gated)
	queued := 0
	for i := range sessions {
		s := d.run("start", "--session-id", fmt.Sprintf("s%02d", i), "--at-most", strconv.Itoa(first), "--model", model, "--allowed-tools", "Bash", "go")
		if s.code != 0 {
			t.Fatalf("start: %d %s", s.code, s.stderr)
		}
		queued += strings.Count(s.stderr, "begins when one of the others")
	}
	if queued != sessions-first || len(d.supervisors()) != first {
		t.Errorf("%d wait, %d work", queued, len(d.supervisors()))
	}
	d.until("both commands run", func() bool { return strings.Count(d.read("ran"), "\n") == first })
	for id := range d.supervisors() {
		d.kill(id, syscall.SIGKILL)
	}
	s := d.run("start", "--resume-all", "--at-most", strconv.Itoa(later))
	if s.code != 0 || !strings.Contains(s.stderr, "2 background sessions were killed") || !strings.Contains(s.stderr, "16 more begin") || len(d.supervisors()) != later {
		t.Errorf("resume-all: %d, %d supervisors\n%s", s.code, len(d.supervisors()), s.stderr)
	}
	if ids := d.supervisors(); ids["s00"] == nil || ids["s03"] == nil {
		t.Errorf("not the first ones: %v", ids)
	}
	d.until("all four commands run", func() bool { return strings.Count(d.read("ran"), "\n") == later })
	d.write("gate", "")
	most := 0
	d.until("all end", func() bool {
		most = max(most, len(d.supervisors()))
		return len(d.records()) == 0 && len(d.supervisors()) == 0
	})
	if most > later+first { // one that ends starts the next before it is gone itself
		t.Errorf("%d supervisors at once", most)
	}
	seen := map[string]int{}
	for id := range strings.Lines(d.read("ran")) {
		seen[strings.TrimSpace(id)]++
	}
	for i := range sessions {
		if id := fmt.Sprintf("s%02d", i); seen[id] != 1 {
			t.Errorf("%s ran %d times", id, seen[id])
		}
	}
}
