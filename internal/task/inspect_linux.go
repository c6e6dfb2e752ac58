package task

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// below returns the pids of all processes below root. It asks each process for its children, which is much faster than
// the whole table, and takes the table where the kernel does not tell.
func below(root int) []int {
	found, err := walk(root, childrenOf)
	if err != nil {
		return belowByTable(root)
	}
	return slices.DeleteFunc(found, func(pid int) bool {
		p, err := readProcess(pid)
		return err != nil || p.dead()
	})
}

// maxWalk bounds a walk: a tree may grow as fast as it is walked.
const maxWalk = 1 << 15

// walk returns the pids of about maxWalk processes below root at most, parents before children. Its error is the one
// about root: other processes may end meanwhile.
func walk(root int, children func(pid int) ([]int, error)) (found []int, err error) {
	found, err = children(root)
	for i := 0; i < len(found) && len(found) < maxWalk; i++ {
		more, _ := children(found[i])
		found = append(found, more...)
	}
	return found, err
}

// childrenOf asks the kernel for a process's children.
func childrenOf(pid int) (children []int, err error) {
	threads, err := os.ReadDir(procPath(pid, "task"))
	for _, thread := range threads {
		text, err := os.ReadFile(procPath(pid, "task/"+thread.Name()+"/children"))
		if err != nil {
			return children, err
		}
		for _, f := range bytes.Fields(text) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children, err
}

// readTable reads the process table. Rows that vanish meanwhile are left out.
func readTable() *processTable {
	dir, err := os.Open("/proc")
	if err != nil {
		return newTable(nil)
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	rows := make([]tableRow, len(names))
	inParallel(len(names), func(i int) {
		pid, ok := number([]byte(names[i]))
		if !ok {
			return
		}
		if s, err := readStat(int(pid)); err == nil {
			rows[i] = tableRow{process: s.process, cpu: s.cpu, rss: s.rss}
		}
	})
	return newTable(slices.DeleteFunc(rows, func(r tableRow) bool { return r.PID == 0 }))
}

// share returns the memory of a process with shared pages divided among those who share them.
func share(pid int) int64 {
	b, err := os.ReadFile(procPath(pid, "smaps_rollup"))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == "Pss:" {
			kib, _ := strconv.ParseInt(string(f[1]), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// addSockets collects the inodes of a process's sockets.
func addSockets(pid int, sockets map[uint64]bool) {
	eachSocket(pid, func(inode uint64) { sockets[inode] = true })
}

// eachSocket calls do with the inode of each of a process's sockets, of the first few thousand descriptors.
func eachSocket(pid int, do func(inode uint64)) {
	dir, err := openRetry(procPath(pid, "fd"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	var entries [4 << 10]byte
	const mostReads = 64
	for range mostReads {
		n, err := unix.ReadDirent(dir, entries[:])
		if n <= 0 || err != nil {
			return
		}
		_, _, names := unix.ParseDirent(entries[:n], -1, nil)
		for _, name := range names {
			var buf [64]byte
			n, err := unix.Readlinkat(dir, name, buf[:])
			if err != nil {
				continue
			}
			if digits, ok := strings.CutPrefix(string(buf[:n]), "socket:["); ok {
				if inode, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 64); err == nil {
					do(inode)
				}
			}
		}
	}
}
