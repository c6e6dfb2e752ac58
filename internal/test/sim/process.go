package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/memory"
)

// ErrDead is what everything returns to a process that was killed.
var ErrDead = errors.New("the process is dead")

// Point is one instant at which a process can die: the Nth time that anything of that name happened in the run.
type Point struct {
	Name string
	N    int
}

func (p Point) String() string { return fmt.Sprintf("%s#%d", p.Name, p.N) }

// Plan decides whether the process dies at a point. It is called under the world's lock, once for every point.
type Plan func(Point) bool

// At dies at the given point.
func At(p Point) Plan { return func(q Point) bool { return p == q } }

// AtThen dies at the given point, and again after so many more.
func AtThen(p Point, more int) Plan {
	since := -1
	return func(q Point) bool {
		switch {
		case since >= 0:
			since++
			return since == more
		case p == q:
			since = 0
			return true
		}
		return false
	}
}

// maxOps bounds the points of a run: more of them mean that something spins.
const maxOps = 400_000

// process is one life of the agent.
type process struct {
	w      *World
	ctx    context.Context
	cancel context.CancelFunc
	disk   *memory.Store

	dead    bool   // under the world's lock
	session string // the one that runs, under the world's lock
}

// boot starts a process.
func (w *World) boot(ctx context.Context) *process {
	p := &process{w: w, disk: w.disk.Open()}
	p.ctx, p.cancel = context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alive, w.lives = p, w.lives+1
	return p
}

// point lets the process die here. It fails once the process is dead.
func (p *process) point(name string) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.pointLocked(name)
}

func (p *process) pointLocked(name string) error {
	w := p.w
	if p.dead {
		return ErrDead
	}
	if w.ops++; w.ops > maxOps {
		w.faultLocked("more than %d operations: something spins at %s", maxOps, name)
		p.dieLocked()
		return ErrDead
	}
	w.count[name]++
	pt := Point{Name: name, N: w.count[name]}
	w.trace = append(w.trace, pt)
	if w.cfg.Plan != nil && w.cfg.Plan(pt) {
		w.crashes = append(w.crashes, pt)
		if w.cfg.Reboots {
			w.rebootLocked()
		}
		p.dieLocked()
		return ErrDead
	}
	return nil
}

// check fails once the process is dead.
func (p *process) check() error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.dead {
		return ErrDead
	}
	return nil
}

// effect does something to the world, all or nothing, between two points.
func (p *process) effect(name string, do func()) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if err := p.pointLocked(name + ".before"); err != nil {
		return err
	}
	do()
	return p.pointLocked(name + ".after")
}

func (p *process) dieLocked() {
	p.dead = true
	p.disk.Kill()
	p.cancel()
}
