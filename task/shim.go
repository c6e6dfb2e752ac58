package task

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shim is the process that stays with one command. It owns the act directory from its claim on.
type shim struct {
	dir   actDir
	spec  specRecord
	now   func() time.Time
	lock  *os.File // held for life
	ready *os.File // the agent listens, perhaps
	out   *output
	chld  chan os.Signal
	kills chan os.Signal

	pid     int // the command, and its process group
	started int64

	status   *unix.WaitStatus // of the command, once it ended
	ended    int64
	recorded bool // exit.json is written
	exit     exitRecord
	killer   string // who caused the signals that this shim sent, before the command ended
}

const (
	readyFD = 3
	// lockPatience is how long a shim tries to get its lock: probes hold it for microseconds.
	lockPatience = 5 * time.Second
	lockRetry    = time.Millisecond
)

// shimMain runs the protocol of the package documentation.
func shimMain(d actDir) int {
	s := &shim{dir: d, now: time.Now, ready: os.NewFile(readyFD, "ready")}
	if err := s.begin(); err != nil {
		complain("%v", err)
		s.report(verdict(err))
		return 1
	}
	s.report(readyRunning)
	s.ready.Close()
	return s.supervise()
}

func verdict(err error) string {
	if errors.Is(err, ErrClaimed) {
		return readyClaimed
	}
	return (readyError + err.Error())[:min(len(readyError+err.Error()), maxReady)]
}

// report tells the agent, if it still listens.
func (s *shim) report(text string) { _, _ = s.ready.WriteString(text) }

// complain writes to the shim's log, which is its standard error.
func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "shim %d: "+format+"\n", append([]any{os.Getpid()}, args...)...)
}

// begin goes from nothing to a running command. Every step before the go byte may fail, or be the last one before a
// SIGKILL, and the command has provably not run.
func (s *shim) begin() error {
	fault("begun")
	unix.Umask(0o077)
	if err := closeOnExecFrom(readyFD); err != nil {
		return err
	}
	if err := readRecord(s.dir.path(specName), &s.spec); err != nil {
		return err
	}
	if err := becomeSubreaper(); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	s.listen()
	if err := s.takeLock(); err != nil {
		return err
	}
	fault("locked")
	if info, err := os.Stat(s.spec.Cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("working directory %s: not a directory or not reachable", s.spec.Cwd)
	}
	won, err := s.dir.claimAct(claim{word: claimRun})
	if err != nil {
		return err
	}
	if !won {
		return ErrClaimed
	}
	fault("claimed")
	if s.out, err = openOutput(s.dir, s.spec.KeepBytes); err != nil {
		return err
	}
	return s.launch()
}

// listen installs the signal handlers. What ends ordinary programs does not end a shim: it leaves when its tree has.
// They are caught and dropped rather than ignored, because the command would inherit an ignored signal.
func (s *shim) listen() {
	s.chld, s.kills = make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(s.chld, syscall.SIGCHLD)
	signal.Notify(s.kills, syscall.SIGUSR1)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT,
		syscall.SIGUSR2, syscall.SIGALRM)
}

// takeLock locks the act for life and writes into the lock who has it.
func (s *shim) takeLock() error {
	f, err := os.OpenFile(s.dir.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	for start := s.now(); ; time.Sleep(lockRetry) {
		if err = flock(f, unix.LOCK_EX|unix.LOCK_NB); err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || s.now().Sub(start) > lockPatience {
			return fmt.Errorf("lock %s: %w: %w", f.Name(), ErrClaimed, err)
		}
	}
	s.lock = f
	self, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`{"version":%d,"pid":%d,"start_ticks":%d}`+"\n", formatVersion, self.PID, self.Ticks)
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
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
	if err := s.recordRun(); err != nil {
		return err
	}
	fault("run-recorded")
	if _, err := goWrite.Write([]byte{1}); err != nil {
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
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	s.pid, err = syscall.ForkExec(exe, []string{exe, stageArg, string(s.dir)}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   append(reexecEnv(stageArg), faultEnv...),
		Files: []uintptr{null.Fd(), s.out.child.Fd(), s.out.child.Fd(), goRead.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return fmt.Errorf("start exec stage: %w", err)
	}
	return nil
}

// recordRun writes run.json. It need not be synced: only under the same boot does anybody trust it.
func (s *shim) recordRun() error {
	p, err := readProcess(s.pid)
	if err != nil {
		return fmt.Errorf("exec stage %d: %w", s.pid, err)
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		return err
	}
	s.started = s.now().UnixMilli()
	return writeRecord(s.dir.path(runName), runRecord{
		Version: formatVersion, PID: s.pid, PGID: s.pid, SID: p.SID, StartTicks: p.Ticks, BootID: s.spec.BootID,
		Shim: self.PID, ShimTicks: self.Ticks, Started: s.started,
	}, false)
}
