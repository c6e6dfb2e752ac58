//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Runner starts commands under shims and finds them again. It holds no state but its configuration: any number of
// processes may use the same Dir at once, and a new one knows as much as the one that started a command. All methods
// are safe for concurrent use.
//
// Every shim that this process started is reaped by a goroutine that ends with the shim, and replaced if it died before
// its work was done. Where the system has pidfds the goroutine holds no thread; it costs three descriptors.
type Runner struct {
	// Dir is the absolute root of all act directories, on a local filesystem. Required.
	Dir string
	// Exe is the argument vector that starts a program which calls RunShimIfAsked; two arguments are appended. Empty
	// means this very binary.
	Exe []string
	// Grace is how long Kill lets the process group react to SIGTERM. Zero means two seconds.
	Grace time.Duration
	// SessionBytes bounds the output that all commands of one session keep together. Zero means 1 GiB, less no bound.
	// What is printed beyond it is counted and dropped, and shows as a gap; the command does not notice.
	SessionBytes int64
	// DiskFloor is how much of the disk output leaves free, in the same way. Zero means 512 MiB, less none.
	DiskFloor int64
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// BootID names the current boot; nil asks the system.
	BootID func() (string, error)
	// Fault is called between the steps of the agent's side with the step's name; nil does nothing. Tests crash here.
	Fault func(step string)

	shimEnv  []string // added to a shim's environment, by tests
	adoptEnv []string // the same for replacement shims
	noRescue bool     // shims that die are left to whoever looks, by tests: no stand-in, no replacement by their starter
	alone    bool     // shims have no stand-in, by tests
}

func (r *Runner) grace() time.Duration {
	if r.Grace > 0 {
		return r.Grace
	}
	return defaultGrace
}

func (r *Runner) nowMS() int64 {
	if r.Now != nil {
		return r.Now().UnixMilli()
	}
	return systemNow().UnixMilli()
}

func (r *Runner) bootID() (string, error) {
	if r.BootID != nil {
		return r.BootID()
	}
	return cachedBootID()
}

var cachedBootID = sync.OnceValues(systemBootID)

func (r *Runner) fault(step string) {
	if r.Fault != nil {
		r.Fault(step)
	}
}

// Check says whether Start can work at all: Dir is absolute and there is a program to be the shim. It returns
// ErrInvalid or ErrNoShim otherwise.
func (r *Runner) Check() error {
	if !filepath.IsAbs(r.Dir) {
		return fmt.Errorf("acts directory %q: %w: not absolute", r.Dir, ErrInvalid)
	}
	if len(r.Exe) == 0 && !reexecReady.Load() {
		return ErrNoShim
	}
	return nil
}

// Start prepares the act unless Prepare did, starts its shim, and returns when the command runs. A program that
// cannot be executed does run in this sense: as in a shell it exits with 127 (not found) or 126, and says why on its
// output.
//
// An error that wraps ErrNotStarted is final: the command did not run and never will. ErrClaimed means that the act was
// decided before, or prepared for another spec or under another boot. After any other error, a cancelled ctx included,
// the outcome is open: call Settle. Cancelling ctx never stops a command that runs.
func (r *Runner) Start(ctx context.Context, spec command.Spec) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("start %s/%s: %w", spec.Session, spec.Act, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := r.preparation(spec)
	if err == nil {
		var exists bool
		if exists, err = p.existing(); err == nil && !exists {
			if err = p.create(); err != nil && !errors.Is(err, ErrClaimed) {
				err = fmt.Errorf("%w: %w", ErrNotStarted, err)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("start %s/%s: %w", spec.Session, spec.Act, err)
	}
	d := p.dir
	r.fault("prepared")
	ready, err := r.launch(d, shimArg, 0, nil)
	if err != nil {
		return r.notStarted(ctx, d, err)
	}
	defer ready.Close()
	r.fault("launched")
	verdict, err := readReady(ctx, ready)
	switch {
	case err != nil:
		return fmt.Errorf("start %s/%s: %w", spec.Session, spec.Act, err)
	case verdict == readyRunning:
		ready.keep.hold(d)
		r.fault("ready")
		return nil
	case verdict == readyClaimed:
		return fmt.Errorf("start %s/%s: %w", spec.Session, spec.Act, ErrClaimed)
	}
	return r.notStarted(ctx, d, errors.New(strings.TrimPrefix(verdict, readyError)))
}

// launch starts a shim in the given role on a prepared act and returns the pipe on which it reports. delay is how long
// its own replacement waits should it die young; k is what to hand to a replacement.
func (r *Runner) launch(d actDir, role string, delay time.Duration, k *keeper) (*newShim, error) {
	argv, err := r.selfArgv()
	if err != nil {
		return nil, err
	}
	null, err := openNull()
	if err != nil {
		return nil, err
	}
	defer null.Close()
	log, err := d.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ready, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var pidfd int
	env, files := append(reexecEnv(role), r.shimEnv...), []uintptr{null.Fd(), null.Fd(), log.Fd(), w.Fd()}
	if role == adoptArg {
		env = append(reexecEnv(role), r.adoptEnv...)
		handles, names := k.files()
		files, env = append(files, handles...), append(env, names...)
	}
	if r.noRescue || r.alone {
		env = append(env, aloneKey+"=1")
	}
	own := &keeper{}
	own.hold(d)
	pid, err := syscall.ForkExec(argv[0], append(argv, shimArg, string(d)), &syscall.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: files,
		Sys:   shimAttr(&pidfd),
	})
	if err != nil {
		ready.Close()
		own.close()
		return nil, fmt.Errorf("start shim %s: %w", argv[0], err)
	}
	go r.mind(d, pid, pidfd, delay, own)
	return &newShim{File: ready, keep: own}, nil
}

// openLog opens the file that the shim complains to.
func (d actDir) openLog() (*os.File, error) {
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(logName, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
}

// newShim is the pipe on which a shim reports, and what is held while it lives.
type newShim struct {
	*os.File
	keep *keeper
}

// readReady waits for the shim's verdict. A shim that dies without one leaves "".
func readReady(ctx context.Context, ready *newShim) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = ready.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	b, err := io.ReadAll(io.LimitReader(ready, maxReady))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(b), err
}

// notStarted turns a failed start into a proof: with a void claim, or a dead shim that never sent the go byte, the
// command cannot run any more. When it turns out that it does, or did, there is nothing to complain about.
func (r *Runner) notStarted(ctx context.Context, d actDir, cause error) error {
	v, err := r.settle(ctx, d)
	for wait := newPoller(ctx); err == nil && v.inBetween(d); v, err = r.settle(ctx, d) {
		if err := wait.next(); err != nil {
			return fmt.Errorf("start %s: %w", d, err)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("start %s: %w: %w", d, cause, err)
	case v.Status == command.Absent:
		return fmt.Errorf("start %s: %w: %w", d, ErrNotStarted, cause)
	}
	return nil
}

// inBetween says of a command whose start was interrupted that its process is not, or not yet, the command.
func (v view) inBetween(d actDir) bool {
	return v.Status == command.Running && (v.orphan || !alive(v.PID, v.StartTicks) || isStage(v.PID, d))
}
