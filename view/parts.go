package view

import "github.com/perdure/perdure/store"

// Act is one act. A model call is listed while it is open.
type Act struct {
	ID      string  `json:"id"`
	Tool    string  `json:"tool"`
	Effect  string  `json:"effect"` // read, process, edit, external or question; empty: not decided yet
	State   string  `json:"state"`  // planned, awaiting_approval, executing, waiting_external, done, failed or blocked
	Safe    bool    `json:"safe_to_retry"`
	Outcome *string `json:"outcome"` // ok, error, denied, cancelled or unknown; null: it has none yet
	Reason  string  `json:"reason,omitempty"`
	// About is its command or path in a few words, Started and Ended when it ran: of the acts that lie within the
	// newest 10,000 events of the session's own log.
	About    string `json:"about,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Started  Stamp  `json:"started_at,omitzero"`
	Ended    Stamp  `json:"ended_at,omitzero"`
}

// Permissions is what a session may do, and what was decided.
type Permissions struct {
	Mode      string     `json:"mode"`
	Rules     []Rule     `json:"rules"`
	Grants    []Grant    `json:"grants"`
	Decisions []Decision `json:"decisions"`
}

// Rule is a permission rule.
type Rule struct {
	Effect string `json:"effect"` // allow, deny or ask
	Text   string `json:"rule"`   // as in Bash(git log:*) or Edit(src/**)
	Source string `json:"source"` // where it comes from: flag (it stays with the session), user, project, session
}

// Grant is a remembered allow.
type Grant struct {
	Rule    string      `json:"rule"`
	Scope   string      `json:"scope"`
	Cwd     string      `json:"cwd,omitempty"` // the directory that it holds in; empty: the one that the session was opened in
	Actor   store.Actor `json:"actor"`
	Seq     int64       `json:"seq"`
	Granted Stamp       `json:"granted_at"`
}

// Decision is one decision about a call.
type Decision struct {
	Act     string `json:"act"`
	Tool    string `json:"tool"`
	Effect  string `json:"effect"` // allow or deny
	Rule    string `json:"rule"`   // empty: the mode decided
	Human   bool   `json:"human"`
	Seq     int64  `json:"seq"`
	Decided Stamp  `json:"decided_at"`
}

// Files is the session's files by what it did with them, each list ordered by path.
type Files struct {
	Read     []File `json:"read"`
	Modified []File `json:"modified"`
	Created  []File `json:"created"`
}

// File is a file as the session last saw it.
type File struct {
	Path   string       `json:"path"`
	Digest store.Digest `json:"digest"`
	Mode   uint32       `json:"mode"` // permission bits
	Size   int64        `json:"size"`
}

// Step is one entry of the plan.
type Step struct {
	Content    string `json:"content"`
	ActiveForm string `json:"active_form,omitempty"`
	Status     string `json:"status"`            // planned, awaiting_approval, executing, waiting_external, done, failed or blocked
	Blocker    string `json:"blocker,omitempty"` // what it waits for
	Reason     string `json:"reason,omitempty"`  // why it stands so
	Output     string `json:"output,omitempty"`  // what came of it
}

// Fact is one statement of the durable tier.
type Fact struct {
	Kind       string `json:"kind"`
	Text       string `json:"text"`
	Provenance string `json:"provenance"`
	Seq        int64  `json:"seq"`
	Added      Stamp  `json:"added_at"`
}

// InboxItem is something that was accepted and has not had its effect: an item that no holder has taken yet, or a
// message of the log (it has a seq) that waits for its turn.
type InboxItem struct {
	Key   string      `json:"key"`
	Kind  store.Kind  `json:"kind"`
	Actor store.Actor `json:"actor"`
	Seq   int64       `json:"seq,omitempty"`
	Text  string      `json:"text,omitempty"` // of a message
	Body  any         `json:"body"`
	Sent  Stamp       `json:"sent_at"`
}
