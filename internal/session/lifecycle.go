package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Lifecycle is where a session stands for its owner. It is stored; what the session is doing is [Activity].
type Lifecycle string

// The lifecycles.
const (
	LifecycleOpen     Lifecycle = "open"
	LifecyclePaused   Lifecycle = "paused" // starts nothing new
	LifecycleClosed   Lifecycle = "closed" // done; kept for audit
	LifecycleArchived Lifecycle = "archived"
)

// Known reports whether l is one of the lifecycles.
func (l Lifecycle) Known() bool {
	return l == LifecycleOpen || l == LifecyclePaused || l.Over()
}

// Over reports whether a session of this lifecycle takes no more turns.
func (l Lifecycle) Over() bool { return l == LifecycleClosed || l == LifecycleArchived }

// Agent is the full copy of the definition that a session was opened from. System and Tools are frozen: they are
// part of every request's prefix.
type Agent struct {
	Name       string       `json:"name"`
	Version    string       `json:"version,omitempty"`
	Provider   string       `json:"provider"`
	Model      string       `json:"model"`
	System     string       `json:"system"`
	Tools      []byte       `json:"tools"` // JSON array as sent to the model; base64 here, since JSON would re-space it
	MaxTokens  int64        `json:"max_tokens"`
	Window     int64        `json:"window,omitempty"` // context window in tokens; 0 is unknown
	Price      *model.Price `json:"price"`            // nil is unknown
	APIVersion string       `json:"api_version,omitempty"`
	Betas      []string     `json:"betas,omitempty"`
	Thinking   int64        `json:"thinking_tokens,omitempty"`
}

// Config is what may change while a session lives.
type Config struct {
	Mode       string `json:"mode"`        // permission mode
	Root       string `json:"root"`        // directory the session was opened in
	MaxSteps   int    `json:"max_steps"`   // of a turn, counted from when it was set; 0 is none
	BudgetNano int64  `json:"budget_nano"` // nano-USD the session may spend in all; 0 is none
	// RetryForMS is how long a model that cannot be reached is waited for, from the first failure on, in ms; 0 tries
	// once, nil leaves it to the engine.
	RetryForMS *int64 `json:"retry_for_ms,omitempty"`
	// CompactAt is how full the model's window may be, in thousandths, before the conversation is compacted; 0 is
	// [CompactAtDefault].
	CompactAt int  `json:"compact_at,omitempty"`
	NoCompact bool `json:"no_compact,omitempty"` // stop there instead, unless somebody asks for it
	// OnLost is what becomes of the files after an act of which nobody can tell what it did; empty: [OnLostTell].
	OnLost string `json:"on_lost,omitempty"`
}

// Opened is the first event of a session that is no fork.
type Opened struct {
	headOnly
	ID     string            `json:"id"`
	Owner  string            `json:"owner"`
	Title  string            `json:"title,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Agent  Agent             `json:"agent"`
	Config Config            `json:"config"`
	Cwd    string            `json:"cwd"`
	Dirs   []string          `json:"directories,omitempty"`
}

func (b *Opened) summary() string { return b.Agent.Provider + "/" + b.Agent.Model + " in " + b.Cwd }

func (b *Opened) show(m map[string]any) {
	if agent, ok := m["agent"].(map[string]any); ok {
		delete(agent, "tools")
		viewJSON(agent, "tools", b.Agent.Tools)
	}
}

func (b *Opened) apply(s *State, e store.Event) {
	if e.Seq != 1 {
		s.fault(e, "a session is opened once")
		return
	}
	s.ID, s.Owner, s.Title, s.Created = b.ID, b.Owner, b.Title, e.Time
	s.Agent, s.Config, s.Cwd = b.Agent, b.Config, b.Cwd
	s.label(e, b.Labels)
	s.addDirs(e, b.Dirs)
}

// Resumed says that a holder took the lease. Acts of older epochs are interrupted from here on.
type Resumed struct {
	headOnly
	Epoch  int64  `json:"epoch"`
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	PID    int    `json:"pid"`
	Build  string `json:"build"`
}

func (b *Resumed) summary() string {
	return fmt.Sprintf("epoch %d, pid %d on %s", b.Epoch, b.PID, b.Host)
}

func (b *Resumed) apply(s *State, e store.Event) {
	if b.Epoch <= s.Epoch {
		s.fault(e, "epoch %d after %d", b.Epoch, s.Epoch)
	}
	s.Epoch = max(b.Epoch, s.Epoch)
	s.Holder = Holder{Host: b.Host, BootID: b.BootID, Build: b.Build}
	// Bypass is a decision of the person at the keyboard, for as long as they sit there.
	if s.Config.Mode == modeBypass {
		s.setMode(modeDefault)
	}
}

// The permission modes that this package knows of: the one that is never restored, and what takes its place.
const (
	modeBypass  = "bypassPermissions"
	modeDefault = "default"
)

func (s *State) setMode(mode string) {
	s.Config.Mode = mode
	s.redecide()
}

// Released says that the holder gave the lease back.
type Released struct {
	headOnly
	Reason string `json:"reason"` // done, parked, or the signal
}

func (b *Released) summary() string { return b.Reason }

func (*Released) apply(s *State, _ store.Event) {
	s.settleHandoff()
	s.Workspace.Unsure = 0 // whoever gives a session back has looked
}

// Configured changes configuration. A nil field stays as it is.
type Configured struct {
	headOnly
	Mode       *string  `json:"mode,omitempty"`
	MaxSteps   *int     `json:"max_steps,omitempty"`
	BudgetNano *int64   `json:"budget_nano,omitempty"`
	RetryForMS *int64   `json:"retry_for_ms,omitempty"`
	CompactAt  *int     `json:"compact_at,omitempty"`
	NoCompact  *bool    `json:"no_compact,omitempty"`
	OnLost     *string  `json:"on_lost,omitempty"`
	AddDirs    []string `json:"add_directories,omitempty"`
	// Another directory to work in: where the session belongs, and where commands run from now on.
	Root *string `json:"root,omitempty"`
	Cwd  *string `json:"cwd,omitempty"`
	// Moved: Root is a copy of the former one, so that what the session knows of paths there holds of those in Root.
	Moved bool `json:"moved,omitempty"`
	// Renamed: the former Root is gone, and Root has taken its place, so that what is known of its files holds of those
	// in Root, too.
	Renamed bool `json:"renamed,omitempty"`
	// Another model: the tools and the system prompt stay, the thinking of the former model is lost to it.
	Provider  *string      `json:"provider,omitempty"`
	Model     *string      `json:"model,omitempty"`
	MaxTokens *int64       `json:"max_tokens,omitempty"`
	Window    *int64       `json:"window,omitempty"`
	Price     *model.Price `json:"price,omitempty"`
}

func (b *Configured) summary() string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if b.Mode != nil {
		add("mode %s", *b.Mode)
	}
	if b.Model != nil && b.Provider != nil {
		add("model %s/%s", *b.Provider, *b.Model)
	}
	if b.MaxSteps != nil {
		add("max steps %d", *b.MaxSteps)
	}
	if b.BudgetNano != nil {
		add("budget $%.2f", float64(*b.BudgetNano)/1e9)
	}
	if b.RetryForMS != nil {
		add("retries for %s", time.Duration(*b.RetryForMS)*time.Millisecond)
	}
	if b.CompactAt != nil {
		add("compacts at %.1f %% of the window", float64(*b.CompactAt)/10)
	}
	if b.NoCompact != nil {
		add("compacts only when asked: %t", *b.NoCompact)
	}
	if b.OnLost != nil {
		add("files after a lost act: %s", *b.OnLost)
	}
	if b.Root != nil {
		add("belongs to %s", *b.Root)
	}
	if b.Cwd != nil {
		add("works in %s", *b.Cwd)
	}
	for _, d := range b.AddDirs {
		add("directory %s", d)
	}
	return strings.Join(out, ", ")
}

func (b *Configured) apply(s *State, e store.Event) {
	if b.Mode != nil && *b.Mode != s.Config.Mode {
		s.setMode(*b.Mode)
	}
	if b.BudgetNano != nil {
		s.Config.BudgetNano, s.Claimed.Budget = *b.BudgetNano, false
	}
	if b.RetryForMS != nil {
		s.Config.RetryForMS, s.Claimed.Retry = b.RetryForMS, false
	}
	set(&s.Config.CompactAt, b.CompactAt)
	set(&s.Config.NoCompact, b.NoCompact)
	if b.Root != nil && (b.Moved || b.Renamed) {
		s.move(relocation{from: s.Config.Root, to: *b.Root, beside: true})
	}
	if b.Root != nil && b.Renamed {
		s.Workspace.renamed(s.Config.Root, *b.Root)
	}
	set(&s.Config.OnLost, b.OnLost)
	set(&s.Config.Root, b.Root)
	set(&s.Cwd, b.Cwd)
	set(&s.Agent.Provider, b.Provider)
	set(&s.Agent.MaxTokens, b.MaxTokens)
	set(&s.Agent.Window, b.Window)
	if b.Model != nil {
		s.Agent.Model, s.Agent.Price = *b.Model, b.Price
	}
	if b.MaxSteps != nil {
		s.Config.MaxSteps, s.Claimed.Steps = *b.MaxSteps, false
		if s.Turn != nil {
			s.Turn.StepBase = s.Turn.Step
		}
	}
	s.addDirs(e, b.AddDirs)
}

func (s *State) addDirs(e store.Event, dirs []string) {
	for _, d := range dirs {
		switch {
		case slices.Contains(s.Directories, d):
		case len(s.Directories) >= maxDirectories:
			s.fault(e, "more than %d directories", maxDirectories)
		default:
			s.Directories = append(s.Directories, d)
		}
	}
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// LifecycleSet moves the session in its lifecycle.
type LifecycleSet struct {
	headOnly
	To Lifecycle `json:"to"`
}

func (b *LifecycleSet) summary() string { return string(b.To) }

func (b *LifecycleSet) apply(s *State, e store.Event) {
	if !b.To.Known() {
		s.fault(e, "there is no lifecycle %q", b.To)
		return
	}
	s.Lifecycle = b.To
}

// Labelled renames the session or changes its labels; an empty label value removes it.
type Labelled struct {
	headOnly
	Title  *string           `json:"title,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

func (b *Labelled) summary() string {
	if b.Title != nil {
		return "name " + *b.Title
	}
	return fmt.Sprint(b.Labels)
}

func (b *Labelled) apply(s *State, e store.Event) {
	set(&s.Title, b.Title)
	s.label(e, b.Labels)
}

// label sets labels in the order of their keys, so that the bound cuts the same ones everywhere.
func (s *State) label(e store.Event, labels map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		v := labels[k]
		_, known := s.Labels[k]
		switch {
		case v == "":
			delete(s.Labels, k)
		case !known && len(s.Labels) >= maxMetadata:
			s.fault(e, "more than %d labels", maxMetadata)
		default:
			if s.Labels == nil {
				s.Labels = map[string]string{}
			}
			s.Labels[k] = v
		}
	}
}
