package task

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalNumber is the system's signal type.
type signalNumber = unix.Signal

// selfExe names the running binary.
func selfExe() (string, error) { return os.Executable() }

// systemBootID identifies this boot by its time.
func systemBootID() (string, error) {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "", fmt.Errorf("read boot time: %w", err)
	}
	return fmt.Sprintf("boottime-%d.%06d", tv.Sec, tv.Usec), nil
}

// becomeSubreaper has no equivalent here: processes that leave the tree are found only as long as their parents live.
func becomeSubreaper() error { return nil }

// closeOnExecFrom keeps descriptors from first on out of every program that is executed later.
func closeOnExecFrom(first int) error { return eachDescriptor(first, unix.CloseOnExec) }

// descriptorDir lists the descriptors of the process that reads it.
const descriptorDir = "/dev/fd"

// forbidTracing has no meaning that could be had here without root.
func forbidTracing() {}

// preferAsVictim has no equivalent here.
func preferAsVictim() {}

// fdatasync makes a file's content durable, past the drive's cache.
func fdatasync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	return err
}

// trimMemory has no equivalent here.
func trimMemory() (written [][2]uintptr, release func()) { return nil, func() {} }

// growPipe has no equivalent here: the system grows busy pipes itself.
func growPipe(_, _ int) {}

// This system does not say how large a pipe is: of none is known that it is the one that there was before.
func markPipe(int)     {}
func newPipe(int) bool { return true }

// mkfifoIn makes a FIFO in a directory, by its path: the system has no other call.
func mkfifoIn(_ *os.File, path, name string, mode uint32) error {
	return unix.Mkfifo(path+"/"+name, mode)
}

// moveBytes moves up to most bytes from a pipe into a file at the given offset. A death between the two calls loses
// what was read.
func moveBytes(pipe int, to *os.File, at int64, most int) (moved, lost int, err error) {
	return copyBytes(pipe, to, at, most)
}

// pending returns how many bytes a pipe holds.
func pending(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCOUTQ)
	if err != nil || n <= 0 {
		return 1 << 16
	}
	return n
}

// readProcess returns one row of the process table.
func readProcess(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	return fromKinfo(k), nil
}

func fromKinfo(k *unix.KinfoProc) process {
	const zombie = 5
	p := process{PID: int(k.Proc.P_pid), PPID: int(k.Eproc.Ppid), PGID: int(k.Eproc.Pgid), State: 'R'}
	p.Ticks = uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec)
	if k.Proc.P_stat == zombie {
		p.State = 'Z'
	}
	return p
}

// processes returns the process table.
func processes() ([]process, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(rows))
	for i := range rows {
		all = append(all, fromKinfo(&rows[i]))
	}
	return all, nil
}

// processHandle is only the pid here: between the identity check and the signal a pid could in theory be reused.
type processHandle struct{ pid int }

func openProcess(pid int) (processHandle, error)      { return processHandle{pid}, nil }
func (h processHandle) signal(sig signalNumber) error { return unix.Kill(h.pid, sig) }
func (h processHandle) close()                        {}

// descriptor says that there is nothing to hand on.
func (h processHandle) descriptor() (uintptr, bool) { return 0, false }

func inheritedHandle(int) *processHandle { return nil }

// ended says whether the process has ended.
func (h processHandle) ended(pid int, ticks uint64) bool { return !alive(pid, ticks) }

// waitEnd returns when the process has ended.
func (h processHandle) waitEnd(pid int, ticks uint64) {
	for !h.ended(pid, ticks) {
		<-time.After(100 * time.Millisecond)
	}
}

// exitStatus has no equivalent here: how a process ended is told to its parent only.
func (h processHandle) exitStatus(int, uint64) (unix.WaitStatus, bool) { return 0, false }

// environ is not looked at here: a family without its shim is found by descent.
func environ(int) []byte { return nil }

// isStage is not looked at here; it costs a moment in which a command seems to run that never will.
func isStage(int, actDir) bool { return false }

// processAge returns how long ago a command began, by the wall clock.
func processAge(run runRecord) time.Duration {
	return systemNow().Sub(time.UnixMilli(run.Started))
}

// nextDead reaps a child that has ended and returns how; pid 0 when there is none. left says whether there is any child
// at all.
func nextDead() (pid int, status unix.WaitStatus, left bool) {
	for {
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if err != unix.EINTR {
			return max(pid, 0), status, err == nil
		}
	}
}

// forgetDead has nothing left to do.
func forgetDead(int) {}

// shimAttr detaches a new shim from the agent's session and terminal.
func shimAttr(pidfd *int) *syscall.SysProcAttr {
	*pidfd = -1
	return &syscall.SysProcAttr{Setsid: true}
}

// reapWhenDead collects the exit status of a child and reports whether it ended by itself and well.
func reapWhenDead(pid, _ int) (clean bool) {
	for {
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != unix.EINTR {
			return err == nil && ws.Exited() && ws.ExitStatus() == 0
		}
	}
}
