package task

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// standby is a process that does nothing until its shim dies, and then becomes its replacement. Until then it holds the
// FIFO and a handle of the command: what a command prints and how it ends outlive the agent and the shim, even when both
// die in the same instant. It is a fork of the shim that never returns to Go code, so that it costs no start of a
// program and hardly any memory of its own. It is a child that the shim's ordinary waits do not see.
type standby struct {
	pid   int
	ticks uint64
	end   *os.File // whose end of file says that the shim died; a byte says that it is done
}

// record is what the lock says of it.
func (b *standby) record() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf(`,"standby":%d,"standby_ticks":%d`, b.pid, b.ticks)
}

// Descriptors of a stand-in. The first five are those of the replacement shim that it may become.
const (
	standbyHold  = 5 // the FIFO
	standbyWatch = 6 // the pipe whose other end the shim has
	// standbyAway is above all numbers that a shim uses, so that moving descriptors to their places overwrites none.
	standbyAway = 64
)

// standBy starts the stand-in. Without one the command runs all the same.
func (s *shim) standBy(drop ...[2]uintptr) {
	if os.Getenv(aloneKey) != "" {
		return
	}
	if err := s.startStandby(drop); err != nil {
		complain("stand-in: %v", err)
	}
}

// nameStandIn writes into the lock who takes over, before the shim says there who it is itself: should it die until then,
// a replacement knows whom to leave the act to.
func (s *shim) nameStandIn() {
	if s.standby == nil {
		return
	}
	text := fmt.Sprintf(`{"version":%d%s}`, formatVersion, s.standby.record())
	if err := overwrite(s.dir.path(lockName), []byte(text), false); err != nil {
		complain("name the stand-in: %v", err)
	}
}

// standByAnew replaces the stand-in by one that gives back a program's variables, which it has no more use for. It is
// there before the old one goes.
func (s *shim) standByAnew(variables [][2]uintptr) {
	old := s.standby
	if old == nil {
		return
	}
	if s.standBy(variables...); s.standby == old {
		return
	}
	old.dismiss()
	if err := s.publish(); err != nil {
		complain("publish: %v", err)
	}
}

func (s *shim) startStandby(drop [][2]uintptr) error {
	var files []int
	defer func() {
		for _, fd := range files {
			unix.Close(fd)
		}
	}()
	away := func(fd int, err error) (uintptr, error) {
		if err != nil {
			return 0, err
		}
		files = append(files, fd)
		n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, standbyAway)
		files = append(files, n)
		return uintptr(n), err
	}
	null, err := away(openRetry(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0))
	if err != nil {
		return err
	}
	hold, err := away(openRetry(s.dir.path(fifoName), fifoOpenFlags, 0))
	if err != nil {
		return err
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	env, handle := append(append(reexecEnv(adoptArg), bootKey+"="+s.plan.BootID, standbyKey, fmt.Sprintf("%s=%d:%d", ofKey, self.PID, self.Ticks)), standbyEnv...), null
	if fd, err := s.commandHandle(); err == nil {
		if handle, err = away(fd, nil); err != nil {
			return err
		}
		env = append(env, handleKey)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	watch, err := unix.FcntlInt(r.Fd(), unix.F_DUPFD_CLOEXEC, standbyAway)
	if err != nil {
		w.Close()
		return err
	}
	files = append(files, watch)
	plan := standbyPlan{moves: [4][2]uintptr{{null, readyFD}, {handle, commandFD}, {hold, standbyHold}, {uintptr(watch), standbyWatch}}, drop: drop}
	if err := plan.prepare(string(s.path), env); err != nil {
		w.Close()
		return err
	}
	pid, err := plan.fork()
	if err != nil {
		w.Close()
		return fmt.Errorf("fork: %w", err)
	}
	s.standby = &standby{pid: pid, end: w}
	if p, err := readProcess(pid); err == nil {
		s.standby.ticks = p.Ticks
	}
	if c, ok := s.family.(*children); ok {
		c.standby = pid
	}
	return nil
}

// commandHandle opens a handle of the command.
func (s *shim) commandHandle() (int, error) {
	if !s.adopted {
		return unix.PidfdOpen(s.pid, 0)
	}
	if t, ok := s.family.(*traces); ok && t.held {
		return unix.FcntlInt(uintptr(t.command.fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	return 0, unix.ESRCH
}

// dismiss ends the stand-in: the shim's work is done.
func (s *shim) dismiss() {
	if s.standby != nil {
		s.standby.dismiss()
		s.standby = nil
	}
}

func (b *standby) dismiss() {
	_, _ = b.end.Write([]byte{1})
	for {
		if _, err := unix.Wait4(b.pid, nil, unix.WALL, nil); err != unix.EINTR {
			break
		}
	}
	b.end.Close()
}

// standbyPlan is all that a stand-in needs after the fork, when it must not allocate.
type standbyPlan struct {
	moves     [4][2]uintptr // descriptors, and the numbers they get
	path      *byte
	argv, env []*byte
	role      *byte        // the shim's own argument, in place
	drop      [][2]uintptr // memory that it needs no more
	mask      unix.Sigset_t
	got       [8]byte
}

func (p *standbyPlan) prepare(dir string, env []string) (err error) {
	exe, err := selfExe()
	if err != nil {
		return err
	}
	if p.path, err = syscall.BytePtrFromString(exe); err != nil {
		return err
	}
	if p.argv, err = syscall.SlicePtrFromStrings([]string{exe, shimArg, dir}); err != nil {
		return err
	}
	if n := len(os.Args); n >= 2 && len(os.Args[n-2]) == len(standbyArg) {
		p.role = unsafe.StringData(os.Args[n-2]) // the runtime hands out the kernel's own copy
	}
	p.env, err = syscall.SlicePtrFromStrings(env)
	return err
}

// fork makes the stand-in, with all signals blocked: no handler of this program may run in it. Its parent gets no signal
// when it ends, which makes it one that only a wait with WALL collects.
func (p *standbyPlan) fork() (pid int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	all := unix.Sigset_t{}
	for i := range all.Val {
		all.Val[i] = math.MaxUint64
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &p.mask); err != nil {
		return 0, err
	}
	n, errno := p.split()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &p.mask, nil); err != nil {
		return 0, err
	}
	runtime.KeepAlive(p)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// split returns in the parent only. What follows the fork is system calls, on a stack that does not grow.
//
//go:nosplit
//go:norace
//go:noinline
func (p *standbyPlan) split() (uintptr, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, 0, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	for i := range p.moves {
		_, _, _ = syscall.RawSyscall(unix.SYS_DUP3, p.moves[i][0], p.moves[i][1], 0)
	}
	// The shim's lock, above all, must not outlive it here.
	_, _, errno = syscall.RawSyscall(unix.SYS_CLOSE_RANGE, standbyFrom, math.MaxInt32, 0)
	for fd := uintptr(standbyFrom); errno != 0 && fd < 1024; fd++ {
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
	if p.role != nil { // who lists processes tells it from a shim
		*(*[len(standbyArg)]byte)(unsafe.Pointer(p.role)) = standbyName
	}
	for i := range p.drop {
		_, _, _ = syscall.RawSyscall(unix.SYS_MADVISE, p.drop[i][0], p.drop[i][1], unix.MADV_DONTNEED)
	}
	n, _, _ := syscall.RawSyscall(unix.SYS_READ, standbyWatch, uintptr(unsafe.Pointer(&p.got[0])), 1)
	if n != 0 {
		for {
			_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.mask)), 0, 8, 0, 0)
	_, _, _ = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(p.path)), uintptr(unsafe.Pointer(&p.argv[0])), uintptr(unsafe.Pointer(&p.env[0])))
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
	}
}

// standbyName is standbyArg where no string may be read from.
var standbyName = [len(standbyArg)]byte([]byte(standbyArg))
