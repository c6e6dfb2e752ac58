package task

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// statSize is more than a stat file has.
const statSize = 1024

// procStat is what matters of a process's stat file.
type procStat struct {
	process
	own  time.Duration   // processor time that it has used itself
	cpu  time.Duration   // and with it the children that it has reaped
	rss  int64           // resident memory in bytes
	exit unix.WaitStatus // how it ended, if it has and the kernel shows that to this process
	told bool            // the file has exit
}

// readProcess returns one row of the process table.
func readProcess(pid int) (process, error) {
	s, err := readStat(pid)
	return s.process, err
}

// usage returns the processor time, reaped children included, and the resident memory of a process.
func usage(pid int) (cpu time.Duration, rss int64) {
	s, _ := readStat(pid)
	return s.cpu, s.rss
}

// ownTime returns the processor time that a process has used itself, as long as nobody has reaped it.
func ownTime(pid int) time.Duration {
	s, _ := readStat(pid)
	return s.own
}

func readStat(pid int) (procStat, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return procStat{}, err
	}
	defer unix.Close(fd)
	var buf [statSize]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return procStat{}, err
	}
	return parseStat(pid, buf[:n])
}

// parseStat reads the fields after the last ')': the command name before it may contain anything. It allocates nothing,
// since the whole process table goes through it.
func parseStat(pid int, b []byte) (procStat, error) {
	const (
		state, ppid, pgrp, sid, user, system, childSystem, threads, start, resident, exit = 0, 1, 2, 3, 11, 12, 14, 17, 19, 21, 49
	)
	s, field, many := procStat{process: process{PID: pid}}, 0, uint64(0)
	for rest := b[bytes.LastIndexByte(b, ')')+1:]; len(rest) > 0; field++ {
		rest = bytes.TrimLeft(rest, " \n")
		end := bytes.IndexAny(rest, " \n")
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		rest = rest[end:]
		if field == state {
			if len(word) != 1 {
				break
			}
			s.State = word[0]
			continue
		}
		n, ok := number(word)
		switch {
		case field == ppid:
			s.PPID = int(n)
		case field == pgrp:
			s.PGID = int(n)
		case field == sid:
			s.SID = int(n)
		case field >= user && field <= childSystem:
			if s.cpu += time.Duration(n) * tick; field <= system {
				s.own = s.cpu
			}
		case field == threads:
			many = n
		case field == start:
			if s.Ticks = n; !ok {
				return procStat{}, fmt.Errorf("stat of process %d: %w", pid, errDamaged)
			}
		case field == resident:
			s.rss = int64(n) * int64(os.Getpagesize())
		case field == exit:
			s.exit, s.told = unix.WaitStatus(n), ok
		}
	}
	if field <= start {
		return procStat{}, fmt.Errorf("stat of process %d: %w", pid, errDamaged)
	}
	if s.State == 'Z' && many > 1 {
		s.State = 'S' // only its first thread has ended
	}
	return s, nil
}

// number reads a decimal number. The few negative ones of a stat file matter to nobody.
func number(word []byte) (n uint64, ok bool) {
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, len(word) > 0
}
