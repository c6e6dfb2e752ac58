package session

import (
	"fmt"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// FoldVersion changes whenever the same log would fold to a different State. A snapshot of another version is not
// used.
const FoldVersion = 9

// Bounds of State. What leaves is counted in Dropped and stays in the log.
const (
	maxSettled     = 256     // settled acts and permission decisions
	maxFiles       = 4096    // files, the most recent stay
	maxTasks       = 256     // ended tasks, the most recent stay
	maxFacts       = 4096    // one more is refused
	maxScratch     = 1 << 20 // bytes of scratch state, keys included; one more is refused
	maxFaults      = 64
	maxQueue       = 1024 // messages waiting for their turn; the engine refuses one more
	maxMetadata    = 256  // labels
	maxDirectories = 1024 // added directories
	maxTimers      = 1024 // wake-ups asked for; one more is a fault
	maxGrants      = 4096 // remembered allows; one more is a fault
)

// State is the fold of a log, and nothing else. It says where the conversation is, not what its bytes are. It is
// plain data: its JSON form is a snapshot. Apply changes it in place; who reads it elsewhere takes a [State.View].
type State struct {
	ID        string            `json:"id"`
	Owner     string            `json:"owner"`
	Title     string            `json:"title"`
	Labels    map[string]string `json:"labels"`
	Lifecycle Lifecycle         `json:"lifecycle"`
	ReadOnly  string            `json:"read_only,omitempty"` // why this version must not write; empty means it may
	Parent    *store.Position   `json:"parent"`
	Head      store.Head        `json:"head"`
	Epoch     int64             `json:"epoch"`
	Holder    Holder            `json:"holder"`
	Created   int64             `json:"created_at"` // ms UTC
	Updated   int64             `json:"updated_at"` // ms UTC, of the newest event

	Agent       Agent            `json:"agent"`
	Config      Config           `json:"config"`
	Claimed     Claimed          `json:"claimed,omitzero"`
	Arrived     Arrived          `json:"arrived,omitzero"`
	Cwd         string           `json:"cwd"`
	Env         command.EnvDelta `json:"env"`
	Directories []string         `json:"directories"` // added ones; Cwd's root is Config.Root

	Base     []Range  `json:"base"`             // a fork's inherited conversation, oldest first; its own events follow
	Queue    []Queued `json:"queue"`            // messages waiting for their turn
	Turn     *Turn    `json:"turn"`             // the open turn, or nil
	Worked   int64    `json:"worked,omitempty"` // ms that turns took which have ended
	Turns    int      `json:"turns"`            // turns ever started
	LastTurn *TurnEnd `json:"last_turn"`        // how the newest ended turn ended
	Context  Context  `json:"context"`
	Given    []Given  `json:"given,omitempty"` // texts that nobody said, such as instructions from files
	// Compaction is one that is asked for or under way; Overlay the newest one that holds.
	Compaction  *Compaction `json:"compaction,omitempty"`
	Overlay     *Overlay    `json:"overlay,omitempty"`
	Compactions int64       `json:"compactions,omitempty"` // number of the newest one
	Handoff     *Handoff    `json:"handoff,omitempty"`     // the newest one
	Usage       []ModelUse  `json:"usage"`                 // by model, in order of first use
	Spent       int64       `json:"spent"`                 // nano-USD of sealed calls whose price is known
	Unpriced    int64       `json:"unpriced"`              // sealed calls whose price is unknown

	Permissions Permissions             `json:"permissions"`
	Settled     []Act                   `json:"settled"`
	Files       Files                   `json:"files"`
	Told        map[string]store.Digest `json:"told,omitempty"` // changes of Files that the model was told of, by path
	Tasks       []Task                  `json:"tasks"`
	NextTask    int                     `json:"next_task"`  // number of the newest task ever named
	Awaits      []Await                 `json:"awaits"`     // open ones, oldest first
	NextAwait   int64                   `json:"next_await"` // number of the newest await ever
	Untold      Untold                  `json:"untold"`
	Workspace   Workspace               `json:"workspace,omitzero"`
	Plan        []Step                  `json:"plan"`
	Facts       []Fact                  `json:"facts"`
	Scratch     map[string][]byte       `json:"scratch"`
	ScratchSize int                     `json:"scratch_size"` // bytes of Scratch, keys included
	Timers      map[string]int64        `json:"timers"`

	Dropped Dropped  `json:"dropped"`
	Faults  []string `json:"faults,omitempty"` // events that did not fit the state; a sound log has none

	fileOrder []fileRef // Files by age; only a cache, see boundFiles
}

// Holder is who resumed the session last.
type Holder struct {
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	Build  string `json:"build"`
}

// Dropped counts what left the state by its bounds.
type Dropped struct {
	Settled int64 `json:"settled"`
	// Decisions counts permission decisions.
	Decisions int64 `json:"decisions"`
	Files     int64 `json:"files"`
	Tasks     int64 `json:"tasks"`
	Faults    int64 `json:"faults"`
	Points    int64 `json:"points,omitempty"` // see [FilePoint]
	Artifacts int64 `json:"artifacts,omitempty"`
}

// New returns the empty state of a session, before its first event.
func New(id string) *State {
	return &State{ID: id, Lifecycle: LifecycleOpen}
}

// Apply decodes and folds one event. It fails, leaving the state as it was, when the event does not follow the head
// or its body is corrupt; an event that makes no sense is folded as a fault instead.
func (s *State) Apply(e store.Event) error {
	if e.Seq != s.Head.Seq+1 {
		return fmt.Errorf("event %d does not follow %d", e.Seq, s.Head.Seq)
	}
	body, err := Decode(e)
	if err != nil {
		return err
	}
	s.ApplyBody(e, body)
	return nil
}

// ApplyBody folds an event whose body is at hand: as [Chain.Event] sealed it, or as [Decode] gave it. The state keeps
// parts of the body: it must not be changed afterwards.
func (s *State) ApplyBody(e store.Event, body Body) {
	s.Head = store.Head{Seq: e.Seq, Hash: e.Hash}
	s.Updated = max(s.Updated, e.Time)
	body.apply(s, e)
	s.converse(e, body)
	s.Untold.follow(e, body)
}

// Fold computes the state of a log.
func Fold(id string, events []store.Event) (*State, error) {
	s := New(id)
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			return s, err
		}
	}
	return s, nil
}

// fault notes an event that does not fit. The state stays usable; verify reports it.
func (s *State) fault(e store.Event, format string, args ...any) {
	if len(s.Faults) >= maxFaults {
		s.Dropped.Faults++
		return
	}
	s.Faults = append(s.Faults, fmt.Sprintf("event %d (%s): ", e.Seq, e.Kind)+fmt.Sprintf(format, args...))
}
