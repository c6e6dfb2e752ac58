package task

import (
	"slices"
	"time"
)

// Survey is Inspect for many commands: the process table and the listening sockets are read once for all of them. It
// leaves PSS out, which costs more than all the rest. Commands of which no process is left, and those that nothing is
// known of, are not in the result.
func (r *Runner) Survey(targets []Target) map[Target]Inspection {
	out := make(map[Target]Inspection, len(targets))
	s := &survey{}
	for _, t := range targets {
		d, err := r.act(t.Session, t.Act)
		if err != nil {
			continue
		}
		run, err := d.readRun()
		if err != nil {
			continue // just starting, or gone
		}
		if in := s.inspect(d, run, len(targets) >= tableWorth); len(in.PIDs) > 0 {
			out[t] = in
		}
	}
	return out
}

// tableWorth is from how many commands on one look at the process table is cheaper than asking each shim for its
// children.
const tableWorth = 32

// survey is one look at the machine, taken as far as it is needed.
type survey struct {
	table    *table
	sockets  map[uint64]int // ports by socket, in this process's network
	asked    bool
	portless bool // the kernel did not tell
	network  string
}

// table is the process table with what each process uses.
type table struct {
	rows  map[int]tableRow
	below map[int][]int
	all   []process
	env   map[int][]byte // environments read so far, for adopted commands
}

type tableRow struct {
	process
	cpu time.Duration
	rss int64
}

func (s *survey) inspect(d actDir, run runRecord, byTable bool) Inspection {
	in := Inspection{Ports: []int{}, Age: processAge(run)}
	shim, ok := d.shimRecord()
	switch {
	case !ok:
		return in
	case shim.Adopted != 0:
		t := findTraces(d, run)
		t.environ = s.processes().environ
		for _, p := range t.among(s.processes().all) {
			in.PIDs = append(in.PIDs, p.PID)
		}
	case byTable:
		in.PIDs = s.processes().descendants(shim.PID, shim.Ticks)
	case alive(shim.PID, shim.Ticks):
		in.PIDs = below(shim.PID)
	}
	slices.Sort(in.PIDs)
	for _, pid := range in.PIDs {
		if s.table != nil {
			in.CPU, in.RSS = in.CPU+s.table.rows[pid].cpu, in.RSS+s.table.rows[pid].rss
			continue
		}
		cpu, rss := usage(pid)
		in.CPU, in.RSS = in.CPU+cpu, in.RSS+rss
	}
	in.Ports = s.ports(in.PIDs)
	return in
}

func (s *survey) processes() *table {
	if s.table == nil {
		s.table = readTable()
	}
	return s.table
}

// descendants returns the living processes below exactly this one.
func (t *table) descendants(root int, ticks uint64) (pids []int) {
	if t.rows[root].Ticks != ticks {
		return nil
	}
	queue := []int{root}
	for len(queue) > 0 && len(pids) <= len(t.rows) {
		for _, pid := range t.below[queue[0]] {
			queue = append(queue, pid)
			if !t.rows[pid].dead() {
				pids = append(pids, pid)
			}
		}
		queue = queue[1:]
	}
	return pids
}

// environ is a process's environment, read once.
func (t *table) environ(pid int) []byte {
	b, ok := t.env[pid]
	if !ok {
		b = environ(pid)
		t.env[pid] = b
	}
	return b
}

func newTable(size int) *table {
	return &table{rows: make(map[int]tableRow, size), below: make(map[int][]int, size), env: map[int][]byte{}}
}

func (t *table) add(p tableRow) {
	t.rows[p.PID] = p
	t.below[p.PPID] = append(t.below[p.PPID], p.PID)
	t.all = append(t.all, p.process)
}
