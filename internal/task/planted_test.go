//go:build linux || darwin

package task

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

func (b *bench) dirOf(act string) actDir { return actDir(filepath.Join(b.Dir, testSession, act)) }

// A note of the end that was torn by a full disk is none: half a number is another one.
func TestTornNoteOfTheEnd(t *testing.T) {
	d := actDir(t.TempDir())
	for text, want := range map[string]bool{"1 10752\n": true, "1 10752": false, "1 107": false, "1 \n": false, "": false} {
		if err := os.WriteFile(d.path(endName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if ws, ok := d.endNote(); ok != want || ok && ws.ExitStatus() != 42 {
			t.Errorf("%q: %v, %v", text, ws, ok)
		}
	}
}

// Remove takes all of a directory away in one step: what is half-removed has another name, never the act's own.
func TestRemoveAtOnce(t *testing.T) {
	b := newBench(t)
	b.run("a", "echo out")
	b.left("a")
	block := filepath.Join(b.Dir, testSession, trashPrefix+"a")
	if err := os.WriteFile(block, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := b.dirOf("a")
	inner, err := os.Open(string(d))
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	before, err := inner.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stop, seen := make(chan struct{}), make(chan bool, 1)
	go func() { // whoever looks sees all of it or nothing
		torn := false
		for {
			select {
			case <-stop:
				seen <- torn
				return
			default:
			}
			if info, err := os.Stat(string(d)); err == nil && os.SameFile(info, before) {
				_, spec := os.Stat(d.path(specName))
				_, exit := os.Stat(d.path(exitName))
				if _, err := os.Stat(string(d)); err == nil && (spec != nil || exit != nil) {
					torn = true
				}
			}
		}
	}()
	for i := range 3000 { // so many files that taking them away one by one lasts
		if err := os.WriteFile(d.path("z"+unique()), nil, 0o600); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := b.Remove(testSession, "a"); err != nil {
		t.Error(err)
	}
	close(stop)
	if <-seen {
		t.Error("a half-removed directory was seen under the act's name")
	}
}

// Remove of an orphan that has ended adopts it first: its record is written, and it goes.
func TestRemoveOrphan(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"exit 3"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	run := b.state("a")
	b.killShim("a")
	if err := b.Remove(testSession, "a"); !errors.Is(err, ErrRunning) || len(b.processesOf("a", shimArg)) != 1 {
		t.Errorf("one that runs: %v, shims %v", err, b.processesOf("a", shimArg))
	}
	b.killShim("a")
	b.touch("go")
	eventually(t, "it ends", func() bool { return !alive(run.PID, run.StartTicks) })
	if err := b.Remove(testSession, "a"); err != nil {
		t.Error(err)
	}
}

// A command whose kill was asked for before it began does not run.
func TestKilledBeforeItRan(t *testing.T) {
	b := newBench(t)
	if err := b.Prepare(context.Background(), b.script("a", counting)); err != nil {
		t.Fatal(err)
	}
	if err := b.dirOf("a").recordIntent("user", 1, b.grace()); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(context.Background(), b.script("a", counting)); !errors.Is(err, ErrNotStarted) || b.count() != 0 {
		t.Errorf("%v, ran %d times", err, b.count())
	}
}

// An input that was closed stays closed under another shim.
func TestAdoptClosedInput(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	spec := b.script("a", "cat; echo end; "+untilGo+"read -r more; echo \"more $more\"")
	spec.Stdin = true
	b.start(spec)
	if err := b.CloseStdin(testSession, "a"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the input ends", func() bool { return b.output("a") == "end\n" })
	b.killShim("a")
	b.look("a")
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 0" || b.output("a") != "end\nmore \n" {
		t.Errorf("%s, %q", code(st), b.output("a"))
	}
	if _, err := b.WriteStdin(testSession, "a", []byte("x")); err == nil {
		t.Error("a closed input takes more")
	}
}

// The environment, which may hold secrets, does not stay on disk after the end.
func TestNoEnvironmentStays(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "true")
	spec.Env = append(spec.Env, "TOKEN=hunter2hunter2")
	b.start(spec)
	b.wait("a")
	b.left("a")
	err := filepath.WalkDir(string(b.dirOf("a")), func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if text, _ := os.ReadFile(path); strings.Contains(string(text), "hunter2hunter2") {
			t.Errorf("%s holds it", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What was sent to the background has no timeout, also when the shim's alarm goes off before it was told.
func TestDetachedBeforeTheAlarm(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "echo up; "+untilGo+"exit 3")
	spec.TimeoutMS = 400
	b.start(spec)
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	if err := os.WriteFile(b.dirOf("a").path(detachName), nil, 0o600); err != nil { // the shim is not woken
		t.Fatal(err)
	}
	begin := time.Now()
	eventually(t, "the alarm is over", func() bool { return time.Since(begin) > 800*time.Millisecond })
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 3" {
		t.Errorf("%s", code(st))
	}
}

// How far output was dropped is remembered across an adoption: offsets do not move.
func TestAdoptAfterDropped(t *testing.T) {
	b := newBench(t)
	d := b.dirOf("a")
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{segmentName(0): "kept", spareName: strings.Repeat(" ", spareRoom)} {
		if err := os.WriteFile(d.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.noteDropped(1000)
	o, err := reopenOutput(d, execPlan{})
	if err != nil {
		t.Fatal(err)
	}
	defer o.fifo.Close()
	if o.end() != 1000 || o.seg != nil {
		t.Errorf("goes on at %d, segment %v", o.end(), o.seg)
	}
}

// A shim that takes over from one that had recorded the end counts on from what that had counted, though nothing of it is
// kept.
func TestAdoptStragglersOffset(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "(setsid bash -c '"+untilGo+"echo late' &); echo up; exit 4"))
	if st := b.wait("a"); st.Stragglers < 1 {
		t.Fatalf("%+v", st)
	}
	d := b.dirOf("a")
	b.killShim("a")
	var exit exitRecord
	if err := readRecord(d.path(exitName), &exit); err != nil {
		t.Fatal(err)
	}
	exit.Output = 500
	if err := d.writeExit(exit); err != nil {
		t.Fatal(err)
	}
	b.look("a")
	b.touch("go")
	b.left("a")
	if st := b.look("a"); st.Output != 505 || code(st) != "exited 4" {
		t.Errorf("%s, %d bytes, %s", code(st), st.Output, b.log("a"))
	}
}

// The number of a dead shim's session may belong to somebody else by now, whose processes are none of the command's.
func TestSessionNumberReused(t *testing.T) {
	leader := exec.Command("sleep", "600")
	leader.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = leader.Process.Kill()
		_ = leader.Wait()
	}()
	eventually(t, "it leads a session", func() bool {
		p, err := readProcess(leader.Process.Pid)
		return err == nil && p.SID == p.PID
	})
	tr := findTraces(actDir(t.TempDir()), runRecord{PID: 1 << 30, SID: leader.Process.Pid, StartTicks: 1})
	for _, p := range tr.living() {
		t.Errorf("process %d is taken for one of the command's", p.PID)
	}
}

// A look at the process table can miss a process: nothing is left only after several that found none.
func TestOneEmptyLookIsNotEnough(t *testing.T) {
	const pid, sid = 1 << 30, 1<<30 + 1 // of nobody
	for missed, left := range map[int]bool{0: true, 1: true, 2: true, 1000: false} {
		tr := findTraces(actDir(t.TempDir()), runRecord{PID: pid, SID: sid, StartTicks: 1})
		tr.end = &ending{}
		looks := 0
		tr.table = func() ([]process, error) {
			if looks++; looks <= missed {
				return nil, nil
			}
			return []process{{PID: pid + 2, PPID: 1, SID: sid, Ticks: 2, State: 'S'}}, nil
		}
		if _, got := tr.reap(); got != left {
			t.Errorf("%d looks missed it: something is left: %v", missed, got)
		}
	}
}

// Whoever waits is not told of a loss before somebody has tried to adopt.
func TestWaitAdoptsFirst(t *testing.T) {
	b := newBench(t)
	b.run("a", "exit 7")
	b.left("a")
	d := b.dirOf("a")
	// As if the shim had died after it saw the end. Nothing of the command is in the process table any more.
	if err := os.Remove(d.path(exitName)); err != nil {
		t.Fatal(err)
	}
	if st := b.state("a"); code(st) != "lost shim_died" {
		t.Fatalf("before: %s", code(st))
	}
	// The first replacement fails, the second does its work.
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tried := filepath.Join(b.cwd, "tried")
	b.Exe = []string{"/bin/sh", "-c", "test -e '" + tried + "' && exec \"$0\" \"$@\"; : > '" + tried + "'; exit 1", exe}
	if st := b.wait("a"); code(st) != "exited 7" || !exists(tried) {
		t.Errorf("%s", code(st))
	}
}

// Whoever waits tries a few times to adopt, and then tells of the loss.
func TestWaitGivesUp(t *testing.T) {
	b := newBench(t)
	b.run("a", "exit 7")
	b.left("a")
	d := b.dirOf("a")
	if err := errors.Join(os.Remove(d.path(exitName)), os.Remove(d.path(endName))); err != nil {
		t.Fatal(err)
	}
	b.noRescue = true // the tries of those that die young are none of these
	tries := filepath.Join(b.cwd, "tries")
	b.Exe = []string{"/bin/sh", "-c", "echo x >> '" + tries + "'; exit 1"}
	if st := b.wait("a"); code(st) != "lost shim_died" {
		t.Errorf("%s", code(st))
	}
	if text, _ := os.ReadFile(tries); strings.Count(string(text), "x") != maxAdopts+1 {
		t.Errorf("tried %d times", strings.Count(string(text), "x"))
	}
}

// A stage whose shim died before the go byte never was the command: an adopter records nothing of it.
func TestAdoptStageThatNeverRan(t *testing.T) {
	b := faulty(t, "kill:run-recorded")
	b.noRescue = true
	_ = b.Start(context.Background(), b.script("a", counting))
	d := b.dirOf("a")
	eventually(t, "the stage leaves word", d.noGo)
	if err := b.Adopt(context.Background(), testSession, "a"); err != nil {
		t.Error(err)
	}
	ready, err := b.launch(d, adoptArg, 0, &keeper{})
	if err != nil {
		t.Fatal(err)
	}
	if verdict, err := readReady(context.Background(), ready); verdict != readyClaimed || err != nil {
		t.Errorf("%q, %v", verdict, err)
	}
	ready.Close()
	if st := b.look("a"); st.Status != command.Absent || d.has(exitName) || b.count() != 0 {
		t.Errorf("%s", code(st))
	}
}

// An adopter says that the act is in its hands once the process is the command, and not still about to become it.
func TestAdoptWaitsForTheCommand(t *testing.T) {
	b := faulty(t, "wait:stage-goes")
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"exit 3"))
	d, run := b.dirOf("a"), b.state("a")
	eventually(t, "the stage waits", func() bool { return exists(filepath.Join(b.cwd, "waits")) })
	b.killShim("a")
	b.shimEnv = nil
	adopted := make(chan error, 1)
	go func() { adopted <- b.Adopt(context.Background(), testSession, "a") }()
	eventually(t, "there is another shim", func() bool { s, ok := d.shim(); return ok && s.Adopted != 0 })
	select { // it waits for a second at most
	case err := <-adopted:
		t.Errorf("adopted before there was a command: %v", err)
		adopted <- err
	case <-time.After(200 * time.Millisecond):
	}
	b.touch("wake")
	if err := <-adopted; err != nil || isStage(run.PID, d) {
		t.Errorf("adopted: %v, still the stage: %v", err, isStage(run.PID, d))
	}
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 3" || b.output("a") != "up\n" {
		t.Errorf("%s, %q", code(st), b.output("a"))
	}
}

// hooked calls a function between the steps of this process.
func hooked(t *testing.T, hook func(step string)) {
	before := faultHook
	faultHook = hook
	t.Cleanup(func() { faultHook = before })
}

// What has to outlast a power failure is synced: the wish to kill, before any signal, and how a command ended.
func TestRecordsAreSynced(t *testing.T) {
	b := newBench(t)
	if err := b.Prepare(context.Background(), b.script("a", "true")); err != nil {
		t.Fatal(err)
	}
	var synced []string
	hooked(t, func(step string) {
		if name, ok := strings.CutPrefix(step, "sync-"); ok {
			synced = append(synced, name)
		}
	})
	d := b.dirOf("a")
	code := 0
	if err := errors.Join(d.recordIntent("user", 1, 0), d.writeExit(exitRecord{Version: 1, Code: &code})); err != nil {
		t.Fatal(err)
	}
	if err := d.writeExit(exitRecord{Version: 1, Code: &code}); err != nil { // its room is used up
		t.Fatal(err)
	}
	for i, want := range []string{intentName, spareName, ".tmp." + exitName} {
		if i >= len(synced) || !strings.HasPrefix(synced[i], want) {
			t.Fatalf("synced: %v", synced)
		}
	}
}

// The lock is looked at before the exit record: a command that ends in between has not lost its shim.
func TestLookWhileItEnds(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", untilGo+"exit 3"))
	d := b.dirOf("a")
	first := true
	hooked(t, func(step string) {
		if step != "exit-read" || !first {
			return
		}
		first = false
		b.touch("go")
		eventually(t, "the shim leaves", func() bool { held, err := d.held(); return err == nil && !held })
	})
	if st := b.state("a"); st.Status != command.Running || st.Reason != "" {
		t.Errorf("%s", code(st))
	}
	if st := b.state("a"); code(st) != "exited 3" {
		t.Errorf("%s", code(st))
	}
}

// endingShim returns a shim in this process whose command has printed and ended, and whose output nobody has taken yet.
func endingShim(t *testing.T) *shim {
	t.Helper()
	d := actDir(t.TempDir())
	t.Chdir(string(d))
	out, err := openOutput(d, execPlan{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.fifo.Close(); out.child.Close() })
	if _, err := out.child.WriteString("late"); err != nil {
		t.Fatal(err)
	}
	return &shim{dir: d, now: systemNow, out: out, in: &input{dir: d, fd: -1}, end: &ending{}, family: &children{}}
}

// The exit record counts what was printed before the end, and the last record what stragglers printed.
func TestDrainedBeforeTheRecord(t *testing.T) {
	s := endingShim(t)
	if err := s.record(false); err != nil || s.exit.Output != 4 {
		t.Errorf("recorded with %d bytes, %v", s.exit.Output, err)
	}
	s = endingShim(t)
	s.exit = exitRecord{Version: 1, Code: new(int), Stragglers: 1}
	s.leave()
	var rec exitRecord
	if err := readRecord(s.dir.path(exitName), &rec); err != nil || rec.Output != 4 || rec.Stragglers != 0 {
		t.Errorf("left with %+v, %v", rec, err)
	}
}

// A shim that takes over gives a command what is left of its time.
func TestAdoptedTimeLeft(t *testing.T) {
	self, err := readProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	s := &shim{dir: actDir(b.cwd), adopted: true, now: systemNow}
	run := runRecord{PID: self.PID, StartTicks: self.Ticks}
	text, _ := json.Marshal(run)
	if err := os.WriteFile(s.dir.path(runName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "this process is old enough", func() bool { return processAge(run) > 50*time.Millisecond })
	if left := s.timeLeft(time.Hour); left >= time.Hour {
		t.Errorf("%v of an hour are left", left)
	}
}

// Goal: a command that puts a link or a file in the place of its own directory loses its own record, and nothing else:
// the act is settled as lost, and no record is taken from where the link leads.
func TestDirectoryReplaced(t *testing.T) {
	for name, script := range map[string]string{
		"link to a directory": `ln -s "$VICTIM" "$PERDURE_ACT"`, "link to nothing": `ln -s /nothing/here "$PERDURE_ACT"`, "link to itself": `ln -s "$PERDURE_ACT" "$PERDURE_ACT"`,
		"file": `echo x > "$PERDURE_ACT"`, "pipe": `mkfifo "$PERDURE_ACT"`, "nothing": "true",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.run("v", "echo the record of another; exit 7")
			b.left("v")
			victim := string(b.dirOf("v"))
			b.start(b.script("a", `cd /; mv "$PERDURE_ACT" "$PERDURE_ACT.moved"; VICTIM='`+victim+`'; `+script))
			for deadline := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
				if _, err := os.Stat(string(b.dirOf("a")) + ".moved/" + exitName); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the command does not end")
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range 2 { // a settled act stays as it was settled
				st, err := b.Settle(ctx, testSession, "a")
				if err != nil || st.Status != command.Lost {
					t.Fatalf("settled as %+v, %v", st, err)
				}
			}
			if st, err := b.Settle(ctx, testSession, "v"); err != nil || st.ExitCode == nil || *st.ExitCode != 7 {
				t.Errorf("the other act: %+v, %v", st, err)
			}
			if out, _, _, err := b.Read(testSession, "a", 0, 0); err != nil || len(out) > 0 {
				t.Errorf("output %q, %v", out, err)
			}
		})
	}
}

// Goal: a pipe or a directory that a command puts in the place of a record of its own makes nobody wait: the act is
// settled, its output can be read, and what kept the command leaves as ever.
func TestRecordsReplaced(t *testing.T) {
	for _, kind := range []string{"mkfifo", "mkdir"} {
		for _, name := range []string{endName, spareName, lockName, runName, intentName, exitName, claimName, segmentName(0), segmentName(9), logName, detachName} {
			t.Run(kind+" "+name, func(t *testing.T) {
				b := newBench(t)
				b.start(b.script("a", `echo out; rm -rf "$PERDURE_ACT/`+name+`"; `+kind+` "$PERDURE_ACT/`+name+`"; echo x > "$PERDURE_ACT/`+name+`/x"`))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				done := make(chan error, 1)
				go func() {
					for {
						st, err := b.Settle(ctx, testSession, "a")
						if err != nil || st.Status != command.Running {
							if err == nil {
								_, _, _, err = b.Read(testSession, "a", 0, 0)
							}
							done <- err
							return
						}
						<-time.After(5 * time.Millisecond)
					}
				}()
				select {
				case err := <-done:
					if err != nil {
						t.Error(err)
					}
				case <-ctx.Done():
					t.Fatal("somebody waits for a pipe")
				}
				for end := time.Now().Add(20 * time.Second); len(b.keepers()) > 0; <-time.After(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("its shim stays")
					}
				}
			})
		}
	}
}
