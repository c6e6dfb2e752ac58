package engine

import (
	"context"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// A held session is made of parts. Each has the few fields that it needs and those of the parts that it builds on, so that
// its type says what a method can touch:
//
//	held          the log and what is computed from it; appending
//	world         what tools, rules and commands are told of the surroundings; it changes nothing
//	admission     whether what others ask for is taken
//	effects       what runs beside the loop
//	files         what became of the files: captures, restores, changes from outside
//	instructor    the instructions that the model was given
//	awaits        what the model awaits
//	modelCalls    calls of the model, summaries and handoffs
//	toolCalls     calls of tools, and what became of those that an earlier holder left
//	taskKeeper    background tasks
//
// Session has them all, and the loop.

// held is a log under a lease, with what is computed from it. All of it belongs to the loop.
type held struct {
	eng        *Engine
	lease      store.Lease
	state      *session.State
	transcript *session.Transcript // nil until a model call needs it
	mark       int64               // inbox items up to here are in the log
	opened     int64               // seq of the session.resumed of this lease
	stirred    int64               // ms UTC, of the newest event of this lease that is more than its beginning and settings; 0: none
	recovered  []Recovery

	fresh    int64 // event bytes since the newest snapshot
	snapSize int64
	unsaved  int                // replies since the state file was written
	heads    *store.Heads       // as stored
	listed   []byte             // what the heads carry; nil but for the last event
	failed   error              // of an append: nothing may follow
	released bool               // the lease was given back
	noted    func(session.Body) // called with what was appended
	// asks makes a question to a person of what is about to be appended, where that is wished: see [files.askAbout].
	asks    func(context.Context, []session.Body) ([]session.Body, func(), error)
	turning bool // a run is under way that lets turns go on
	showing sync.Mutex
	still   bool         // nothing is started; see [Session.Still]
	asked   chan request // what others want the loop to do

	watchers  sync.WaitGroup // goroutines that wait for the ends of tasks
	watchCtx  context.Context
	stopWatch context.CancelFunc
}

// world is what a session's tools, rules and commands are told of where they are.
type world struct {
	*held
	awaitIDs
	past tools.Past // whose words are noted
}

// admission checks what others ask for before it becomes an event.
type admission struct {
	*world
	prepared map[string]command.Spec // tasks' attempts that are about to start, by act
	switched bool                    // this holder brought another model
	atRest   func() bool             // nothing is in flight, and no turn goes on
}

// effects are what runs beside the loop and reports to it.
type effects struct {
	*held
	flights map[string]*flight
	landed  chan landing
}

// files is what becomes of the files of a session, as far as anybody keeps it.
type files struct {
	*world
	seen   seenFiles
	looked bool // at known files, since this turn began or the session was opened
}

// instructor gives the model the instructions of its directories.
type instructor struct {
	*held
	reached reached
}

// awaits tells of what the model awaits.
type awaits struct {
	*held
	*world
	*effects
	awaiting awaiting
}

// modelCalls asks the model, for replies and for summaries.
type modelCalls struct {
	*held
	*world
	*effects
	began  time.Time // this lease
	titles int       // tries that are left: see [Session.Titles]
}

// toolCalls carries out calls of tools, and settles those that an earlier holder left open.
type toolCalls struct {
	*held
	*world
	*effects
	tasks *taskKeeper // one that is sent to the background becomes a task
}

// taskKeeper starts, ends and awaits background tasks.
type taskKeeper struct {
	*held
	*admission
	*effects
	watched map[string]bool // tasks whose end is waited for
}

// newSession puts the parts together. Nothing is read, and nothing runs yet.
func newSession(e *Engine, lease store.Lease, st *session.State) *Session {
	h := &held{eng: e, lease: lease, state: st, mark: lease.Info.Mark, asked: make(chan request)}
	w := &world{held: h}
	ad := &admission{world: w, prepared: map[string]command.Spec{}}
	ef := &effects{held: h, flights: map[string]*flight{}, landed: make(chan landing, 64)}
	tk := &taskKeeper{held: h, admission: ad, effects: ef, watched: map[string]bool{}}
	s := &Session{
		held: h, world: w, admission: ad, effects: ef, taskKeeper: tk,
		files: files{world: w}, instructor: instructor{held: h}, awaits: awaits{held: h, world: w, effects: ef},
		modelCalls: modelCalls{held: h, world: w, effects: ef}, toolCalls: toolCalls{held: h, world: w, effects: ef, tasks: tk},
	}
	h.noted, h.asks = s.noteAct, s.askAbout
	ad.atRest = func() bool { return len(ef.flights) == 0 && (!h.turning || h.still) }
	return s
}
