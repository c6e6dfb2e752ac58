// Package perdure keeps the whole existence of an AI agent durable: its conversation, its workflow state, usage,
// permissions, files, working directory and running commands. Kill the agent anywhere: nothing acknowledged is lost,
// no act is silently repeated, its commands keep running.
//
// A [Home] is a directory that holds sessions. There are three ways to use it:
//
//   - let it run the agent: [Home.Create], then [Home.Run] with a prompt; or [Home.Hold], for a program that stays with
//     the session: prompts, interrupts, answers and approvals, with the model's words as they come;
//   - keep the sessions of an agent of your own: [Home.Record], then [Recorder.User], [Recorder.Assistant],
//     [Recorder.ToolResult], or [Recorder.Append] with app events, facts and scratch state; [Home.State], [Home.Fork];
//   - look on and steer from outside: [Home.Follow], [Home.Send], [Home.Answer], [Home.Approve], [Home.Cancel].
//
// Duties of the caller: call [RunShimIfAsked] first thing in main (and in TestMain), or set Config.ShimPath; without
// either, process tools are refused. Call [HideKeys] if commands of sessions must not find the keys of model APIs in this
// process's environment. Close what you open. When an error wraps store.ErrUncertain, end the process: the
// next one reads what the log holds.
package perdure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/sqlite"
	"github.com/perdure/perdure/tool"
)

// Version is the version of this build.
const Version = "0.1.0-dev"

// Home is an open directory of sessions. It is safe for concurrent use; one process may open a directory once.
type Home struct {
	eng    *engine.Engine
	dir    string
	store  store.Store
	runner *task.Runner
	cfg    Config
	secret *redact.Set
	mu     sync.Mutex
	models map[string]model.Provider // by PROVIDER/MODEL

	looks looks
}

// Config is what a Home is opened with. The zero value is a good start.
type Config struct {
	Environ  []string                                  // KEY=VALUE; nil: the process's. Provider keys never reach commands
	Tools    []tool.Tool                               // nil: the built-in ones
	Provider func(spec string) (model.Provider, error) // by PROVIDER/MODEL; nil: what Environ configures
	ShimPath []string                                  // argv prefix of a program that calls RunShimIfAsked; nil: this one
	Protect  []string                                  // more paths whose change always asks
	Limits   session.CommandLimits                     // of every command that a session's model starts
	Secrets  map[string]string                         // more values that are replaced by [secret:NAME]
	Prices   map[string]session.Price                  // by PROVIDER/MODEL: they come before the known ones
	Observe  func(engine.Update)                       // sees events and deltas of sessions that this process runs
	Log      *slog.Logger                              // nil discards
	Now      func() time.Time                          // nil: the system's clock

	crash func(step string) // ends the process between two steps of a deletion, in tests
}

var shimAsked atomic.Bool

// RunShimIfAsked turns this process into the shim of a command if it was started as one, and never returns then. Call
// it first thing in main, before flags are parsed.
func RunShimIfAsked() {
	task.RunShimIfAsked()
	shimAsked.Store(true)
}

// Open opens a directory of sessions. Reading changes nothing in it; the first write makes it (0700) if it is not there.
// Errors: store.ErrNetworkFS, store.ErrNewer.
func Open(ctx context.Context, dir string, cfg Config) (*Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	if cfg.Tools == nil {
		cfg.Tools = tool.Builtin()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	st, err := sqlite.Open(ctx, dir, sqlite.Config{Now: cfg.Now})
	if err != nil {
		return nil, err
	}
	h := &Home{dir: dir, store: st, cfg: cfg, secret: redact.New(secrets(cfg)), models: map[string]model.Provider{}}
	if len(cfg.ShimPath) > 0 || shimAsked.Load() {
		h.runner = &task.Runner{Dir: filepath.Join(dir, "acts"), Exe: cfg.ShimPath, Now: cfg.Now}
	}
	if h.eng, err = engine.New(h.engineConfig()); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	h.finishDeletions(ctx)
	return h, nil
}

func (h *Home) engineConfig() engine.Config {
	cfg := h.cfg
	host, _ := os.Hostname() // an unknown name is shown as empty
	ec := engine.Config{
		Store: h.store, Provider: cfg.Provider, Cost: h.cost, Tools: cfg.Tools, Files: tool.OSFiles{},
		Environ: withoutKeys(cfg.Environ), Home: h.dir, UserHome: h.getenv("HOME"),
		SideDir: filepath.Join(h.dir, "streams"), OutDir: filepath.Join(h.dir, "outputs"), TempDir: h.tempDir, Ports: h.ports,
		Protect: append(startupPaths(h.getenv), cfg.Protect...), Search: programPaths(h.getenv), Limits: cfg.Limits, Secrets: h.secret, Observe: h.observe, Log: cfg.Log,
		Host: host, BootID: task.BootID(), Build: Version, PID: os.Getpid(), Now: cfg.Now,
	}
	if ec.Provider == nil {
		ec.Provider = h.provider
	}
	if h.runner != nil {
		ec.Commands = h.runner
	}
	return ec
}

// Dir is the home's directory.
func (h *Home) Dir() string { return h.dir }

// Store is the home's store, for listing and reading.
func (h *Home) Store() store.Store { return h.store }

// Commands is the home's runner of commands, or nil if process tools are refused.
func (h *Home) Commands() *task.Runner { return h.runner }

// Close releases the home. Commands run on.
func (h *Home) Close() error { return h.store.Close() }
