package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// Engine opens sessions of one store. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	links  func() []permission.Link // other names of the directories that rules and words name
	wakers wakers
	known  knownStates
}

// Config is an engine's world. Store, Provider and Files are required; Commands is required by process tools.
type Config struct {
	Store      store.Store
	Provider   func(spec string) (modelapi.Provider, error) // by PROVIDER/MODEL
	Cost       func(spec string, u model.Usage) *int64      // nano-USD of a call of PROVIDER/MODEL; nil: the session's price
	Price      func(provider, model string) *model.Price    // by what is known here; nil, or gives nil: nothing is
	Tools      []tools.Tool
	Files      tools.Files
	Commands   Commands
	NoCommands error    // why Commands is nil, with the remedy; nil: nothing more is known
	Environ    []string // what commands start from; provider keys already removed
	Home       string   // the store's home, protected and told to commands; may be empty
	UserHome   string   // for ~/ in paths and rules
	SideDir    string   // streams of running model calls, for the eyes; empty: none are kept
	OutDir     string   // outputs that a tool result only quotes; empty: none are kept
	// OwnDir says which directory around a session's root is the session's own and lies in Home; empty: none. Nil: none is.
	OwnDir  func(sessionID, root string) string
	TempDir func(sessionID string) (string, error) // TMPDIR of a session's commands; nil: inherited
	// Ports gives a session a range of ports of its own, which its commands are told; idle: none of them runs, so that a
	// port in use is a stranger's. Nil, or an error: they are told none.
	Ports func(sessionID string, idle bool) (first, last int, err error)
	// Memory gives what the sessions of a directory remember beyond their conversations; nil, or an error: nothing.
	Memory func(root string) (tools.Memory, error)
	// Instructions are the files that people keep for agents; nil: none are read.
	Instructions Instructions
	Documents    Documents // nil: sessions leave none
	// Sync makes a kept output, or its directory, durable; nil is its Sync method. For tests.
	Sync    func(*os.File) error
	Protect []string       // more protected paths
	Search  []string       // where programs are found by their names: permission.Policy.Programs
	Limits  command.Limits // of every command that a session's model starts
	Secrets Secrets        // known values that must not reach model and log; nil: none
	// Captures keeps what the files of sessions were; nil: nothing is captured, and nothing can be restored.
	Captures     Captures
	CaptureLimit time.Duration // how long a capture may take that nobody asked for; 0: 30 s
	Observe      func(Update)  // one call at a time for each session; must not block; nil: nobody looks
	Log          *slog.Logger  // nil discards

	Host, BootID, Build string
	PID                 int
	Now                 func() time.Time // nil: time.Now
	NewID               func() string    // nil: UUIDv7
	Jitter              func() float64   // in [0,1); nil: math/rand
	Poll                time.Duration    // how often the inbox is looked at; 0: 100 ms
	// RetryFor is how long a model that cannot be reached, or is overloaded, is asked again, unless the session's
	// configuration says it; 0: 24 hours. Pauses grow to a minute.
	RetryFor time.Duration
	// MaxFailures bounds the attempts of one model call that broke off after the reply had begun, which cost tokens, and
	// those that were not understood; 0: 8.
	MaxFailures int
}

// noCommands says why no command can be run.
func (e *Engine) noCommands() error {
	if e.cfg.NoCommands != nil {
		return e.cfg.NoCommands
	}
	return errors.New("commands cannot be run here")
}

// New checks the config and returns an engine. Errors: tools.ErrBad.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil || cfg.Files == nil || cfg.Provider == nil {
		return nil, errors.New("engine: store, files and provider are required")
	}
	if err := tools.Check(cfg.Tools); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	if cfg.Sync == nil {
		cfg.Sync = sys.Sync
	}
	if cfg.Secrets == nil {
		cfg.Secrets = noSecrets{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Poll = orDefault(cfg.Poll, 100*time.Millisecond)
	cfg.CaptureLimit = orDefault(cfg.CaptureLimit, 30*time.Second)
	cfg.RetryFor = orDefault(cfg.RetryFor, 24*time.Hour)
	cfg.MaxFailures = orDefault(cfg.MaxFailures, 8)
	e := &Engine{cfg: cfg}
	e.links = sync.OnceValue(func() []permission.Link { return e.linked(append([]string{cfg.UserHome, cfg.Home}, cfg.Protect...)) })
	return e, nil
}

// linked finds the directories that symbolic links give another name.
func (e *Engine) linked(dirs []string) []permission.Link {
	var links []permission.Link
	for _, dir := range dirs {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		dir = path.Clean(dir)
		// What cannot be resolved has no other name that a file tool could come by.
		if to, err := e.cfg.Files.Resolve(dir); err == nil && to != dir {
			links = append(links, permission.Link{Name: dir, Target: to})
		}
	}
	return links
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
