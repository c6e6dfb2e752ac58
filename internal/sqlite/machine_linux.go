package sqlite

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// thisMachine reads who and where this process is. What cannot be read stays empty.
func thisMachine() *identity {
	me := &identity{pid: os.Getpid(), boot: firstLine("/proc/sys/kernel/random/boot_id"), machine: firstLine("/etc/machine-id")}
	me.host, _ = os.Hostname()
	me.namespace, _ = os.Readlink("/proc/self/ns/pid")
	_, me.ticks = stateOf("self")
	return me
}

// stateOf reads the state of a process and when it started; zero and 0 if there is none.
func stateOf(pid string) (state byte, ticks uint64) {
	stat := firstLine("/proc/" + pid + "/stat")
	// The name in parentheses may hold anything; what follows it begins with field 3, the state. The start is field 22.
	if fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]); len(fields) > 19 {
		state = fields[0][0]
		ticks, _ = strconv.ParseUint(fields[19], 10, 64)
	}
	return state, ticks
}

// ended tells that the process which started at ticks is gone, or has been killed and will run no more code of its own.
func ended(pid int, ticks uint64) bool {
	state, now := stateOf(strconv.Itoa(pid))
	if state == 0 || state == 'Z' || state == 'X' || now != ticks {
		return true
	}
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // unreadable: it goes this moment
	return killed(string(status))
}

// killed tells that a SIGKILL is on its way to the process of a status.
func killed(status string) bool {
	for _, field := range []string{"\nSigPnd:\t", "\nShdPnd:\t"} {
		_, rest, _ := strings.Cut(status, field)
		line, _, _ := strings.Cut(rest, "\n")
		if set, err := strconv.ParseUint(line, 16, 64); err == nil && set&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}

// networkFS names the filesystem of a directory and reports whether its locks or syncs depend on another machine.
func networkFS(dir string) (string, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", false
	}
	switch uint32(st.Type) {
	case 0x6969:
		return "nfs", true
	case 0x517b, 0xfe534d42, 0xff534d42:
		return "smb", true
	case 0x01021997:
		return "9p", true
	case 0x5346414f, 0x6b414653:
		return "afs", true
	case 0x73757245:
		return "coda", true
	case 0x00c36400:
		return "ceph", true
	case 0x0bd00bd0:
		return "lustre", true
	case 0x01161970, 0x7461636f, 0x47504653, 0x19830326, 0x20030528, 0x61636673:
		return "cluster filesystem", true
	case 0x786f4256, 0xbacbacbc, 0x7c7c6673:
		return "folder shared with a virtual machine's host", true
	case unix.FUSE_SUPER_MAGIC:
		return fuse(dir)
	}
	return "", false
}

// fuse finds the type of the FUSE filesystem that a directory is on. Those known to be local are let through; of the
// others nobody can say where the bytes go.
func fuse(dir string) (string, bool) {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return "fuse", true
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "fuse", true
	}
	defer func() { _ = f.Close() }()
	device := fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))
	for lines := bufio.NewScanner(f); lines.Scan(); {
		mount, rest, _ := strings.Cut(lines.Text(), " - ")
		fields, types := strings.Fields(mount), strings.Fields(rest)
		if len(fields) < 3 || len(types) < 1 || fields[2] != device {
			continue
		}
		switch types[0] {
		case "fuseblk", "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.bindfs", "fuse.mergerfs", "fuse.lxcfs":
			return types[0], false
		}
		return types[0], true
	}
	return "fuse", true
}

// syncedFile is a file whose Sync makes its content durable, and of what is known about it only what finds that.
type syncedFile struct{ *os.File }

func openSynced(path string) (syncedFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	return syncedFile{f}, err
}

func (f syncedFile) Sync() error { return unix.Fdatasync(int(f.Fd())) }
