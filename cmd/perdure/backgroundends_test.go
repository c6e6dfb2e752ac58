package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asks is a script whose turn asks for permission, and ends when it has it.
const asks = `{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"touch made"}}]},{"text":"Made."}]},
 {"match":"hi","steps":[{"text":"Hello."}]}]}`

// Goal: a session that waits for a human takes no place from another; killed, it is brought back and waits on; with the
// answer it goes on by itself, and is over.
func TestBackgroundWaitsForAHuman(t *testing.T) {
	d := newDesk(t)
	model := d.model(asks)
	d.ok("start", "--session-id", "one", "--at-most", "1", "--model", model, "go")
	d.until("it waits", d.does("one", "waiting"))
	s := d.run("start", "--session-id", "two", "--at-most", "1", "--model", model, "hi")
	if s.code != 0 || !strings.Contains(s.stderr, "session two runs") {
		t.Errorf("a session that sleeps takes a place: %d %s", s.code, s.stderr)
	}
	d.until("the other ends", func() bool { return len(d.supervisors()) == 1 }) // it looks after others before it does
	d.kill("one", syscall.SIGKILL)
	if s := d.run(); s.code != 0 || !strings.Contains(s.stderr, "was killed, and runs on: one") {
		t.Errorf("the overview: %d %s", s.code, s.stderr)
	}
	if a := d.session("one"); a.Activity != "waiting" || a.Holder == nil {
		t.Errorf("it is %+v", a)
	}
	d.ok("approvals", "allow", "one")
	d.until("it ends", d.does("one", "idle"))
	if _, err := os.Stat(filepath.Join(d.dir, "made")); err != nil {
		t.Error(err)
	}
}

// Goal: pause, close and delete end what runs in the background, in order: no process, no record, and nothing brings it
// back. A command that runs goes on, or goes with the session.
func TestPauseCloseAndDeleteEndTheBackground(t *testing.T) {
	d := newDesk(t)
	model := d.model(gated)
	for _, id := range []string{"paused", "closed", "deleted", "asleep"} {
		d.ok("start", "--session-id", id, "--model", model, "--allowed-tools", "Bash", "go")
	}
	d.until("all work", func() bool { return strings.Count(d.read("ran"), "\n") == 4 })
	d.ok("pause", "paused")
	d.ok("close", "closed")
	d.ok("delete", "--yes", "deleted")
	d.kill("asleep", syscall.SIGKILL)
	d.ok("pause", "asleep") // nobody runs it now
	if left := d.supervisors(); len(left) > 0 {
		t.Errorf("supervisors: %v", left)
	}
	if left := d.records(); len(left) > 0 {
		t.Errorf("records: %v", left)
	}
	for range 2 {
		if s := d.run("list"); s.stderr != "" || strings.Contains(s.stdout, "deleted") || len(d.supervisors()) > 0 {
			t.Errorf("list: %s%s", s.stdout, s.stderr)
		}
	}
	d.write("gate", "") // the commands of the others end
}

// Goal: a machine that goes down tells everything to end. That is no end of what was wanted: it comes back.
func TestTermKeepsTheRecord(t *testing.T) {
	d := newDesk(t)
	d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	d.kill("one", syscall.SIGTERM)
	if s := d.run("list"); !strings.Contains(s.stderr, "runs on: one") {
		t.Errorf("list: %s", s.stderr)
	}
	d.write("gate", "")
	d.until("it ends", d.does("one", "idle"))
}

// Goal: a file in the home gives no rights. A record that a model plants lets a session go on as it is, and nothing more;
// what is no plain file of this user alone is left alone, and said.
func TestPlantedRecordsGiveNoRights(t *testing.T) {
	d := newDesk(t)
	if s := d.run("-p", "--session-id", "one", "--model", d.model(asks), "go"); s.code != 3 {
		t.Fatalf("run: %d %s", s.code, s.stderr)
	}
	dir := filepath.Join(d.home, "background")
	record := func(extra string) string {
		return fmt.Sprintf(`{"v":1,"session":"one","home":%q,"cwd":%q,"started":1,"most":8,"begun":true%s}`, d.home, d.dir, extra)
	}
	plant := func(name, text string, mode os.FileMode) {
		t.Helper()
		_ = os.Remove(filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.write("elsewhere", record(""))
	refused := map[string]func(){
		"others may read or write it": func() { plant("one", record(""), 0o644) },
		"it cannot be read":           func() { plant("one", "{", 0o600) },
		"it names another session":    func() { plant("one", strings.Replace(record(""), `"one"`, `"two"`, 1), 0o600) },
		"it was started in /away":     func() { plant("one", strings.Replace(record(""), d.home, "/away", 1), 0o600) },
		"it has another name": func() {
			_ = os.Remove(filepath.Join(dir, "one"))
			_ = os.Link(filepath.Join(d.dir, "elsewhere"), filepath.Join(dir, "one"))
		},
		"it is no file of its own": func() {
			_ = os.Remove(filepath.Join(dir, "one"))
			_ = os.Symlink(filepath.Join(d.dir, "elsewhere"), filepath.Join(dir, "one"))
		},
	}
	for why, put := range refused {
		put()
		if s := d.run("list"); s.code != 0 || !strings.Contains(s.stderr, why) || len(d.supervisors()) > 0 {
			t.Errorf("%s: %d %s, supervisors %v", why, s.code, s.stderr, d.supervisors())
		}
	}
	plant("one", record(`,"bypass":true,"mode":"bypassPermissions","args":["--dangerously-skip-permissions"],"allowed":["Bash"]`), 0o600)
	if s := d.run("list"); !strings.Contains(s.stderr, "which nothing restores") {
		t.Errorf("list: %s", s.stderr)
	}
	d.until("it waits", func() bool { s := d.session("one"); return s.Activity == "waiting" && s.Holder != nil })
	if _, err := os.Stat(filepath.Join(d.dir, "made")); err == nil {
		t.Error("a file allowed the command")
	}
	d.ok("pause", "one")
	plant("one", record(""), 0o600)
	if d.ok("list"); len(d.supervisors())+len(d.records()) > 0 {
		t.Errorf("a planted record opens what was paused: %v", d.supervisors())
	}
}

// Goal: a limit is a person's to lift. A record that a model plants does not let a turn go on that a limit has halted,
// however often somebody looks; start says that it is halted, and with more room it goes on.
func TestALimitIsNotLiftedByALook(t *testing.T) {
	d := newDesk(t)
	model := d.model(`{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"echo ran >> ran"}}]},{"text":"Done."}]}]}`)
	d.ok("start", "--session-id", "one", "--model", model, "--allowed-tools", "Bash", "--max-turns", "1", "go")
	d.until("it is halted", func() bool {
		return d.session("one").Activity == "stopped" && len(d.records())+len(d.supervisors()) == 0
	})
	plain := d.ok("log", "one")
	record := fmt.Sprintf(`{"v":1,"session":"one","home":%q,"cwd":%q,"started":1,"most":8,"begun":true}`, d.home, d.dir)
	for range 2 {
		if err := os.WriteFile(filepath.Join(d.home, "background", "one"), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := d.run("list"); s.stderr != "" || len(d.supervisors())+len(d.records()) > 0 {
			t.Errorf("%s %v", s.stderr, d.supervisors())
		}
	}
	if log := d.ok("log", "one"); log != plain {
		t.Errorf("a look changed it:\n%s", log)
	}
	d.ok("start", "-r", "one")
	d.until("it goes on", d.does("one", "idle"))
	if s := d.run("start", "-r", "one"); s.code != 0 || !strings.Contains(s.stderr, "no interrupted turn") || s.stdout != "" {
		t.Errorf("%d %q %q", s.code, s.stdout, s.stderr)
	}
}

// Goal: a run that never asks is a person's word for one process. Brought back it asks, which is said.
func TestBypassIsNotRestored(t *testing.T) {
	d := newDesk(t)
	script := strings.Replace(gated, `{"text":"It is done."}`, `{"tools":[{"name":"Bash","input":{"command":"touch after"}}]},{"text":"It is done."}`, 1)
	d.ok("start", "--session-id", "one", "--model", d.model(script), "--dangerously-skip-permissions", "go")
	d.until("the command runs unasked", func() bool { return d.read("ran") != "" })
	d.kill("one", syscall.SIGKILL)
	if s := d.run("list"); !strings.Contains(s.stderr, "ran without asking (bypassPermissions), which nothing restores: it asks again") {
		t.Errorf("list: %s", s.stderr)
	}
	d.write("gate", "")
	d.until("it asks", d.does("one", "waiting"))
	if _, err := os.Stat(filepath.Join(d.dir, "after")); err == nil {
		t.Error("it ran what nobody allowed")
	}
	d.ok("close", "one")
}

// Goal: what is brought back in a shell that lacks the key of its model does not begin to fail in the background: what is
// missing is said, by session, and no value of a variable stands in the home.
func TestMissingKeyIsSaid(t *testing.T) {
	d := newDesk(t)
	bare := slices.Clone(d.env)
	d.env = append(d.env, "ANTHROPIC_API_KEY=sk-ant-a-very-secret-key-0001", "ANTHROPIC_BASE_URL=http://127.0.0.1:1")
	d.ok("start", "--session-id", "one", "--model", "anthropic/claude-sonnet-5-5", "hi")
	d.until("it tries", func() bool { return strings.Contains(d.ok("log", "one"), "model.failed") })
	record, err := os.ReadFile(filepath.Join(d.home, "background", "one"))
	if err != nil || !strings.Contains(string(record), "ANTHROPIC_API_KEY") || strings.Contains(string(record), "secret-key") {
		t.Errorf("%s %v", record, err)
	}
	d.kill("one", syscall.SIGKILL)
	for _, args := range [][]string{{"list"}, {"start", "--resume-all"}} {
		s := d.runIn(bare, args...)
		if !strings.Contains(s.stderr, "session one does not run: not set here, but where it was started: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL") || len(d.supervisors()) > 0 {
			t.Errorf("%q without the key: %d %s", args, s.code, s.stderr)
		}
	}
	if s := d.run("list"); !strings.Contains(s.stderr, "runs on: one") {
		t.Errorf("with the key: %s", s.stderr)
	}
	d.ok("pause", "one")
}

// Goal: what list says is what is: after supervisors, commands and shims were killed at random, each session that it calls
// running or waiting has a live process, nothing else has one, and no command ran twice.
func TestListTellsTheTruth(t *testing.T) {
	rounds := 6
	if os.Getenv("PERDURE_SOAK") == "1" {
		rounds = 200
	}
	d := newDesk(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	model := d.model(`{"turns":[{"match":"go","steps":[
 {"tools":[{"name":"Bash","input":{"command":"echo $PERDURE_SESSION_ID >> ran; until [ -e gate ]; do sleep 0.02; done"}}]},
 {"tools":[{"name":"Bash","input":{"command":"until [ -e gate ]; do sleep 0.02; done"}}]},{"text":"Done."}]},
 {"match":"ask","steps":[{"tools":[{"name":"Write","input":{"file_path":"x","content":"y"}}]},{"text":"Done."}]}]}`)
	ids := []string{"go1", "go2", "go3", "ask1"}
	for _, id := range ids {
		d.ok("start", "--session-id", id, "--model", model, "--allowed-tools", "Bash", strings.TrimRight(id, "123"))
	}
	d.until("all are under way", func() bool {
		return strings.Count(d.read("ran"), "\n") == 3 && d.session("ask1").Activity == "waiting"
	})
	for round := range rounds {
		var killed []int
		for pid := range d.processes() {
			if r.IntN(3) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed = append(killed, pid)
			}
		}
		d.until("they are gone", func() bool { return !slices.ContainsFunc(killed, func(pid int) bool { return !ended(pid) }) })
		d.until("their locks are free", func() bool {
			return !slices.ContainsFunc(ids, func(id string) bool {
				h := d.session(id).Holder
				return h != nil && h.Alive == "alive" && slices.Contains(killed, h.PID)
			})
		})
		if s := d.run("list"); strings.Contains(s.stderr, "times within") {
			d.ok("start", "--resume-all")
		}
		d.until(fmt.Sprintf("round %d: the list is the truth", round), func() bool { return d.truth(ids) == "" })
	}
	d.ok("approvals", "deny", "ask1")
	d.write("gate", "")
	d.until("all end", func() bool {
		d.ok("list")
		return len(d.supervisors()) == 0 && len(d.records()) == 0
	})
	for _, id := range ids {
		if a := d.session(id).Activity; a != "idle" {
			t.Errorf("%s is %s", id, a)
		}
		if n := strings.Count(d.read("ran"), id+"\n"); strings.HasPrefix(id, "go") && n != 1 {
			t.Errorf("%s ran %d times", id, n)
		}
	}
}

// truth compares what list says with the processes that there are; empty: it is so.
func (d *desk) truth(ids []string) string {
	out := d.ok("list", "--json")
	supervisors := d.supervisors()
	for line := range strings.Lines(out) {
		var s struct {
			ID, Activity string
			Holder       *struct {
				PID   int
				Alive string
			}
		}
		if err := decode(line, &s); err != nil {
			return err.Error()
		}
		works := s.Activity == "running" || s.Activity == "waiting" || s.Activity == "asleep"
		switch pids := supervisors[s.ID]; {
		case len(pids) > 1:
			return fmt.Sprintf("%s has %v", s.ID, pids)
		case works != (len(pids) == 1):
			return fmt.Sprintf("%s is %s, with %v", s.ID, s.Activity, pids)
		case works && (s.Holder == nil || s.Holder.PID != pids[0] || s.Holder.Alive != "alive"):
			return fmt.Sprintf("%s is held by %+v, with %v", s.ID, s.Holder, pids)
		case works && ended(pids[0]):
			return fmt.Sprintf("%s is %s by the dead", s.ID, s.Activity)
		}
	}
	if n := strings.Count(out, "\n"); n != len(ids) {
		return fmt.Sprintf("%d sessions are listed", n)
	}
	for line := range strings.Lines(d.ok("board", "--json")) {
		var s struct {
			ID, Group  string
			Background bool
		}
		if err := decode(line, &s); err != nil {
			return err.Error()
		}
		alive := s.Group == "works" || s.Group == "waits"
		if alive != s.Background || alive != (len(d.supervisors()[s.ID]) == 1) {
			return fmt.Sprintf("on the board %s is in %s, background %v, with %v", s.ID, s.Group, s.Background, d.supervisors()[s.ID])
		}
	}
	return ""
}

// Goal: what start has said is so. Killed at any moment, it leaves a session that runs, or can be found with its prompt, or
// none; once it has printed the id, the session runs to its end.
func TestStartKilledKeepsItsWord(t *testing.T) {
	rounds := 10
	if os.Getenv("PERDURE_SOAK") == "1" {
		rounds = 300
	}
	d := newDesk(t)
	model := d.model(gated)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	promised := 0
	for i := range rounds {
		id := fmt.Sprint("s", i)
		cmd := exec.Command(d.exe, "start", "--session-id", id, "--model", model, "hi")
		cmd.Dir, cmd.Env = d.dir, d.env
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(r.IntN(250)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		d.ok("list")
		if strings.TrimSpace(out.String()) != id {
			continue
		}
		promised++
		d.until("it runs to its end", func() bool { return strings.Contains(d.ok("log", id), "turn.ended") })
	}
	t.Logf("%d of %d were promised", promised, rounds)
	d.until("nothing is left to run", func() bool {
		d.ok("list")
		return len(d.records()) == 0
	})
	for line := range strings.Lines(d.ok("list", "--json")) {
		var s listed
		if err := decode(line, &s); err != nil {
			t.Fatal(err)
		}
		if log := d.ok("log", s.ID); strings.Count(log, "message.received") > 1 || strings.Count(log, "turn.started") > 1 {
			t.Errorf("%s: its prompt is there twice:\n%s", s.ID, log)
		}
	}
}

// Goal: what kills a supervisor each time, as a lack of memory does, costs a model call each time: after ten times
// within ten minutes it stays down until a person insists.
func TestKilledAgainAndAgainStaysDown(t *testing.T) {
	d := newDesk(t)
	d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	for kills := 1; ; kills++ {
		d.kill("one", syscall.SIGKILL)
		s := d.run("list")
		if strings.Contains(s.stderr, "does not run: its process was killed 10 times within 10m0s") {
			if kills != 10 {
				t.Errorf("after %d kills", kills)
			}
			break
		}
		if kills > 10 {
			t.Fatalf("it comes back for ever: %s", s.stderr)
		}
	}
	if n := len(d.supervisors()); n != 0 {
		t.Errorf("%d supervisors", n)
	}
	if s := d.run("start", "--resume-all"); s.code != 0 || !strings.Contains(s.stderr, "runs on: one") {
		t.Errorf("%d %s", s.code, s.stderr)
	}
	d.write("gate", "")
	d.until("it ends", d.does("one", "idle"))
	if ran := d.read("ran"); ran != "one\n" {
		t.Errorf("the command ran: %q", ran)
	}
}

// Goal: an upgrade ends no session. One process that keeps all of them ends them all when it is replaced; here each has
// its own, which goes on with the version that it was started with, and the new one starts no second.
func TestUpgradeEndsNoSession(t *testing.T) {
	d := newDesk(t)
	self, err := os.ReadFile(d.exe)
	if err != nil {
		t.Fatal(err)
	}
	upgrade := func() {
		t.Helper()
		if err := os.WriteFile(d.exe+".new", self, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(d.exe+".new", d.exe); err != nil {
			t.Fatal(err)
		}
	}
	upgrade()
	d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	was := d.supervisors()["one"]
	upgrade()
	if s := d.run("list"); s.stderr != "" || !slices.Equal(d.supervisors()["one"], was) {
		t.Errorf("%v, and before %v: %s", d.supervisors(), was, s.stderr)
	}
	d.write("gate", "")
	d.until("it ends", d.does("one", "idle"))
}

// Goal: what a person takes over is theirs: its supervisor ends, and nothing starts another.
func TestTakeoverEndsTheSupervisor(t *testing.T) {
	d := newDesk(t)
	d.ok("start", "--session-id", "one", "--model", d.model(gated), "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	d.ok("takeover", "--yes", "one")
	d.write("gate", "")
	d.until("the supervisor ends", func() bool { return len(d.supervisors())+len(d.records()) == 0 })
	if s := d.run("list"); s.stderr != "" || len(d.supervisors()) > 0 {
		t.Errorf("%s", s.stderr)
	}
	d.ok("-p", "-r", "one")
	if log := d.ok("log", "one"); strings.Count(log, "turn.ended") != 1 || d.read("ran") != "one\n" {
		t.Errorf("%q\n%s", d.read("ran"), log)
	}
}
