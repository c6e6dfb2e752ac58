package view

import (
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Result says how a run ended. It describes the newest turn of the run; its JSON form is a contract.
type Result struct {
	SessionID string `json:"session_id"`
	Turn      int    `json:"turn"`
	// StopReason is end_turn, refusal, context_limit, error or cancelled of a turn that has ended; of one that is open
	// waiting_approval, waiting_answer, max_steps, max_budget, error (see Failure) or parked; none when no turn ran.
	StopReason string      `json:"stop_reason"`
	Result     string      `json:"result"`
	Usage      model.Usage `json:"usage"`
	CostUSD    *float64    `json:"cost_usd"` // null: a price is unknown
	Steps      int         `json:"steps"`
	IsError    bool        `json:"is_error"`
	Waiting    []Waiting   `json:"waiting"`
	Awaits     []Await     `json:"awaits"` // what the model is still to be told of
	Recovered  []Recovery  `json:"recovered"`
	Tasks      []Task      `json:"tasks"`             // of the session, that live on: find them by `perdure task list`
	Message    string      `json:"message,omitempty"` // why it stopped, if that needs words
	TurnOpen   bool        `json:"turn_open"`         // the turn has not ended: resuming goes on with it
	Before     int64       `json:"before,omitempty"`  // seq of the end of the turn before: a fork there is without this turn
	Failure    *Failure    `json:"failure,omitempty"` // the model call that the open turn is without
	NumTurns   int         `json:"num_turns"`         // that ran, the one that is left open included
	DurationMS int64       `json:"duration_ms"`       // of the run
	Turns      []Turn      `json:"turns,omitempty"`   // if more than one ran: how each ended, oldest first, the last 1,024
}

// Turn is how one turn of a run ended, with what the model said last in it. Its JSON form is a contract.
type Turn struct {
	Turn       int    `json:"turn"`
	StopReason string `json:"stop_reason"` // as that of a [Result]
	Result     string `json:"result"`
}

// Waiting is something that needs a human before the turn can go on.
type Waiting struct {
	Session string       `json:"-"`
	Act     string       `json:"-"`
	Bound   store.Digest `json:"-"` // of an approval: what was shown, see Home.Approve
	Offer   string       `json:"-"` // of an approval: the rule that would cover just this call; empty if there is none

	ID       string    `json:"id"`   // session id:act id
	Kind     string    `json:"kind"` // approval or question
	Tool     string    `json:"tool"`
	Input    any       `json:"input"` // of the call: a json.RawMessage as the model wrote it; a string if that is no JSON
	Question *Question `json:"question,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	// Again: a rule that was granted since may allow it; it is decided when the session goes on, and an answer is still
	// taken.
	Again bool `json:"decided_again,omitempty"`
}

// Question is what a model asks a human.
type Question struct {
	Question string   `json:"question"`
	Options  []string `json:"options,omitempty"`
}

// Await is something that the model is to be told of. Its JSON is an entry of awaits in a run's result and in
// `perdure show --json`.
type Await struct {
	ID      string `json:"id"`
	Event   string `json:"event"`               // end, line or timer
	Task    string `json:"task,omitempty"`      // of end and line
	Pattern string `json:"pattern,omitempty"`   // of line, RE2
	Note    string `json:"note,omitempty"`      // the model's words to itself
	Text    string `json:"text"`                // the same for people, as in "when bash_1 ends"
	Since   Stamp  `json:"set_at"`              //
	At      Stamp  `json:"at"`                  // when it is told at the latest; null is never
	Looked  *int64 `json:"position,omitempty"`  // of line: output up to here was looked at, as far as the log knows
	Gap     int64  `json:"gap_bytes,omitempty"` // of it, dropped before anybody looked
}

// Failure is a model call that failed and left its turn open, for people: what the API said, since when, whether
// anybody tries again by itself, and what helps.
type Failure struct {
	Model   string `json:"model"`            // PROVIDER/MODEL that was asked
	Class   string `json:"class"`            // as in unreachable, rate_limit, auth; see package model
	Status  int    `json:"status,omitempty"` // HTTP status; 0: none came
	Message string `json:"message"`
	Since   Stamp  `json:"since"`    // of the first failure in a row
	Tries   int    `json:"tries"`    // failures in a row
	Rests   bool   `json:"rests"`    // nobody tries again until the session is resumed
	RetryAt Stamp  `json:"retry_at"` // null: no time is set
	Remedy  string `json:"remedy"`   // what to mend
}

// Recovery is one thing that opening or settling a session found out.
type Recovery struct {
	Kind   string `json:"kind"` // act, task, file, grant, mode, turn
	ID     string `json:"id"`
	Text   string `json:"text"`
	Output string `json:"output,omitempty"` // the last lines that a lost task printed
}
