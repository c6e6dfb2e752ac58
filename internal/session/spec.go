package session

import (
	"time"

	"github.com/perdure/perdure/store"
)

// Mode is a permission mode: what happens to calls that no rule decides. Package permission has the modes.
type Mode string

// Spec describes a session to create.
type Spec struct {
	ID     string // empty: a new one
	Owner  string
	Title  string
	Labels map[string]string
	Agent  Agent          // Tools empty: the engine's
	Mode   Mode           // empty: default; bypass is no session's, only a run's: [Options].Mode
	Cwd    string         // absolute; empty only if nothing works in it
	Dirs   []string       // absolute
	Fresh  bool           // what an earlier session in the directory left, its handoff and plan, is not read
	Events []Body         // of a program's own, that come after the first in the same commit
	Shared []store.Shared // values to set in the same commit
}

// Options are what a caller brings to an opened session. Zero fields change nothing.
type Options struct {
	Mode       Mode   // of this run; bypass lasts no longer than the lease
	Rules      []Rule // if SetRules: replace the ones in force, but for those of flags, which stay
	SetRules   bool
	MaxSteps   *int
	BudgetNano *int64
	CompactAt  *int           // how full the window may be before the conversation is compacted, in thousandths; 0: the default
	NoCompact  *bool          // compact only when asked
	OnLost     string         // what becomes of files after an act that nobody can tell the outcome of: [OnLostTell] and so on
	RetryFor   *time.Duration // how long a model that cannot be reached is waited for; 0: not at all
	AddDirs    []string
	Root       string      // another directory that the session belongs to, absolute
	Cwd        string      // another directory that commands run in, absolute; the model is told
	Agent      *Agent      // another provider, model, window and price; the rest of it is ignored
	Actor      store.Actor // who opens; zero: user
	NewPrompt  bool        // a prompt follows: a turn that a limit or a failed model call has halted is given up
}

// Recovery is something that opening a session found out.
type Recovery struct {
	Kind   string `json:"kind"` // act, task, file, grant, mode, turn
	ID     string `json:"id"`
	Text   string `json:"text"`
	Output string `json:"output,omitempty"` // the last lines that a lost task printed
}

// FilesUpdate is the kind of an [Update] that tells how far work on the session's files is that takes long, such as a
// capture or a restore: Text is for people. Deltas of a model's reply have the kinds of package model.
const FilesUpdate = "files"

// Update is something that an observer may show: an event once it is durable, or a delta of a running model call.
type Update struct {
	Session string
	Event   *store.Event // nil for a delta
	Body    Body
	Act     string // of the delta
	Kind    string // of the delta: text, thinking, tool; summary for the text of a compaction's summary
	Text    string
	Tool    string // of a tool's delta: its name
	Use     string // and the provider's id of the call
}
