package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
)

// Child is a supervisor's own hold on its record.
type Child struct {
	home   string
	record Record
	file   *os.File // the record, locked
	says   *os.File // a pipe to the process that started it; nil once that was told
}

// Adopt takes over what a supervisor was started with: its locked record. Commands of the session inherit nothing of it.
func Adopt(home, id string) (*Child, error) {
	syscall.CloseOnExec(recordFD)
	syscall.CloseOnExec(saysFD)
	byHand := errors.New("perdure start starts it")
	f := os.NewFile(recordFD, id)
	mine, err := f.Stat()
	if err != nil {
		return nil, byHand
	}
	now, r, err := open(home, id)
	if err != nil {
		return nil, fmt.Errorf("%w: the record of session %s: %w", byHand, id, err)
	}
	there, err := now.Stat()
	_ = now.Close()
	if err != nil || !os.SameFile(mine, there) {
		return nil, byHand
	}
	return &Child{home: home, record: r, file: f, says: os.NewFile(saysFD, "says")}, nil
}

// Held tells whoever started the supervisor that it holds the session.
func (c *Child) Held() { c.say(saysHeld) }

func (c *Child) say(what string) {
	if c.says == nil {
		return
	}
	_, _ = c.says.WriteString(what + "\n") // nobody may listen any more
	_ = c.says.Close()
	c.says = nil
}

// Failed keeps why the session cannot go on: nobody tries again by himself.
func (c *Child) Failed(err error) {
	const longest = 500
	c.record.Failed = display.Line(err.Error(), longest)
	if werr := write(c.home, c.record); werr != nil {
		fmt.Fprintln(os.Stderr, werr)
	}
	c.say(saysFailed + c.record.Failed)
}

// Done removes the record: the run has ended in order.
func (c *Child) Done() error { return remove(c.home, c.record.Session) }

// ErrNotYet is the error of a supervisor that still runs, because a model's reply is under way.
var ErrNotYet = errors.New("its supervisor ends when the reply has come that is under way")

// End waits until nobody supervises a session that was paused or closed, and removes its record. A record that cannot be
// read is left where it is. Errors: ErrNotYet after 15 seconds.
func (k Keeper) End(ctx context.Context, id string) error {
	if _, err := os.Lstat(filepath.Join(k.Home.Dir(), dirName, id)); err != nil || !named(id) {
		return nil // it has none
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		f, _, err := open(k.Home.Dir(), id)
		if err != nil {
			return nil // it is gone, or somebody else's
		}
		free := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
		if free {
			err = remove(k.Home.Dir(), id)
		}
		_ = f.Close()
		if free {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("session %s: %w", id, ErrNotYet)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Supervises reports whether a process supervises a session.
func Supervises(h *homes.Home, id string) bool {
	f, _, err := open(h.Dir(), id)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return !lock(h.Dir(), id, f, looking)
}
