// Package view is what is known of sessions and their tasks, as data: how programs and people read them. Its JSON is
// that of the commands of perdure with --json, and a contract: fields are added, none is removed or changed.
//
// A [Session] is everything about one session, a [Listing] its line in a list, a [Result] what a run of it came to, a
// [Task] a command under an id of its own. Words of closed lists (a status, an effect) are strings, and stand beside
// their fields.
package view

import (
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Session is a session as `perdure show --json` prints it: its state, where its tasks really are, and what waits in its
// inbox. The names of its fields are a contract. Lists are never null.
type Session struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	Owner       string            `json:"owner"`
	Labels      map[string]string `json:"labels"`
	Lifecycle   string            `json:"lifecycle"` // open, paused, closed or archived
	Activity    string            `json:"activity"`  // as in a list (see Home.List): from the log and from who holds the session
	Holder      *Holder           `json:"holder"`    // null: nobody
	Waiting     []Waiting         `json:"waiting"`   // what needs a human
	Failure     *Failure          `json:"failure"`   // the model call that the open turn is without; null: none failed
	Agent       Agent             `json:"agent"`
	Config      Config            `json:"config"`
	Cwd         string            `json:"cwd"`
	Env         map[string]any    `json:"env"` // against the environment of the opening; null removes a variable
	Directories []string          `json:"directories"`
	Parent      *Parent           `json:"parent"`
	Head        store.Head        `json:"head"`
	Epoch       int64             `json:"epoch"`
	Usage       Usage             `json:"usage"` // of the session's own log
	CostUSD     *float64          `json:"cost_usd"`
	Budget      *Budget           `json:"budget"` // null: no limit
	Permissions Permissions       `json:"permissions"`
	Files       Files             `json:"files"`
	Acts        []Act             `json:"acts"` // oldest first; those that are open come last
	Tasks       []Task            `json:"tasks"`
	Awaits      []Await           `json:"awaits"` // what the model is to be told of
	Plan        []Step            `json:"plan"`
	Facts       []Fact            `json:"facts"`
	Scratch     map[string]any    `json:"scratch"`
	Inbox       []InboxItem       `json:"inbox"`
	Created     Stamp             `json:"created_at"`
	Updated     Stamp             `json:"updated_at"`
	Truncated   map[string]int64  `json:"truncated,omitempty"` // what left the state by its bounds; All reads it from the log
	ReadOnly    string            `json:"read_only,omitempty"` // why this version must not write
	Faults      []string          `json:"faults,omitempty"`    // events that did not fit
	Messages    []Message         `json:"messages,omitzero"`
}

// Agent is the copy of an agent's definition that a session keeps.
type Agent struct {
	Name       string       `json:"name"`
	Version    string       `json:"version,omitempty"`
	Provider   string       `json:"provider"`
	Model      string       `json:"model"`
	System     string       `json:"system"`
	MaxTokens  int64        `json:"max_tokens"`
	Window     int64        `json:"window,omitempty"` // context window in tokens; 0 is unknown
	Price      *model.Price `json:"price"`            // null is unknown
	APIVersion string       `json:"api_version,omitempty"`
	Betas      []string     `json:"betas,omitempty"`
	Thinking   int64        `json:"thinking_tokens,omitempty"`
	Tools      any          `json:"tools"` // as sent to the model
}

// Config is what may change while a session lives.
type Config struct {
	Mode       string `json:"mode"`        // permission mode
	Root       string `json:"root"`        // directory the session was opened in
	MaxSteps   int    `json:"max_steps"`   // of a turn, counted from when it was set; 0 is none
	BudgetNano int64  `json:"budget_nano"` // nano-USD the session may spend in all; 0 is none
	// RetryForMS is how long a model that cannot be reached is waited for, from the first failure on, in ms; 0 tries
	// once, absent leaves it to the program that runs the session.
	RetryForMS *int64 `json:"retry_for_ms,omitempty"`
	// CompactAt is how full the model's window may be, in thousandths, before the conversation is compacted; 0 is the
	// default, 800.
	CompactAt int  `json:"compact_at,omitempty"`
	NoCompact bool `json:"no_compact,omitempty"` // stop there instead, unless somebody asks for it
	// OnLost is what becomes of the files after an act of which nobody can tell what it did: tell, ask, keep or
	// rollback; empty: tell.
	OnLost string `json:"on_lost,omitempty"`
}

// Holder is who may append to a session.
type Holder struct {
	ID    string     `json:"id"`
	Host  string     `json:"host"`
	PID   int        `json:"pid"`
	Alive store.Life `json:"alive"`
	Since Stamp      `json:"since_at"`
}

// Parent is where a fork began.
type Parent struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"`
}

// Usage is the usage of a log, in all and by model.
type Usage struct {
	model.Usage
	Models []ModelUse `json:"models"`
}

// ModelUse is one model's usage.
type ModelUse struct {
	Model string `json:"model"` // provider/model
	model.Usage
	Calls   int64    `json:"calls"`
	Lost    int64    `json:"lost_calls"`
	CostUSD *float64 `json:"cost_usd"` // null: a price is unknown
}

// Budget is a money limit and what of it is spent.
type Budget struct {
	Limit float64 `json:"limit_usd"`
	Spent float64 `json:"spent_usd"`
}
