package session

import (
	"fmt"
	"strings"
)

// Act is how a settled tool call is remembered.
type Act struct {
	ID      string   `json:"id"`
	Tool    string   `json:"tool"`
	Effect  Effect   `json:"effect"`
	State   ActState `json:"state"`
	Outcome Outcome  `json:"outcome"`
	Reason  string   `json:"reason,omitempty"`
	About   string   `json:"about,omitempty"` // of one that may have changed something: its command or path, at most 160 bytes
}

// ActState is the explicit state of a tool call's work.
type ActState string

// The states of an act.
const (
	ActPlanned          ActState = "planned"
	ActAwaitingApproval ActState = "awaiting_approval"
	ActExecuting        ActState = "executing"
	ActWaitingExternal  ActState = "waiting_external" // a human's answer, or a retry's delay
	ActDone             ActState = "done"
	ActFailed           ActState = "failed"
	ActBlocked          ActState = "blocked" // unknown outcome, awaiting policy
)

// Changes reports whether an act of this class may change something outside of the session.
func (e Effect) Changes() bool { return e == EffectProcess || e == EffectEdit || e == EffectExternal }

// Outcome is how an act ended; empty while it has not.
type Outcome string

// The outcomes of an act.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeError     Outcome = "error"
	OutcomeDenied    Outcome = "denied"
	OutcomeCancelled Outcome = "cancelled"
	OutcomeUnknown   Outcome = "unknown"
)

// SafeToRetry reports whether an act of this class may run again without asking.
func (e Effect) SafeToRetry() bool { return e == EffectRead || e == EffectQuestion }

// ActBase names a block's act without its attempt. Block 0 is the model call itself.
func ActBase(turn, step, block int) string { return fmt.Sprintf("t%d.s%d.b%d", turn, step, block) }

// CallBase names, without an attempt, the tool call that is block i, from 0, of the reply to a model call's act.
func CallBase(act string, i int) string {
	step, _, _ := strings.Cut(act, ".b")
	return fmt.Sprintf("%s.b%d", step, i+1)
}

// AttemptID names one attempt of an act.
func AttemptID(base string, attempt int) string { return fmt.Sprintf("%s.a%d", base, attempt) }

// BaseOf cuts the attempt off an act id.
func BaseOf(id string) string {
	if i := strings.LastIndex(id, ".a"); i > 0 {
		return id[:i]
	}
	return id
}

// settle remembers a settled act within the bound.
func (s *State) settle(a Act) {
	var dropped int
	s.Settled, dropped = remember(s.Settled, a)
	s.Dropped.Settled += int64(dropped)
}

// remember appends within the bound of maxSettled and tells how many of the oldest left. What was handed out of list
// before does not change; the front is cut by slicing, so that a step costs the same however much was settled.
func remember[T any](list []T, v T) ([]T, int) {
	drop := max(0, len(list)-maxSettled+1)
	return append(list[drop:], v), drop
}
