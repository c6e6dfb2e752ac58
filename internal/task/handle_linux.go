package task

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processHandle holds on to one process, whatever becomes of its pid.
type processHandle struct{ fd int }

func openProcess(pid int) (processHandle, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	return processHandle{fd}, err
}

func (h processHandle) signal(sig signalNumber) error { return unix.PidfdSendSignal(h.fd, sig, nil, 0) }
func (h processHandle) close()                        { unix.Close(h.fd) }

// descriptor is what a child process may inherit of the handle.
func (h processHandle) descriptor() (uintptr, bool) { return uintptr(h.fd), true }

func inheritedHandle(fd int) *processHandle { return &processHandle{fd} }

// waitEnd returns when the process has ended, reaped or not. It holds no thread where pidfds can be polled.
func (h processHandle) waitEnd(pid int, ticks uint64) {
	fd, err := unix.FcntlInt(uintptr(h.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		_ = unix.SetNonblock(fd, true) // a handle that cannot be polled is looked at, below
		f := os.NewFile(uintptr(fd), "pidfd")
		defer f.Close()
		if c, err := f.SyscallConn(); err == nil && c.Read(func(uintptr) bool { return h.ended(pid, ticks) }) == nil {
			return
		}
	}
	for !h.ended(pid, ticks) {
		<-time.After(lastPoll)
	}
}

// ended says whether all threads of the process have ended.
func (h processHandle) ended(int, uint64) bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}

// exitStatus asks how an ended process that is not this one's child ended: as long as its parent has not reaped it, its
// row in the process table tells; after that, newer kernels remember for those who held a handle.
func (h processHandle) exitStatus(pid int, ticks uint64) (unix.WaitStatus, bool) {
	const tries = 100 // its parent may be just about to reap it
	for range tries {
		if status, ok := zombieStatus(pid, ticks); ok {
			return status, true
		}
		info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
		if err := unix.IoctlPidfdInfo(h.fd, &info); err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0 {
			return unix.WaitStatus(info.Exit_code), true
		} else if err != nil && err != unix.ESRCH {
			return 0, false
		}
		<-time.After(time.Millisecond)
	}
	return 0, false
}

// zombieStatus reads the exit status of a process that nobody has reaped.
func zombieStatus(pid int, ticks uint64) (unix.WaitStatus, bool) {
	if !mayInspect(pid) { // then the status would read as 0
		return 0, false
	}
	s, err := readStat(pid)
	if err != nil || s.Ticks != ticks || !s.dead() || !s.told {
		return 0, false
	}
	return s.exit, true
}

// mayInspect reports whether the kernel shows this process the guarded fields of another one, the exit status among them.
// The name of a namespace is guarded by the same check. The files that only their owner may open would not do: those of
// a process that has ended belong to root, whoever it was.
func mayInspect(pid int) bool {
	var name [64]byte
	_, err := unix.Readlink(procPath(pid, "ns/user"), name[:])
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil
	}
	return owns(pid) // a kernel without user namespaces: the owner may
}

// owns reports whether a process is there and belongs to the user of this one.
func owns(pid int) bool {
	var info unix.Stat_t
	return unix.Stat(procPath(pid, ""), &info) == nil && int(info.Uid) == os.Geteuid()
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// environ returns the environment with which a process began its program, or nothing.
func environ(pid int) []byte {
	b, _ := os.ReadFile(procPath(pid, "environ"))
	return b
}

// isStage says whether a living process is still an exec stage of this act. In the middle of an exec it may be.
func isStage(pid int, dir actDir) bool {
	b, _ := os.ReadFile(procPath(pid, "cmdline"))
	return len(b) == 0 || bytes.HasSuffix(b, []byte("\x00"+stageArg+"\x00"+string(dir)+"\x00"))
}

// tick is the unit in which every Linux reports times of processes.
const tick = time.Second / 100

// processAge returns how long ago a command began.
func processAge(run runRecord) time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano()) - time.Duration(run.StartTicks)*tick
}
