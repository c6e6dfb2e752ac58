package bench

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
)

// taskHome is a home with tasks that people have started, as the real binary runs them.
type taskHome struct {
	*homes.Home
	t   *testing.T
	exe string
	dir string
}

func newTaskHome(t *testing.T) *taskHome {
	t.Helper()
	b := newShimBench(t)
	dir := filepath.Join(b.cwd, "home")
	h, err := homes.Open(t.Context(), dir, homes.Config{ShimPath: b.Exe})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return &taskHome{Home: h, t: t, exe: b.Exe[0], dir: dir}
}

// session makes a session with that many tasks, and returns its id.
func (h *taskHome) session(tasks int, argv ...string) string {
	h.t.Helper()
	id, err := h.Create(h.t.Context(), engine.Spec{Cwd: h.dir, Agent: session.Agent{Name: "none", Provider: "none", Model: "none"}})
	if err != nil {
		h.t.Fatal(err)
	}
	bodies := make([]session.Body, tasks)
	for i := range bodies {
		bodies[i] = &session.TaskRequested{Argv: argv, Command: argv[0], Cwd: h.dir, Name: strconv.Itoa(i)}
	}
	if err := h.DeliverAll(h.t.Context(), id, bodies...); err != nil {
		h.t.Fatal(err)
	}
	return id
}

// end ends every task that is left.
func (h *taskHome) end() {
	ctx := context.Background()
	tasks, _, err := h.Tasks().All(ctx)
	if err != nil {
		h.t.Error(err)
	}
	var targets []task.Target
	for _, t := range tasks {
		if t.Live() {
			targets = append(targets, task.Target{Session: t.SessionID, Act: t.Act})
		}
	}
	h.Commands().KillAll(ctx, targets, "bench")
}

// Goal: five hundred running tasks, with what each of them uses, are listed at once, whether one session has them all
// or each has its own, among sessions that have none; and the command that lists them starts quickly.
func TestTaskList(t *testing.T) {
	if !benching(t) {
		return
	}
	const many = 500
	for name, make := range map[string]func(h *taskHome){
		"one session": func(h *taskHome) { h.session(many, "sleep", "6000") },
		"a session each": func(h *taskHome) {
			for range many {
				h.session(1, "sleep", "6000")
				h.session(0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTaskHome(t)
			defer h.end()
			make(h)
			var looks, commands, works []time.Duration
			for range 11 {
				begin, work := time.Now(), processorTime(t)
				tasks, left, err := h.Tasks().All(t.Context())
				looks, works = append(looks, time.Since(begin)), append(works, processorTime(t)-work)
				if err != nil || len(left) > 0 || len(tasks) != many {
					t.Fatalf("%d tasks, %v, %v", len(tasks), left, err)
				}
				for _, v := range tasks {
					if v.Processes != 1 || v.RSS == nil {
						t.Fatalf("%+v", v)
					}
				}
				cmd := exec.CommandContext(t.Context(), h.exe, "task", "list", "--json")
				cmd.Env = append(os.Environ(), "PERDURE_HOME="+h.dir)
				begin = time.Now()
				out, err := cmd.Output()
				commands = append(commands, time.Since(begin))
				if err != nil || bytes.Count(out, []byte("\n")) != many {
					t.Fatalf("%v, %d lines", err, bytes.Count(out, []byte("\n")))
				}
			}
			t.Logf("%d running tasks listed in %v (%v of processor time); by the command in %v", many, median(looks), median(works), median(commands))
			if median(looks) > maxList {
				t.Errorf("at most %v", maxList)
			}
		})
	}
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// Goal: what is new is read at once, however much was printed before.
func TestTaskRead(t *testing.T) {
	if !benching(t) {
		return
	}
	const news, rounds = 4 << 10, 200
	sizes := []int64{news, 1 << 20, 1 << 30}
	h := newTaskHome(t)
	defer h.end()
	id := h.session(0)
	readers := make([]*homes.Reader, len(sizes))
	for i, size := range sizes {
		body := &session.TaskRequested{
			Argv: []string{"sh", "-c", "head -c " + strconv.FormatInt(size, 10) + " /dev/zero"}, Command: "head", Cwd: h.dir,
		}
		if err := h.Deliver(t.Context(), id, "", body); err != nil {
			t.Fatal(err)
		}
		for printed := int64(0); printed < size; {
			tasks, err := h.Tasks().List(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			printed = tasks[i].Output
		}
		r, err := h.Tasks().Reader(t.Context(), id, "bash_"+strconv.Itoa(i+1), "bench")
		if err != nil {
			t.Fatal(err)
		}
		readers[i] = r
	}
	times := make([][]time.Duration, len(sizes))
	for range rounds {
		for i, r := range readers {
			r.MoveTo(sizes[i] - news)
			begin := time.Now()
			n, err := r.Next(0)
			times[i] = append(times[i], time.Since(begin))
			if err != nil || len(n.Bytes) != news || n.Omitted != 0 {
				t.Fatalf("%d bytes, %d omitted, %v", len(n.Bytes), n.Omitted, err)
			}
		}
	}
	for i, size := range sizes {
		t.Logf("4 KiB that are new of %d KiB: %v", size>>10, median(times[i]))
		if median(times[i]) > maxRead {
			t.Errorf("at most %v", maxRead)
		}
	}
}
