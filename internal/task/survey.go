//go:build linux || darwin

package task

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// LookAll is Look for many commands at once, and Inspect for those of which a process is left: the process table and
// the listening sockets are read once for all of them. It leaves PSS out, which costs more than all the rest. The
// results are in the order of the targets.
func (r *Runner) LookAll(ctx context.Context, targets []Target) []Seen {
	out, views := make([]Seen, len(targets)), make([]view, len(targets))
	living := int64(0)
	var count sync.Mutex
	inParallel(len(targets), func(i int) {
		d, err := r.act(targets[i].Session, targets[i].Act)
		if err == nil {
			views[i], err = r.lookAdopting(ctx, d)
		}
		out[i].State, out[i].Err = views[i].State, err
		if views[i].left() {
			count.Lock()
			living++
			count.Unlock()
		}
	})
	s := &survey{}
	if living >= tableWorth {
		s.whole = s.table()
	}
	inParallel(len(targets), func(i int) {
		if v := views[i]; out[i].Err == nil && v.left() {
			d, _ := r.act(targets[i].Session, targets[i].Act)
			out[i].Use = s.inspect(d, v)
		}
	})
	return out
}

// tableWorth is from how many living commands on one look at the process table is cheaper than one at each tree.
const tableWorth = 32

// maxLook bounds how long one command may keep a look at many. Only adopting an orphan takes longer than a few system
// calls.
const maxLook = 5 * time.Second

func (r *Runner) lookAdopting(ctx context.Context, d actDir) (view, error) {
	v, err := r.look(d)
	if err != nil || !v.orphan {
		if err == nil && v.unrecorded() {
			return r.afterTheEnd(ctx, d, v)
		}
		return v, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	if v, err = r.lookAfter(d, r.adopt(ctx, d, nil)); err != nil {
		return v, err
	}
	return r.afterTheEnd(ctx, d, v)
}

// left says whether a process of the command may be there.
func (v view) left() bool { return v.Status == command.Running || v.Stragglers > 0 }

// inParallel calls do for 0 to n-1, in no order, on as many processors as there are, four at most.
func inParallel(n int, do func(i int)) {
	const most, worth = 4, 8 // for fewer calls another goroutine is not worth its start
	workers := min(runtime.GOMAXPROCS(0), most, max(n/worth, 1))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	all.Wait()
}

// survey is one look at the machine, taken as far as it is needed.
type survey struct {
	whole *processTable // nil when there are few commands, whose trees are looked at one by one
	once  sync.Once
	procs *processTable // read when it is needed

	asked   sync.Once
	sockets map[uint64]int // ports by socket, in this process's network
	network string         // its name; empty: the kernel did not tell
}

func (s *survey) table() *processTable {
	s.once.Do(func() { s.procs = readTable() })
	return s.procs
}

// inspect adds up what the processes of a command use.
func (s *survey) inspect(d actDir, v view) Inspection {
	in := Inspection{Ports: []int{}}
	switch {
	case v.run.PID == 0:
		return in // it is just starting
	case v.shim.PID == 0 || v.shim.Adopted != 0:
		in.PIDs = s.table().family(d, v.run)
	case s.whole != nil:
		in.PIDs = s.whole.descendants(v.shim)
	case alive(v.shim.PID, v.shim.Ticks):
		in.PIDs = v.shim.tree()
	}
	slices.Sort(in.PIDs)
	for _, pid := range in.PIDs {
		cpu, rss := s.usage(pid)
		in.CPU, in.RSS = in.CPU+cpu, in.RSS+rss
	}
	if len(in.PIDs) > 0 {
		in.Age, in.Ports = processAge(v.run), s.ports(in.PIDs)
	}
	return in
}

func (s *survey) usage(pid int) (cpu time.Duration, rss int64) {
	if s.whole != nil {
		row := s.whole.rows[pid]
		return row.cpu, row.rss
	}
	return usage(pid)
}
