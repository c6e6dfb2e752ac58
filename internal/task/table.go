//go:build linux || darwin

package task

import (
	"slices"
	"sync"
	"time"
)

// processTable is the process table with what each process uses, as of one moment. It is safe for concurrent use.
type processTable struct {
	rows  map[int]tableRow
	below map[int][]int

	once   sync.Once
	marked map[string][]int // processes by the act that their environment names
	named  map[int]bool     // those that name one
	bySID  map[int][]int
}

type tableRow struct {
	process
	cpu time.Duration
	rss int64
}

func newTable(rows []tableRow) *processTable {
	t := &processTable{rows: make(map[int]tableRow, len(rows)), below: make(map[int][]int, len(rows))}
	for _, row := range rows {
		t.rows[row.PID] = row
		t.below[row.PPID] = append(t.below[row.PPID], row.PID)
	}
	return t
}

// descendants returns the living processes of the command below exactly this shim.
func (t *processTable) descendants(shim shimRecord) []int {
	if t.rows[shim.PID].Ticks != shim.Ticks {
		return nil
	}
	return slices.DeleteFunc(t.with(slices.Clone(t.below[shim.PID])), func(pid int) bool { return pid == shim.Standby })
}

// with returns the living ones of some processes and of all that is below them.
func (t *processTable) with(queue []int) (pids []int) {
	seen := make(map[int]bool, len(queue))
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		queue = append(queue, t.below[pid]...)
		if !t.rows[pid].dead() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// family returns the living processes of a command whose shim has died, by what they carry; see traces.
func (t *processTable) family(d actDir, run runRecord) []int {
	t.once.Do(t.readMarks)
	roots := slices.Clone(t.marked[string(d)])
	if p, ok := t.rows[run.PID]; ok && p.Ticks == run.StartTicks {
		roots = append(roots, run.PID)
	}
	if leader, ok := t.rows[run.SID]; run.SID > 0 && (!ok || leader.dead()) { // else the number is somebody else's by now
		for _, pid := range t.bySID[run.SID] {
			if !t.named[pid] {
				roots = append(roots, pid)
			}
		}
	}
	return t.with(slices.DeleteFunc(roots, func(pid int) bool { return t.rows[pid].Ticks < run.StartTicks }))
}

func (t *processTable) readMarks() {
	t.marked, t.named, t.bySID = map[string][]int{}, map[int]bool{}, map[int][]int{}
	for pid, p := range t.rows {
		t.bySID[p.SID] = append(t.bySID[p.SID], pid)
		if act, ok := actOf(environ(pid)); ok {
			t.marked[act], t.named[pid] = append(t.marked[act], pid), true
		}
	}
}
