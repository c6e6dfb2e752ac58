//go:build linux || darwin

package task

import "slices"

// process is one row of the process table. Ticks is its start time in the system's own unit: with pid and boot id it
// names a process for ever.
type process struct {
	PID, PPID, PGID, SID int
	Ticks                uint64
	State                byte
}

// dead is true for processes that only wait to be reaped. In a container whose pid 1 does not reap they stay for ever.
func (p process) dead() bool { return p.State == 'Z' || p.State == 'X' }

// alive says whether exactly this process still runs.
func alive(pid int, ticks uint64) bool {
	if pid <= 0 {
		return false
	}
	p, err := readProcess(pid)
	return err == nil && p.Ticks == ticks && !p.dead()
}

// signalProcess sends sig to exactly this process: the handle is opened first and the identity is compared after, so
// that a reused pid is never hit. It reports whether the process was still there.
func signalProcess(pid int, ticks uint64, sigs ...signalNumber) bool {
	h, err := openProcess(pid)
	if err != nil {
		return false
	}
	defer h.close()
	if !alive(pid, ticks) {
		return false
	}
	for _, sig := range sigs {
		if h.signal(sig) != nil {
			return false
		}
	}
	return true
}

// descendants returns every living process below root, parents before children.
func descendants(root int) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]process, len(all))
	for _, p := range all {
		children[p.PPID] = append(children[p.PPID], p)
	}
	queue, found := []int{root}, []process(nil)
	for len(queue) > 0 && len(found) <= len(all) {
		for _, p := range children[queue[0]] {
			queue, found = append(queue, p.PID), append(found, p)
		}
		queue = queue[1:]
	}
	return slices.DeleteFunc(found, process.dead), nil
}

// belowByTable returns the pids of all living processes below root.
func belowByTable(root int) []int {
	tree, err := descendants(root)
	if err != nil {
		return nil
	}
	pids := make([]int, 0, len(tree))
	for _, p := range tree {
		pids = append(pids, p.PID)
	}
	return pids
}
