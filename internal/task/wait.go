//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// Wait returns the command's state as soon as it is no longer running, at most 20 ms late, or ctx's error. It looks
// often at first, and then sleeps until the kernel tells of a death: any number of commands can be waited for. A command
// that ended while descendants of it live on is not running: the state counts them as stragglers. When its shim dies
// Wait adopts the command. Otherwise it decides nothing: of an act that nobody started it returns absent at once.
func (r *Runner) Wait(ctx context.Context, sessionID, act string) (command.State, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return command.State{}, err
	}
	var limit limiter
	var keep keeper
	defer keep.close()
	var g *guard
	defer func() { g.close() }()
	for wait := newPoller(ctx); ; {
		if d.busy() {
			keep.hold(d)
			if g == nil && wait.slow() {
				g = d.guard()
			}
		} else {
			v, err := r.look(d)
			if err != nil {
				return v.State, fmt.Errorf("wait for %s/%s: %w", sessionID, act, err)
			}
			over := v.Status != command.Running && (!v.orphan || v.Stragglers > 0 || limit.tries > maxAdopts)
			if v.orphan && limit.allow() {
				_ = r.adopt(ctx, d, &keep) // what came of it, the next look says
				continue
			}
			if over {
				return v.State, nil
			}
			if v.orphan && limit.tries > maxAdopts && !alive(v.PID, v.StartTicks) {
				v.Status, v.Reason = command.Lost, command.ReasonShimDied
				return v.State, nil
			}
		}
		if err := wait.nextOr(g.death()); err != nil {
			return command.State{Status: command.Running}, fmt.Errorf("wait for %s/%s: %w", sessionID, act, err)
		}
		g = g.standing()
	}
}

// busy is the cheap look: a shim is there and has not written how the command ended. False decides nothing.
func (d actDir) busy() bool {
	var info unix.Stat_t
	return d.locked() && unix.Stat(d.path(exitName), &info) == unix.ENOENT && unix.Stat(d.path(runName), &info) == nil
}

// poller spaces out the looks at a directory: closely at first, when most commands end, then ever more rarely up to
// 15 ms.
type poller struct {
	ctx  context.Context
	step time.Duration
}

const (
	firstPoll = time.Millisecond
)

func newPoller(ctx context.Context) *poller { return &poller{ctx: ctx, step: firstPoll} }

// next sleeps, or returns ctx's error.
func (p *poller) next() error { return p.nextOr(nil) }

// slow says that the looks have become rare.
func (p *poller) slow() bool { return p.step >= lastPoll }

// guardedPoll is how often one looks who is told of deaths: hardly ever, in case that a handle lies.
const guardedPoll = time.Second

// nextOr is next that lasts until a death, if there is somebody who tells of it. After it the looks are close again.
func (p *poller) nextOr(death <-chan struct{}) error {
	step := p.step
	if death != nil {
		step = guardedPoll
	}
	t := time.NewTimer(step)
	defer t.Stop()
	p.step = min(p.step+p.step/16, lastPoll)
	select {
	case <-p.ctx.Done():
		return p.ctx.Err()
	case <-death:
		p.step = firstPoll
	case <-t.C:
	}
	return nil
}
