//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/realdir"
)

// shim is the process that stays with one command. It owns the act directory from its claim on.
type shim struct {
	path  actDir // as given; only for people to read
	dir   actDir
	plan  execPlan
	now   func() time.Time
	lock  int // held for life
	out   *output
	in    *input
	chld  chan os.Signal
	kills chan os.Signal
	asks  chan os.Signal
	terms chan os.Signal
	umask int // the one that the command runs with

	pid       int // the command, and its process group
	ticks     uint64
	started   int64
	family    family
	enclosure *cgroup // of the command's processes, nil where they have none of their own
	adopted   bool    // this shim took over from a dead one

	standby *standby // what takes over should this process die; nil where there is none

	end      *ending // of the command, nil while it runs
	ended    int64
	recorded bool // exit.json is written
	exit     exitRecord
	killer   string // who caused the signals that this shim sent, before the command ended
	termed   int64  // when this shim was last told to end itself
}

// shimMain runs the protocol of the package documentation.
func shimMain(d actDir) int {
	// Relative names bind the shim to this directory, whatever takes over its path later.
	forbidTracing()
	s := &shim{path: d, dir: ".", now: systemNow}
	defer s.dismiss()
	if err := s.begin(); err != nil {
		complain("%v", err)
		s.report(verdict(err))
		return 1
	}
	s.report(readyRunning)
	unix.Close(readyFD)
	s.listen()
	if err := s.publish(); err != nil {
		complain("publish: %v", err)
	}
	fault("published")
	return s.supervise()
}

func verdict(err error) string {
	if errors.Is(err, ErrClaimed) {
		return readyClaimed
	}
	return (readyError + err.Error())[:min(len(readyError+err.Error()), maxReady)]
}

// report tells the agent, if it still listens.
func (s *shim) report(text string) { _, _ = unix.Write(readyFD, []byte(text)) }

// begin goes from nothing to a running command. Every step before the go byte may fail, or be the last one before a
// SIGKILL, and the command has provably not run.
func (s *shim) begin() error {
	if err := s.enter(); err != nil {
		return err
	}
	var err error
	if s.plan, err = s.dir.readPlan(); missing(err) {
		return ErrClaimed // it goes when the command has ended
	} else if err != nil {
		return err
	}
	if err := becomeSubreaper(); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	if err := s.takeLock(); err != nil {
		return err
	}
	fault("locked")
	if info, err := os.Stat(s.plan.Cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("working directory %s: not a directory or not reachable", s.plan.Cwd)
	}
	won, err := s.dir.claimToRun()
	if err != nil {
		return err
	}
	if !won {
		return ErrClaimed
	}
	fault("claimed")
	if s.out, err = openOutput(s.dir, s.plan); err != nil {
		return err
	}
	return s.launch()
}

// enter binds the process to the act directory, unless a link stands in its place.
func (s *shim) enter() error {
	if err := os.Chdir(string(s.path)); err != nil {
		return err
	}
	named, err := os.Lstat(string(s.path))
	if err != nil {
		return err
	}
	if here, err := os.Stat("."); err != nil || !os.SameFile(named, here) {
		return fmt.Errorf("%s was replaced: %w", s.path, realdir.ErrLink)
	}
	fault("begun")
	s.umask = unix.Umask(0o077)
	return closeOnExecFrom(readyFD)
}

// listen installs the signal handlers. What ends ordinary programs does not end a shim: it leaves when its tree has.
// They are caught and dropped rather than ignored, because the command would inherit an ignored signal.
func (s *shim) listen() {
	s.chld, s.kills, s.asks = make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(s.chld, syscall.SIGCHLD)
	signal.Notify(s.kills, syscall.SIGUSR1)
	signal.Notify(s.asks, syscall.SIGUSR2)
	s.terms = make(chan os.Signal, 1)
	signal.Notify(s.terms, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGALRM, syscall.SIGXCPU, syscall.SIGXFSZ)
}

// publish writes into the lock who holds it. From then on signals may arrive, so the handlers are in place.
func (s *shim) publish() error {
	self, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	adopted := ""
	if s.adopted {
		adopted = `,"adopted":1`
	}
	text := fmt.Sprintf(`{"version":%d,"pid":%d,"start_ticks":%d%s%s}`, formatVersion, self.PID, self.Ticks, adopted, s.standby.record())
	return overwrite(s.dir.path(lockName), []byte(text), false)
}

// launch starts the exec stage, records its identity, and lets it go.
func (s *shim) launch() error {
	goRead, goWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	// Closing the write end without a byte makes the stage exit without exec: that is every error path below.
	defer goWrite.Close()
	fault("fifo")
	err = s.startStage(goRead)
	goRead.Close()
	s.out.child.Close()
	if err != nil {
		return err
	}
	fault("staged")
	if s.dir.killedBy() != "" {
		return errors.New("killed before it ran")
	}
	s.standBy() // while the stage gets ready
	s.nameStandIn()
	goByte := s.enclose()
	fault("enclosed")
	if err := s.recordRun(); err != nil {
		return err
	}
	fault("run-recorded")
	if _, err := goWrite.Write([]byte{goByte}); err != nil {
		// The stage is gone already. Its exit will be collected like any other.
		complain("send go: %v", err)
	}
	fault("gone")
	return nil
}

func (s *shim) startStage(goRead *os.File) error {
	exe, err := selfExe()
	if err != nil {
		return err
	}
	stdio, sys, err := s.stdio()
	if err != nil {
		return err
	}
	defer stdio[0].Close()
	unix.Umask(s.umask)
	defer unix.Umask(0o077)
	s.pid, err = syscall.ForkExec(exe, []string{exe, stageArg, string(s.path)}, &syscall.ProcAttr{
		Env:   append(reexecEnv(stageArg), faultEnv...),
		Files: []uintptr{stdio[0].Fd(), stdio[1].Fd(), stdio[1].Fd(), goRead.Fd()},
		Sys:   sys,
	})
	if err != nil {
		return fmt.Errorf("start exec stage: %w", err)
	}
	s.family = &children{pid: s.pid, timed: s.plan.Limits.CPUSeconds > 0, note: s.dir.noteEnd}
	return nil
}

// stdio returns the command's input and its output, and how it gets them: a group of its own, or, with a terminal, a
// session.
func (s *shim) stdio() (files [2]*os.File, sys *syscall.SysProcAttr, err error) {
	if s.in, err = openInput(s.dir, s.plan, s.out); err != nil {
		return files, nil, err
	}
	if s.plan.Rows == 0 {
		files[0], err = s.in.forCommand()
		files[1] = s.out.child
		return files, &syscall.SysProcAttr{Setpgid: true}, err
	}
	var tty *os.File
	s.in.master, tty, err = openTTY(uint16(s.plan.Rows), uint16(s.plan.Cols))
	files = [2]*os.File{tty, tty}
	return files, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}, err
}

// recordRun writes run.json. It need not be synced: only under the same boot does anybody trust it.
func (s *shim) recordRun() error {
	p, err := readProcess(s.pid)
	if err != nil {
		return fmt.Errorf("exec stage %d: %w", s.pid, err)
	}
	s.ticks, s.started = p.Ticks, s.now().UnixMilli()
	num := func(b []byte, key string, n uint64) []byte {
		return strconv.AppendUint(append(append(append(b, ",\""...), key...), "\":"...), n, 10)
	}
	b := num([]byte(`{"version":1`), "pid", uint64(s.pid))
	if s.enclosure != nil {
		b = strconv.AppendQuote(append(b, `,"cgroup":`...), s.enclosure.dir)
	}
	b = num(num(b, "sid", uint64(p.SID)), "start_ticks", p.Ticks)
	if dev, ino, ok := fileID(s.dir.path(lockName)); ok {
		b = num(num(b, "lock_dev", dev), "lock_ino", ino)
	}
	b = append(num(b, "started", uint64(s.started)), `,"boot_id":`...)
	b = append(strconv.AppendQuote(b, s.plan.BootID), "}\n"...)
	return replaceFile(s.dir.path(runName), b, false)
}
