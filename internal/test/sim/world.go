package sim

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Config says how the world treats the agent. Its zero value is a world without accidents.
type Config struct {
	Plan    Plan                 // nil: the process never dies
	Restart func() time.Duration // from a death to the next process; nil: at once

	// Lies, for controls that must be found out.
	LateIntent  bool // intents of acts are acknowledged, but written only with the next append
	Volatile    int  // that many acknowledged appends are lost by a crash
	EagerShim   bool // a command starts when it is planned, before it is decided
	BlindShim   bool // what became of a command is never known: it is said not to have run
	Rewrites    bool // a restore that goes on writes again what it has written
	TellsAgain  bool // who opens a session tells the model again what was told last
	Reboots     bool // every death is the machine's: a plan of accidents, not a lie; commands are lost in it
	NoSnapshots bool // snapshots are not kept: harmless
}

// World is everything that outlives a process. One lock guards it all, so that a death is an instant.
type World struct {
	cfg    Config
	script *Script
	disk   memory.Home

	mu       sync.Mutex
	began    time.Time
	alive    *process
	lives    int
	reboots  atomic.Int64
	ops      int
	polls    int
	count    map[string]int
	trace    []Point
	crashes  []Point
	faults   []string
	acked    []acked
	files    map[string]*file
	changes  map[string]int // by path and content
	commands map[string]*actDir
	runs     map[string]int // by session and script
	typed    map[string]int // by session, act and text
	acts     map[string]int // outside effects, by session and input
	calls    []modelCall
	served   map[string]bool // acts of model calls that reached the API, by session and act
	requests map[string]*seen
	humans   []*human
	logs     map[string][]entryOf // by session, read by Check
	states   map[string]*session.State
	hooks    map[string]int
	trees    map[store.Digest]map[string][]byte // captured files
	released map[store.Digest]bool              // that a log has
	plans    map[string]*journal                // of restores, by session and id
}

// New makes a world that plays a script.
func New(script *Script, cfg Config) *World {
	w := &World{
		cfg: cfg, script: script, count: map[string]int{}, files: map[string]*file{}, changes: map[string]int{},
		commands: map[string]*actDir{}, runs: map[string]int{}, acts: map[string]int{},
		served: map[string]bool{}, requests: map[string]*seen{}, typed: map[string]int{}, hooks: map[string]int{}, began: time.Now(),
		trees: map[store.Digest]map[string][]byte{}, released: map[store.Digest]bool{}, plans: map[string]*journal{},
	}
	for name, data := range script.Files {
		w.files[name] = &file{data: []byte(data), mode: 0o644}
	}
	w.humans = []*human{{w: w, session: "main", prompts: script.Prompts, undo: map[string]int64{}}}
	return w
}

// Points lists every instant of the run at which the process could have died.
func (w *World) Points() []Point {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trace
}

// Crashes lists the deaths of the run.
func (w *World) Crashes() []Point {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crashes
}

// Counts tells how often each kind of point was met.
func (w *World) Counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.count)
}

func (w *World) faultf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faultLocked(format, args...)
}

// faultLocked notes that the agent broke a rule.
func (w *World) faultLocked(format string, args ...any) {
	if len(w.faults) < 20 {
		w.faults = append(w.faults, fmt.Sprintf(format, args...))
	}
}
