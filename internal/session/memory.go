package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// FileSeen says that the agent read, changed or created a file.
type FileSeen struct {
	headOnly
	File File `json:"file"`
}

func (b *FileSeen) summary() string { return string(b.File.Use) + " " + b.File.Path }

func (b *FileSeen) apply(s *State, e store.Event) {
	f := b.File
	f.Time, f.Seq = e.Time, e.Seq
	old, known := s.Files[f.Path]
	if known && old.Use == FileCreated && f.Use == FileModified || known && f.Use == FileRead {
		f.Use = old.Use
	}
	if s.Files == nil {
		s.Files = Files{}
	}
	s.Files[f.Path] = f
	delete(s.Told, f.Path)
	s.boundFiles(f)
}

// FileChange is a file that is not on disk as the session knows it, as the model was told. A zero digest: it is gone.
type FileChange struct {
	Path   string       `json:"path"`
	Digest store.Digest `json:"digest,omitzero"`
}

// told remembers what the model was told of a known file until it sees the file again.
func (s *State) told(c FileChange) {
	if _, known := s.Files[c.Path]; !known {
		return
	}
	if s.Told == nil {
		s.Told = map[string]store.Digest{}
	}
	s.Told[c.Path] = c.Digest
}

// fileRef is a file as of one event about it; a newer event makes it stale.
type fileRef struct {
	seq  int64
	path string
}

// boundFiles forgets the file that was seen longest ago when there is one too many. The order is kept beside the
// files, stale entries in it, and rebuilt from them where it is missing: after a snapshot, or when it has grown.
func (s *State) boundFiles(seen File) {
	if len(s.fileOrder) == 0 || len(s.fileOrder) >= 2*maxFiles {
		s.fileOrder = make([]fileRef, 0, 2*len(s.Files))
		for path, f := range s.Files {
			s.fileOrder = append(s.fileOrder, fileRef{f.Seq, path})
		}
		slices.SortFunc(s.fileOrder, func(a, b fileRef) int { return cmp.Compare(a.seq, b.seq) })
	} else {
		s.fileOrder = append(s.fileOrder, fileRef{seen.Seq, seen.Path})
	}
	for len(s.Files) > maxFiles && len(s.fileOrder) > 0 {
		oldest := s.fileOrder[0]
		s.fileOrder = s.fileOrder[1:]
		if f, known := s.Files[oldest.path]; known && f.Seq == oldest.seq {
			delete(s.Files, oldest.path)
			delete(s.Told, oldest.path)
			s.Dropped.Files++
		}
	}
}

// Fact is a statement of the durable tier: it survives compaction.
type Fact struct {
	Kind       string `json:"kind"` // fact, decision, finding, failed_approach, constraint
	Text       string `json:"text"`
	Reason     string `json:"reason,omitempty"`
	Provenance string `json:"provenance"` // user, tool, model, import
	Seq        int64  `json:"seq"`
	Time       int64  `json:"time"`
}

// FactAdded adds a fact. The engine refuses more than the bound before appending.
type FactAdded struct {
	headOnly
	Fact Fact `json:"fact"`
}

func (b *FactAdded) summary() string { return b.Fact.Kind + ": " + b.Fact.String() }

// String is the statement with its reason.
func (f Fact) String() string {
	if f.Reason == "" {
		return f.Text
	}
	return f.Text + " (" + f.Reason + ")"
}

func (b *FactAdded) apply(s *State, e store.Event) {
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

func (b *StateSet) summary() string { return b.Key }

func (b *StateSet) show(m map[string]any) {
	if !b.Delete {
		viewText(m, "value", b.Value)
	}
}

func (b *StateSet) parts() []*[]byte { return []*[]byte{&b.Value} }

func (b *StateSet) apply(s *State, e store.Event) {
	old, known := s.Scratch[b.Key]
	if b.Delete {
		if known {
			delete(s.Scratch, b.Key)
			s.ScratchSize -= len(b.Key) + len(old)
		}
		return
	}
	if !s.ScratchFits(b.Key, b.Value) {
		s.fault(e, "scratch state over %d bytes", maxScratch)
		return
	}
	if s.Scratch == nil {
		s.Scratch = map[string][]byte{}
	}
	if known {
		s.ScratchSize -= len(b.Key) + len(old)
	}
	s.ScratchSize += len(b.Key) + len(b.Value)
	s.Scratch[b.Key] = append([]byte{}, b.Value...)
}

// ScratchFits reports whether the scratch state stays within its bound of 1 MiB, keys included, with this value set.
// The engine refuses what does not fit before it is appended.
func (s *State) ScratchFits(key string, value []byte) bool {
	n := s.ScratchSize + len(key) + len(value)
	if old, known := s.Scratch[key]; known {
		n -= len(key) + len(old)
	}
	return n <= maxScratch
}

// FactFits reports whether one more fact stays within the bound.
func (s *State) FactFits() bool { return s.FactsFit(1) }

// FactsFit reports whether n more facts stay within it.
func (s *State) FactsFit(n int) bool { return len(s.Facts)+n <= maxFacts }

// App carries another program's data: a namespace and opaque bytes.
type App struct {
	Namespace string `json:"namespace"`
	Data      []byte `json:"-"`
}

func (b *App) summary() string { return fmt.Sprintf("%s, %d bytes", b.Namespace, len(b.Data)) }

func (b *App) show(m map[string]any) { viewText(m, "data", b.Data) }

func (b *App) parts() []*[]byte { return []*[]byte{&b.Data} }

func (*App) apply(*State, store.Event) {}

// InboxRefused says why an inbox item was not taken.
type InboxRefused struct {
	headOnly
	Key    string     `json:"key"`
	Item   store.Kind `json:"item"`
	Reason string     `json:"reason"`
}

func (b *InboxRefused) summary() string { return string(b.Item) + ": " + b.Reason }

func (*InboxRefused) apply(*State, store.Event) {}

// TimerSet asks for a wake-up. Its id must not be one that Next uses for something else; see [TimerID].
type TimerSet struct {
	headOnly
	ID string `json:"id"`
	At int64  `json:"at"` // ms UTC
}

func (b *TimerSet) summary() string { return b.ID }

func (b *TimerSet) apply(s *State, e store.Event) {
	_, known := s.Timers[b.ID]
	switch {
	case !strings.HasPrefix(b.ID, timerPrefix):
		s.fault(e, "timer %q: its id does not begin with %q", b.ID, timerPrefix)
		return
	case !known && len(s.Timers) >= maxTimers:
		s.fault(e, "more than %d timers", maxTimers)
		return
	}
	if s.Timers == nil {
		s.Timers = map[string]int64{}
	}
	s.Timers[b.ID] = b.At
}

const timerPrefix = "timer."

// TimerID is the id of the timer of that name. It keeps timers apart from the other actions of Next.
func TimerID(name string) string { return timerPrefix + name }

// TimerFired says that a wake-up's time has come. Time enters a session only like this. A person who resumes a turn
// whose model call failed fires the call's wake-up too: it goes again at once.
type TimerFired struct {
	headOnly
	ID string `json:"id"`
}

func (b *TimerFired) summary() string { return b.ID }

func (b *TimerFired) apply(s *State, _ store.Event) {
	delete(s.Timers, b.ID)
	s.fireAwait(b.ID)
	if m := s.NewestCall(); m != nil && m.Status == CallFailed && WakeID(m.ID) == b.ID {
		m.retry()
	}
}
