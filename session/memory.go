package session

import (
	"cmp"
	"maps"
	"slices"
)

// FileSeen says that the agent read, changed or created a file.
type FileSeen struct {
	headOnly
	File File `json:"file"`
}

// Kind is file.seen.
func (*FileSeen) Kind() Kind { return KindFileSeen }

func (b *FileSeen) apply(s *State, e Event) {
	f := b.File
	f.Time, f.Seq = e.Time, e.Seq
	old, known := s.Files[f.Path]
	if known && old.Use == FileCreated && f.Use == FileModified || known && f.Use == FileRead {
		f.Use = old.Use
	}
	if s.Files == nil {
		s.Files = map[string]File{}
	}
	s.Files[f.Path] = f
	if len(s.Files) > maxFiles {
		s.dropFile()
	}
}

// dropFile forgets the file that was seen longest ago.
func (s *State) dropFile() {
	oldest := slices.MinFunc(slices.Collect(maps.Values(s.Files)), func(a, b File) int { return cmp.Compare(a.Seq, b.Seq) })
	delete(s.Files, oldest.Path)
	s.Dropped.Files++
}

// PlanSet replaces the plan.
type PlanSet struct {
	headOnly
	Steps []Step `json:"steps"`
}

// Kind is plan.set.
func (*PlanSet) Kind() Kind { return KindPlanSet }

func (b *PlanSet) apply(s *State, _ Event) { s.Plan = b.Steps }

// Fact is a statement of the durable tier: it survives compaction.
type Fact struct {
	Kind       string `json:"kind"` // fact, decision, finding, failed_approach
	Text       string `json:"text"`
	Provenance string `json:"provenance"` // user, tool, model, import
	Seq        int64  `json:"seq"`
	Time       int64  `json:"time"`
}

// FactAdded adds a fact. The engine refuses more than the bound before appending.
type FactAdded struct {
	headOnly
	Fact Fact `json:"fact"`
}

// Kind is fact.added.
func (*FactAdded) Kind() Kind { return KindFactAdded }

func (b *FactAdded) apply(s *State, e Event) {
	if len(s.Facts) >= maxFacts {
		s.fault(e, "more than %d facts", maxFacts)
		return
	}
	f := b.Fact
	f.Seq, f.Time = e.Seq, e.Time
	s.Facts = append(s.Facts, f)
}

// StateSet sets or deletes one key of the scratch state.
type StateSet struct {
	Key    string `json:"key"`
	Delete bool   `json:"delete,omitempty"`
	Value  []byte `json:"-"`
}

// Kind is state.set.
func (*StateSet) Kind() Kind { return KindStateSet }

func (b *StateSet) parts() []*[]byte { return []*[]byte{&b.Value} }

func (b *StateSet) apply(s *State, e Event) {
	if b.Delete {
		delete(s.Scratch, b.Key)
		return
	}
	if !s.ScratchFits(b.Key, b.Value) {
		s.fault(e, "scratch state over %d bytes", maxScratch)
		return
	}
	if s.Scratch == nil {
		s.Scratch = map[string][]byte{}
	}
	s.Scratch[b.Key] = b.Value
}

// ScratchFits tells whether the scratch state stays within its bound of 1 MiB, keys included, with this value set.
// The engine refuses what does not fit before it is appended.
func (s *State) ScratchFits(key string, value []byte) bool {
	n := len(key) + len(value)
	for k, v := range s.Scratch {
		if k != key {
			n += len(k) + len(v)
		}
	}
	return n <= maxScratch
}

// FactFits tells whether one more fact stays within the bound.
func (s *State) FactFits() bool { return len(s.Facts) < maxFacts }

// App carries another program's data: a namespace and opaque bytes.
type App struct {
	Namespace string `json:"namespace"`
	Data      []byte `json:"-"`
}

// Kind is app.
func (*App) Kind() Kind { return KindApp }

func (b *App) parts() []*[]byte { return []*[]byte{&b.Data} }

func (*App) apply(*State, Event) {}

// InboxRefused says why an inbox item was not taken.
type InboxRefused struct {
	headOnly
	Key    string `json:"key"`
	Item   Kind   `json:"item"`
	Reason string `json:"reason"`
}

// Kind is inbox.refused.
func (*InboxRefused) Kind() Kind { return KindInboxRefused }

func (*InboxRefused) apply(*State, Event) {}

// TimerSet asks for a wake-up.
type TimerSet struct {
	headOnly
	ID string `json:"id"`
	At int64  `json:"at"` // ms UTC
}

// Kind is timer.set.
func (*TimerSet) Kind() Kind { return KindTimerSet }

func (b *TimerSet) apply(s *State, _ Event) {
	if s.Timers == nil {
		s.Timers = map[string]int64{}
	}
	s.Timers[b.ID] = b.At
}

// TimerFired says that a wake-up's time has come. Time enters a session only like this.
type TimerFired struct {
	headOnly
	ID string `json:"id"`
}

// Kind is timer.fired.
func (*TimerFired) Kind() Kind { return KindTimerFired }

func (b *TimerFired) apply(s *State, _ Event) {
	delete(s.Timers, b.ID)
	if t := s.Turn; t != nil && t.Model != nil && t.Model.Status == CallFailed && WakeID(t.Model.ID) == b.ID {
		t.Model.Status = CallLost // due: the same request goes again
	}
}
