package session

// Bounds of a step. Of a reply with more calls the others are not made; of the outstanding decisions, effects and
// conclusions the first ones are listed, so that a step's cost grows with the number of its calls and not with its square.
const (
	maxStepCalls = 1000
	maxListed    = 32
)

const tooManyCalls = "This call was not made: a reply may make at most 1,000 calls. Make it again in your next reply."

// nextCalls returns the first actions of the newest step's tool calls; done tells that every call is settled.
//
// Decisions are taken for all calls at once, so that a human is asked everything in one go. Effects happen in block
// order; only reads that follow each other overlap. A call that waits for a human holds back those after it.
func (s *State) nextCalls(t *Turn) (as []Action, done bool) {
	done = true
	var decides, effects, others int // listed so far
	held := false                    // an earlier call waits for outside input, or is not listed
	before := []string{}             // unsettled calls before this one
	reads := 0                       // how many of them, from the end, are reads
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Settled() {
			continue
		}
		done = false
		a := Action{ID: c.ID, Turn: t.N, Do: s.nextCall(t, c)}
		if _, ok := a.Do.(Decide); ok && i >= maxStepCalls {
			a.Do = Conclude{Call: c, Outcome: OutcomeError, Text: tooManyCalls}
		}
		listed := false
		switch a.Do.(type) {
		case nil:
		case Decide:
			listed = s.Lifecycle == LifecycleOpen && room(&decides)
		case Execute:
			switch {
			case c.State == ActExecuting: // under way: it waits for nobody, and stays wanted
				listed = true
			case !held && s.Lifecycle == LifecycleOpen && room(&effects):
				a.After = waitFor(before, reads, c.Effect)
				listed = true
			}
		case Settle: // what was under way
			listed = true
		default:
			listed = room(&others)
		}
		if listed {
			as = append(as, a)
		} else {
			held = true
		}
		if !held {
			before = append(before, c.ID)
		}
		if c.Effect == EffectRead {
			reads++
		} else {
			reads = 0
		}
	}
	return as, done
}

// room counts one more of a kind of action, up to the bound.
func room(n *int) bool {
	if *n == maxListed {
		return false
	}
	*n++
	return true
}

// waitFor lists which of the unsettled calls before it a call must wait for: all of them, but a read not for the
// reads just before it, as long as no more than maxOverlap run at once.
func waitFor(before []string, reads int, effect Effect) []string {
	n := len(before)
	if effect == EffectRead {
		n -= min(reads, maxOverlap-1)
	}
	return before[:n:n] // shared: a step of thousands of calls must not cost their square
}

// nextCall says what one unsettled call needs; nil is outside input.
func (s *State) nextCall(t *Turn, c *Call) Do {
	cancel := t.Cancel != nil
	switch {
	case c.Left:
		return Conclude{Call: c, Outcome: OutcomeCancelled, Text: "This call was left to the parent session; its outcome is not known here."}
	case c.State == ActExecuting && (cancel || c.Start.Epoch < s.Epoch):
		return Settle{Call: c, Cancel: cancel}
	case c.State == ActExecuting:
		return Execute{Call: c}
	case cancel:
		return Conclude{Call: c, Outcome: OutcomeCancelled, Text: "Cancelled by user."}
	case c.Answer != nil:
		return Conclude{Call: c, Outcome: OutcomeOK, Text: *c.Answer}
	case c.State == ActWaitingExternal, c.State == ActAwaitingApproval, c.State == ActBlocked:
		return nil
	case c.Approval != nil && c.Approval.Answered && !c.Approval.Allow:
		return Conclude{Call: c, Outcome: OutcomeDenied, Text: deniedText(c.Approval.Message)}
	case c.Decision == nil || c.Decision.Epoch < s.Epoch || !c.fit && c.Decision.Bound != s.Binding(c):
		return Decide{Call: c}
	case !c.Decision.Allow:
		return Conclude{Call: c, Outcome: OutcomeDenied, Text: "Permission denied: " + c.Decision.Reason}
	}
	return Execute{Call: c}
}

func deniedText(message string) string {
	if message == "" {
		return "The user denied permission for this call."
	}
	return "The user denied permission for this call, saying: " + message
}

// Wait is something that needs a human.
type Wait struct {
	Call *Call
	Kind string // approval or question
}

// DecidedAgain lists the calls that a human was asked about and that are decided anew when the session goes on, because
// its rules or grants have changed since. They may need no answer any more; until then one is still taken.
func DecidedAgain(s *State) (calls []*Call) {
	if s.Turn == nil || s.Turn.Cancel != nil {
		return nil
	}
	for i := range s.Turn.Calls {
		if c := &s.Turn.Calls[i]; c.State == ActPlanned && c.Asks() && !c.Left {
			calls = append(calls, c)
		}
	}
	return calls
}

// Waits lists what the open turn waits for from humans.
func Waits(s *State) (ws []Wait) {
	if s.Turn == nil || s.Turn.Cancel != nil {
		return nil
	}
	for i := range s.Turn.Calls {
		c := &s.Turn.Calls[i]
		switch {
		case c.Settled() || c.Left:
		case c.State == ActAwaitingApproval:
			ws = append(ws, Wait{Call: c, Kind: "approval"})
		case c.State == ActWaitingExternal && c.Answer == nil, c.Lost():
			ws = append(ws, Wait{Call: c, Kind: "question"})
		}
	}
	return ws
}
