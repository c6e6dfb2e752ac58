package task

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalNumber is the system's signal type.
type signalNumber = unix.Signal

// selfExe names the running binary even after it was replaced or deleted on disk.
func selfExe() (string, error) { return "/proc/self/exe", nil }

// systemBootID identifies this boot of the kernel.
func systemBootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// becomeSubreaper makes every orphan below this process its child, so that nothing escapes the tree.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// closeOnExecFrom keeps descriptors from first on out of every program that is executed later.
func closeOnExecFrom(first int) error {
	err := unix.CloseRange(uint(first), math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	return eachDescriptor(first, unix.CloseOnExec)
}

// descriptorDir lists the descriptors of the process that reads it.
const descriptorDir = "/proc/self/fd"

// preferAsVictim makes the kernel choose this process before its shim when memory runs out. Raising one's own score is
// always permitted; where it is not, nothing is lost.
func preferAsVictim() {
	const path, step, most = "/proc/self/oom_score_adj", 200, 1000
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
		_ = os.WriteFile(path, []byte(strconv.Itoa(min(n+step, most))), 0)
	}
}

// forbidTracing keeps other processes of the same user, the command first of all, from tracing this one and from reading
// its memory. Where it cannot, nothing is lost that rules could have kept.
func forbidTracing() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// fdatasync makes a file's content durable.
func fdatasync(fd int) error { return unix.Fdatasync(fd) }

// growPipe asks for a larger buffer; what there is stays where the system refuses.
func growPipe(fd, size int) {
	size = max(size, markedPages*os.Getpagesize()) // never one that a new pipe may have
	if now, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && now < size {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, size)
	}
}

// Sizes of a pipe, in pages. The kernel gives a new one 16 of them, or 1 or 2 when the user has many pipes; then it
// refuses to make one larger, but not smaller.
const (
	markedPages = 32
	fewerPages  = 8
)

// markPipe gives a pipe a size by which newPipe knows it.
func markPipe(fd int) {
	for _, pages := range []int{markedPages, fewerPages} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pages*os.Getpagesize()); err == nil {
			return
		}
	}
}

// newPipe says whether a pipe was never marked, or nobody can tell.
func newPipe(fd int) bool {
	size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		return true
	}
	switch size / os.Getpagesize() {
	case 1, 2, 16:
		return true
	}
	return false
}

// moveBytes moves up to most bytes from a pipe into a file at the given offset. The kernel takes a byte off the pipe
// after it has written it, without returning in between: no death of this process can lose one.
func moveBytes(pipe int, to *os.File, at int64, most int) (moved, lost int, err error) {
	for {
		off := at
		n, err := unix.Splice(pipe, nil, int(to.Fd()), &off, most, unix.SPLICE_F_NONBLOCK)
		switch err {
		case unix.EINTR:
		case unix.EINVAL: // this filesystem has no such thing
			return copyBytes(pipe, to, at, most)
		default:
			return int(max(n, 0)), 0, err
		}
	}
}

// mkfifoIn makes a FIFO in an open directory.
func mkfifoIn(dir *os.File, _, name string, mode uint32) error {
	return unix.Mkfifoat(int(dir.Fd()), name, mode)
}

// pending returns how many bytes a pipe holds.
func pending(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// processes returns the process table. Rows that vanish meanwhile are left out.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make([]process, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, err := readProcess(pid); err == nil {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// nextDead returns a child that has ended and is not reaped, and how it ended; pid 0 when there is none. left says
// whether there is any child at all.
func nextDead() (pid int, status unix.WaitStatus, left bool) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || info.Signo == 0 {
			return 0, 0, err == nil
		}
		// The kernel's layout: three numbers, and then a union that is aligned like a pointer.
		const word = unsafe.Sizeof(uintptr(0))
		child := (*struct {
			pid, uid, status int32
		})(unsafe.Add(unsafe.Pointer(&info), (12+word-1)/word*word))
		const exited, dumped, core = 1, 3, 0x80
		switch status = unix.WaitStatus(child.status); info.Code {
		case exited:
			status <<= 8
		case dumped:
			status |= core
		}
		return int(child.pid), status, true
	}
}

// forgetDead reaps a child that nextDead has returned.
func forgetDead(pid int) { reaped(pid, nil, unix.WNOHANG) }

// shimAttr detaches a new shim from the agent's session and terminal.
func shimAttr(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, PidFD: pidfd}
}

// reapWhenDead collects the exit status of a child without holding a thread, because the runtime's poller watches the
// pidfd. It reports whether the child ended by itself and well.
func reapWhenDead(pid, pidfd int) (clean bool) {
	defer func() { unix.Close(pidfd) }() // or -1, which is none
	var ws unix.WaitStatus
	if unix.SetNonblock(pidfd, true) == nil {
		f := os.NewFile(uintptr(pidfd), "pidfd")
		pidfd = -1
		defer f.Close()
		if c, err := f.SyscallConn(); err == nil {
			done := false
			_ = c.Read(func(uintptr) bool {
				done = reaped(pid, &ws, unix.WNOHANG)
				return done
			})
			if done {
				return ws.Exited() && ws.ExitStatus() == 0
			}
		}
	}
	reaped(pid, &ws, 0)
	return ws.Exited() && ws.ExitStatus() == 0
}

func reaped(pid int, ws *unix.WaitStatus, flags int) bool {
	for {
		n, err := unix.Wait4(pid, ws, flags, nil)
		if err != unix.EINTR {
			return err != nil || n == pid
		}
	}
}
