package sim

import (
	"context"
	"errors"
	"hash/fnv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// Behaviour is what a command's script does.
type Behaviour struct {
	Exit    int
	Output  string
	Takes   time.Duration // 0: 10 ms
	Forever bool          // until it is killed
	Late    time.Duration // from the shim's start to its claim
	Cwd     string        // where the shell ends up
	Env     map[string]string
	Lost    bool   // the shim dies with it: its end is never seen
	Feeds   string // the script of a running task, which prints a line for it
	Twice   bool   // it is run once more, after a reboot
	Left    int    // processes that it leaves behind
	Hook    string // what a human does meanwhile
	HookAt  time.Duration
	Later   string // printed later
	LaterAt time.Duration
	Writes  map[string]string // files that it leaves, by their path; an empty content removes one
}

// actDir is one act directory with its shim, which outlives the process that started it.
type actDir struct {
	spec    command.Spec
	does    Behaviour
	spawned bool
	void    bool
	why     string // of a void claim without a directory before it
	state   command.State
	out     []byte
	claimed chan struct{} // closed by the claim, void or run
	ended   chan struct{} // closed when the command no longer runs

	closed   bool // its input
	detached bool // its timeout is lifted
}

var (
	errVoid    = errors.New("the act was voided before the shim claimed it")
	errMissing = errors.New("the act directory is missing")
)

func (w *World) lookCommand(sessionID, act string) *actDir { return w.commands[sessionID+"/"+act] }

// stateLocked is what the act directory says.
func (c *actDir) stateLocked() command.State {
	switch {
	case c == nil || c.why != "":
		return command.State{Status: command.Lost, Reason: command.ReasonDirMissing}
	case c.void || c.state.Status == "":
		return command.State{Status: command.Absent}
	}
	st := c.state
	st.Output = int64(len(c.out))
	return st
}

// prepareLocked makes the act directory.
func (w *World) prepareLocked(spec command.Spec) *actDir {
	key := spec.Session + "/" + spec.Act
	c := w.commands[key]
	if c == nil {
		c = &actDir{spec: spec, does: w.script.Commands[spec.Script], claimed: make(chan struct{}), ended: make(chan struct{})}
		w.commands[key] = c
	}
	return c
}

// spawnLocked starts the shim, which claims the act by itself, now or later.
func (w *World) spawnLocked(spec command.Spec) *actDir {
	c := w.prepareLocked(spec)
	if c.spawned {
		return c
	}
	c.spawned = true
	kind := session.KindToolStarted
	if strings.HasPrefix(spec.Act, "task.") {
		kind = session.KindTaskRequested
	}
	w.intended(spec.Session, kind, `"act":"`+spec.Act+`"`)
	if c.does.Late == 0 {
		w.claimLocked(c)
		return c
	}
	time.AfterFunc(c.does.Late, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.claimLocked(c)
	})
	return c
}

func (w *World) claimLocked(c *actDir) {
	if c.void || c.state.Status != "" || w.lookCommand(c.spec.Session, c.spec.Act) != c {
		return // voided, or its directory is gone
	}
	w.runs[c.spec.Session+" "+session.BaseOf(c.spec.Act)+": "+c.spec.Script]++
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.spec.Script))
	c.state = command.State{
		Status: command.Running, PID: int(h.Sum32()%30000) + 2, StartTicks: 7, BootID: w.bootID(), Started: time.Now().UnixMilli(),
	}
	c.out = []byte(c.does.Output)
	close(c.claimed)
	w.feedLocked(c)
	if c.does.Hook != "" {
		time.AfterFunc(c.does.HookAt, func() { w.hook(c.does.Hook) })
	}
	if c.does.Later != "" {
		time.AfterFunc(c.does.LaterAt, func() { w.print(c) })
	}
	takes := c.does.Takes
	if takes == 0 {
		takes = 10 * time.Millisecond
	}
	if limit := time.Duration(c.spec.TimeoutMS) * time.Millisecond; limit > 0 && (c.does.Forever || limit < takes) {
		time.AfterFunc(limit, func() { w.overdue(c) })
		return
	}
	if !c.does.Forever {
		time.AfterFunc(takes, func() { w.end(c) })
	}
}

func (w *World) print(c *actDir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.state.Status == command.Running {
		c.out = append(c.out, c.does.Later...)
	}
}

func (w *World) feedLocked(c *actDir) {
	for _, other := range w.commands {
		if c.does.Feeds != "" && other.spec.Script == c.does.Feeds && other.spec.Session == c.spec.Session &&
			other.state.Status == command.Running {
			other.out = append(other.out, "served "+c.spec.Script+"\n"...)
		}
	}
}

func (w *World) end(c *actDir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.state.Status != command.Running {
		return
	}
	c.state.Ended = time.Now().UnixMilli()
	if c.does.Lost {
		c.state.Status, c.state.Reason = command.Lost, command.ReasonShimDied
		close(c.ended)
		return
	}
	for name, content := range c.does.Writes {
		if delete(w.files, name); content != "" {
			w.files[name] = &file{data: []byte(content), mode: 0o644}
		}
	}
	code := c.does.Exit
	c.state.Status, c.state.ExitCode, c.state.Stragglers = command.Exited, &code, c.does.Left
	if c.spec.Capture {
		c.state.Cwd = c.does.Cwd
		for k, v := range c.does.Env {
			if c.state.Env == nil {
				c.state.Env = command.EnvDelta{}
			}
			c.state.Env[k] = &v
		}
	}
	close(c.ended)
}

func (w *World) overdue(c *actDir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.detached {
		w.killLocked(c, command.ByTimeout)
	}
}

func (w *World) killLocked(c *actDir, by string) {
	if c == nil || c.state.Status != command.Running {
		return
	}
	c.state.Status, c.state.Signal, c.state.By, c.state.Ended = command.Killed, "SIGKILL", by, time.Now().UnixMilli()
	close(c.ended)
}

// commands is how a process sees the shims.
type commands struct{ p *process }

var _ engine.Commands = commands{}

func (c commands) Prepare(_ context.Context, spec command.Spec) error {
	return c.p.effect("command.prepare", func() { c.p.w.prepareLocked(spec) })
}

func (c commands) Start(ctx context.Context, spec command.Spec) error {
	var cmd *actDir
	if err := c.p.effect("command.start", func() { cmd = c.p.w.spawnLocked(spec) }); err != nil {
		return err
	}
	select {
	case <-cmd.claimed:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.p.ctx.Done():
		return ErrDead
	}
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	if cmd.void {
		return errVoid
	}
	return c.p.pointLocked("command.started")
}

func (c commands) State(sessionID, act string) (command.State, error) {
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	if err := c.p.pointLocked("command.state"); err != nil {
		return command.State{}, err
	}
	return c.p.w.lookCommand(sessionID, act).stateLocked(), nil
}

func (c commands) Settle(ctx context.Context, sessionID, act string) (st command.State, err error) {
	if err := ctx.Err(); err != nil {
		return st, err
	}
	w := c.p.w
	err = c.p.effect("command.settle", func() {
		key := sessionID + "/" + act
		cmd := w.commands[key]
		if cmd == nil {
			cmd = &actDir{why: command.ReasonDirMissing, claimed: make(chan struct{}), ended: make(chan struct{})}
			w.commands[key] = cmd
		}
		if cmd.state.Status == "" && !cmd.void {
			cmd.void = true
			close(cmd.claimed)
			close(cmd.ended)
		}
		st = cmd.stateLocked()
		if w.cfg.BlindShim {
			st = command.State{Status: command.Absent}
		}
	})
	return st, err
}

func (c commands) Wait(ctx context.Context, sessionID, act string) (command.State, error) {
	if err := c.p.point("command.wait.before"); err != nil {
		return command.State{}, err
	}
	c.p.w.mu.Lock()
	cmd := c.p.w.lookCommand(sessionID, act)
	c.p.w.mu.Unlock()
	if cmd != nil {
		select {
		case <-cmd.ended:
		case <-ctx.Done():
			return command.State{}, context.Cause(ctx)
		case <-c.p.ctx.Done():
			return command.State{}, ErrDead
		}
	}
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	return cmd.stateLocked(), c.p.pointLocked("command.wait.after")
}

func (c commands) Kill(ctx context.Context, sessionID, act, by string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	missing := false
	err := c.p.effect("command.kill", func() {
		cmd := c.p.w.lookCommand(sessionID, act)
		missing = cmd == nil
		c.p.w.killLocked(cmd, by)
	})
	if err == nil && missing {
		err = errMissing
	}
	return err
}

func (c commands) Read(sessionID, act string, from int64, limit int) (b []byte, next, gap int64, err error) {
	c.p.w.mu.Lock()
	defer c.p.w.mu.Unlock()
	if err := c.p.pointLocked("command.read"); err != nil {
		return nil, from, 0, err
	}
	cmd := c.p.w.lookCommand(sessionID, act)
	if cmd == nil || from >= int64(len(cmd.out)) {
		return nil, from, 0, nil
	}
	b = cmd.out[from:min(int64(len(cmd.out)), from+int64(limit))]
	return append([]byte(nil), b...), from + int64(len(b)), 0, nil
}

func (c commands) Remove(sessionID, act string) error {
	w := c.p.w
	return c.p.effect("command.remove", func() {
		if c := w.lookCommand(sessionID, act); c != nil && c.state.Status == command.Running {
			w.faultLocked("the directory of %s was removed while its command ran", act)
		}
		delete(w.commands, sessionID+"/"+act)
	})
}
