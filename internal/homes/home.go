// Package homes is what package perdure and the binary are made of: homes, which are directories that hold sessions, and
// what can be done with a session from its first event to its deletion. It wires the engine to the store, the runner of
// commands, the model APIs and the tools.
//
// Package perdure has a small part of it for programs, in types of its own. What the binary needs besides is here: states
// as the fold computes them, the events' bodies, the runner, the tables of ports.
//
// Duties of the caller: call [RunShimIfAsked] first thing in main (and in TestMain), or set Config.ShimPath; without
// either, process tools are refused. Call [HideKeys] if commands of sessions must not find the keys of model APIs in this
// process's environment. Close what you open. When an error wraps store.ErrUncertain, end the process: the
// next one reads what the log holds.
package homes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/progress"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/sqlite"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Version is the version of this build.
const Version = "0.1.0-dev"

// Home is an open directory of sessions. It is safe for concurrent use; one process may open a directory once.
type Home struct {
	eng        *engine.Engine
	dir        string
	store      store.Store
	runner     *task.Runner
	noCommands error // why this system has no runner; nil: it may
	cfg        Config
	secret     *redact.Set
	blobs      *blob.Store    // of captured files; nil: none are captured
	spaces     *workspace.Set // the directories that sessions work in; nil likewise
	mu         sync.Mutex
	models     map[string]modelapi.Provider // by PROVIDER/MODEL

	looks looks
	swept swept
	said  map[string]bool // what was told once, see [Home.told]
}

// Config is what a Home is opened with. The zero value is a good start.
type Config struct {
	Store    store.Store                                  // nil: the database in the directory. It is closed with the home
	Environ  []string                                     // KEY=VALUE; nil: the process's. Provider keys never reach commands
	Tools    []tools.Tool                                 // nil: the built-in ones
	Provider func(spec string) (modelapi.Provider, error) // by PROVIDER/MODEL; nil: what Environ configures
	ShimPath []string                                     // argv prefix of a program that calls RunShimIfAsked; nil: this one
	Protect  []string                                     // more paths whose change always asks
	// CommitKnowledge has the files of a project's knowledge committed to its repository at the end of a session, where
	// they lie in the project.
	CommitKnowledge bool
	MinSession      *time.Duration         // how long the turns of a session must have taken for it to leave a handoff at its end; nil: 15 minutes
	Memory          string                 // where what sessions remember lies: MemoryInHome, MemoryInProject; empty: they have no memory
	Limits          command.Limits         // of every command that a session's model starts
	Secrets         map[string]string      // more values that are replaced by [secret:NAME]
	Prices          map[string]model.Price // by PROVIDER/MODEL: they come before the known ones
	Windows         map[string]int64       // sizes of context windows in tokens, by PROVIDER/MODEL, as well
	// Instructions has sessions read AGENTS.md, or CLAUDE.md: the user's in $XDG_CONFIG_HOME/perdure, and those of the
	// project that they work in. They are text for the model and no permission.
	Instructions bool
	// Files has the files that sessions work on captured, so that they can be brought back; nil: they are not.
	Files   *Files
	Observe func(engine.Update) // sees events and deltas of sessions that this process runs
	// Progress is told how far work is that may take long, such as a restore of many files; nil: [Home.Progress] has one.
	Progress *progress.Meter
	Log      *slog.Logger     // nil discards
	Now      func() time.Time // nil: the system's clock

	captures engine.Captures // keeps the files of sessions; tests hand in their own

	captured captured // of files; nil: none are

	elsewhere error                   // what a system says that has neither commands nor captures, in tests
	packSize  int64                   // bytes of a pack of captured files, in tests; 0: the usual
	crash     func(step string)       // ends the process between two steps of a deletion, in tests
	fault     func(step string) error // is asked before each step of a change of what is known of a project, in tests
}

var shimAsked atomic.Bool

// RunShimIfAsked turns this process into the shim of a command if it was started as one, and never returns then. Call
// it first thing in main, before flags are parsed.
func RunShimIfAsked() {
	task.RunShimIfAsked()
	shimAsked.Store(true)
}

// Open opens a directory of sessions; an empty name is the user's, [Place]. Reading changes nothing in it; the first write
// makes it (0700) if it is not there. Errors: store.ErrNetworkFS, store.ErrNewer, invalid.Err.
func Open(ctx context.Context, dir string, cfg Config) (*Home, error) {
	if cfg.Environ == nil {
		cfg.Environ = os.Environ()
	}
	dir, err := placed(dir, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Tools, err = offered(cfg); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Progress == nil {
		cfg.Progress = &progress.Meter{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	st, err := openStore(ctx, dir, cfg)
	if err != nil {
		return nil, err
	}
	h := &Home{dir: dir, store: st, cfg: cfg, secret: redact.New(secrets(cfg)), models: map[string]modelapi.Provider{}}
	h.noCommands = cmp.Or(cfg.elsewhere, sys.Commands())
	if h.noCommands == nil && (len(cfg.ShimPath) > 0 || shimAsked.Load()) {
		h.runner = &task.Runner{Dir: filepath.Join(dir, "acts"), Exe: cfg.ShimPath, Now: cfg.Now}
	}
	if err := h.care(); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if h.eng, err = engine.New(h.engineConfig()); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.finishDeletions(ctx)
	h.finishReturns(ctx)
	h.clearBuilds(ctx)
	return h, nil
}

// openStore gives the store of a home. The database makes the directory with its first write; a store of the program's
// own knows nothing of it, so that it is made here: acts, outputs and streams lie in it in any case.
func openStore(ctx context.Context, dir string, cfg Config) (store.Store, error) {
	if cfg.Store == nil {
		return sqlite.Open(ctx, dir, sqlite.Config{Now: cfg.Now})
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	return cfg.Store, nil
}

func (h *Home) engineConfig() engine.Config {
	cfg := h.cfg
	host, _ := os.Hostname() // an unknown name is shown as empty
	ec := engine.Config{
		Store: h.store, Captures: h.captures(), Provider: cfg.Provider, Cost: h.cost, Price: h.Price, Tools: cfg.Tools, Files: tools.OSFiles{},
		Environ: h.belowCeiling(forCommands(cfg.Environ)), Home: h.dir, UserHome: h.getenv("HOME"),
		SideDir: filepath.Join(h.dir, "streams"), OutDir: filepath.Join(h.dir, "outputs"), TempDir: h.tempDir, OwnDir: h.ownDir, Ports: h.ports,
		Protect: append(startupPaths(h.getenv), cfg.Protect...), Search: programPaths(h.getenv), Limits: cfg.Limits, Memory: h.memory(), Secrets: h.secret, Observe: h.observe, Log: cfg.Log,
		Host: host, BootID: task.BootID(), Build: Version, PID: os.Getpid(), Now: cfg.Now,
	}
	if cfg.Memory != "" {
		ec.Documents = documents{h}
	}
	if cfg.Instructions {
		ec.Instructions = instructed{h.reader()}
	}
	if ec.Provider == nil {
		ec.Provider = h.provider
	}
	ec.NoCommands = cmp.Or(h.noCommands, errNoCommands)
	if h.runner != nil {
		ec.Commands = h.runner
	}
	return ec
}

// Dir is the home's directory.
func (h *Home) Dir() string { return h.dir }

// Progress has the work that may take long, see [Config].
func (h *Home) Progress() *progress.Meter { return h.cfg.Progress }

// Store is the home's store, for listing and reading.
func (h *Home) Store() store.Store { return h.store }

// Commands is the home's runner of commands, or nil if process tools are refused.
func (h *Home) Commands() *task.Runner { return h.runner }

// Close releases the home. Commands run on.
func (h *Home) Close() error {
	var files error
	if h.spaces != nil {
		h.sweepAtEnd(sweepOver)
		files = errors.Join(h.spaces.Close(), h.blobs.Close())
	}
	return errors.Join(files, h.store.Close())
}
