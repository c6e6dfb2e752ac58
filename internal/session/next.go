package session

import (
	"slices"

	"github.com/perdure/perdure/modelapi"
)

// Action is something that must be done now. It stays in Next under one id from the time its act is planned until
// the act is settled; the engine's in-flight set keeps it from starting twice.
type Action struct {
	ID    string
	Turn  int
	After []string // ids that must no longer be outstanding before this one starts; not to be changed
	Do    Do
}

// Do is what an action asks for. It is sealed.
//
//sumtype:decl
type Do interface{ do() }

// The things an engine is asked to do. Each names what must be appended, and when.
type (
	// StartTurn asks for turn.started. Met: what starts it is no message, but an await that was met.
	StartTurn struct {
		Message int64
		Met     bool
	}
	// EndTurn asks for turn.ended.
	EndTurn struct{ Stop, Message string }
	// CallModel asks for model.requested, then the call, then model.responded or model.failed.
	CallModel struct {
		Step, Attempt int
		Through       int64 // retry: send what was sent, up to this seq; 0: everything there is
	}
	// Decide asks for tool.decided, approval.requested or question.asked; or for tool.finished, when the call
	// cannot be made at all.
	Decide struct{ Call *Call }
	// Execute asks for tool.started, then the effect, then tool.finished. An edit whose file is no longer what it was
	// decided for is decided again instead, as by Decide: the log cannot know that the file has changed.
	Execute struct{ Call *Call }
	// Conclude asks for tool.finished with these words: there is no effect.
	Conclude struct {
		Call    *Call
		Outcome Outcome
		Text    string
	}
	// Settle asks what became of an act: an older epoch left it open, or the turn was cancelled. In flight, it is
	// stopped; otherwise it is looked up. Exactly one of finished, void or unknown (model: lost) is appended.
	Settle struct {
		Call   *Call // nil for the model call
		Cancel bool
	}
	// Wake asks for timer.fired at that time (ms UTC).
	Wake struct{ At int64 }
)

func (StartTurn) do() {}
func (EndTurn) do()   {}
func (CallModel) do() {}
func (Decide) do()    {}
func (Execute) do()   {}
func (Conclude) do()  {}
func (Settle) do()    {}
func (Wake) do()      {}

// WakeID names the wake-up that an act waits for.
func WakeID(act string) string { return act + ".wake" }

// maxOverlap bounds how many reads run at once.
const maxOverlap = 8

// Next returns the set of outstanding actions; of a step's calls the first ones. It is empty exactly if nothing can
// progress without outside input: a message, an approval, an answer, new limits. It is pure.
func Next(s *State) []Action {
	if s.ReadOnly != "" {
		return nil
	}
	if s.Workspace.Restoring() {
		return s.fileActions()
	}
	return s.awaits(s.timers(s.inputs(s.restarts(s.starts(s.kills(s.besideFiles(s.turnActions())))))))
}

// turnActions are the actions of the open turn, or the start of the next.
func (s *State) turnActions() []Action {
	switch {
	case s.ReadOnly != "":
		return nil
	case s.Turn == nil:
		return s.betweenTurns()
	}
	return s.nextInTurn(s.Turn)
}

// betweenTurns are a compaction that was asked for, or the start of the next turn.
func (s *State) betweenTurns() []Action {
	if s.Compaction != nil && (s.Lifecycle == LifecycleOpen || s.Compaction.Model != nil) {
		if as, busy := s.makeRoom(0); busy && len(as) > 0 {
			return as
		}
	}
	return s.nextTurn()
}

func (s *State) nextTurn() []Action {
	switch {
	case s.Woken():
		return []Action{{ID: "turn", Turn: s.Turns + 1, Do: StartTurn{Message: s.Untold.First, Met: true}}}
	case s.Lifecycle != LifecycleOpen || len(s.Queue) == 0:
		return nil
	}
	return []Action{{ID: "turn", Turn: s.Turns + 1, Do: StartTurn{Message: s.Queue[0].Seq}}}
}

// timers adds the wake-ups that were asked for.
func (s *State) timers(as []Action) []Action {
	ids := make([]string, 0, len(s.Timers))
	for id := range s.Timers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		as = append(as, Action{ID: id, Do: Wake{At: s.Timers[id]}})
	}
	return as
}

func (s *State) nextInTurn(t *Turn) []Action {
	end := func(stop, message string) []Action {
		return []Action{{ID: "turn", Turn: t.N, Do: EndTurn{Stop: stop, Message: message}}}
	}
	m := t.Model
	if c := s.Compaction; c != nil && c.Model != nil && c.Model.Status == CallRequested {
		as, _ := s.summarizing(t.N, c)
		return as
	}
	switch {
	case m == nil && t.Cancel != nil:
		return end(TurnCancelled, "")
	case m == nil:
		return s.callModel(t, t.Step+1, 1, 0)
	case m.Status == CallRequested && (m.Epoch < s.Epoch || t.Cancel != nil):
		return []Action{{ID: m.ID, Turn: t.N, Do: Settle{Cancel: t.Cancel != nil}}}
	case m.Status == CallRequested:
		return []Action{{ID: m.ID, Turn: t.N, Do: CallModel{Step: t.Step, Attempt: m.Attempt, Through: m.Through}}}
	case t.Cancel != nil && m.Status != CallResponded:
		return end(TurnCancelled, "")
	case m.Status == CallLost:
		return s.callModel(t, t.Step, m.Attempt+1, s.again(m))
	case m.rests() && s.relieved():
		return s.callModel(t, t.Step, m.Attempt+1, 0)
	case m.rests():
		return nil
	case m.Status == CallFailed && s.Updated < m.RetryAt:
		if s.Lifecycle != LifecycleOpen {
			return nil
		}
		return []Action{{ID: WakeID(m.ID), Turn: t.N, Do: Wake{At: m.RetryAt}}}
	case m.Status == CallFailed:
		return s.callModel(t, t.Step, m.Attempt+1, s.again(m))
	}
	if as, done := s.nextCalls(t); !done {
		return as
	}
	switch {
	case t.Cancel != nil:
		return end(TurnCancelled, "")
	case len(t.Calls) > 0 || m.Stop == modelapi.StopPause:
		return s.callModel(t, t.Step+1, 1, 0)
	}
	stop, message := endOf(m.Stop)
	return end(stop, message)
}

func failedStop(m *ModelCall) string {
	if m.Class == "context" {
		return TurnContextLimit
	}
	return TurnError
}

// endOf maps a reply's stop reason to the turn's. A reply that was cut off is no end of a turn that one could call
// done.
func endOf(stop modelapi.StopReason) (turn, message string) {
	switch stop {
	case modelapi.StopRefusal:
		return TurnRefusal, "the model refused to answer"
	case modelapi.StopContext:
		return TurnContextLimit, "the conversation fills the model's context window"
	case modelapi.StopMaxTokens:
		return TurnError, "the reply reached its token limit and was cut off; send a new prompt to go on"
	case modelapi.StopEndTurn, modelapi.StopToolUse, modelapi.StopPause:
	}
	return TurnEndTurn, ""
}

// again is up to where the next attempt of a call holds the conversation: as before, or, if that was compacted since,
// all there is (0).
func (s *State) again(m *ModelCall) int64 {
	if s.Overlay != nil && s.Overlay.Seq > m.Through {
		return 0
	}
	return m.Through
}

// callModel asks for a model call if the limits allow one.
func (s *State) callModel(t *Turn, step, attempt int, through int64) []Action {
	if halt, _ := s.Halt(); halt != "" {
		// A new prompt gives the halted turn up.
		if len(s.Queue) > 0 && s.Lifecycle == LifecycleOpen {
			return []Action{{ID: "turn", Turn: t.N, Do: EndTurn{Stop: halt}}}
		}
		return nil
	}
	if s.Lifecycle != LifecycleOpen {
		return nil
	}
	if through == 0 {
		if as, busy := s.makeRoom(t.N); busy {
			return as
		}
	}
	id := AttemptID(ActBase(t.N, step, 0), attempt)
	return []Action{{ID: id, Turn: t.N, Do: CallModel{Step: step, Attempt: attempt, Through: through}}}
}

// replyRoom is the least room in the window, in tokens, that a reply must have.
const replyRoom = 1024

// Halt is what keeps the open turn from its next model call until somebody resumes it, a limit or a failed call, and in
// words why; "" is nothing.
func (s *State) Halt() (stop, why string) {
	t := s.Turn
	switch {
	case t == nil || t.Cancel != nil:
		return "", ""
	case t.Model.rests() && !s.relieved():
		return failedStop(t.Model), t.Model.Message
	case s.Compaction != nil && s.Compaction.Reason != ForHandoff && s.Compaction.Model.rests():
		return failedStop(s.Compaction.Model), s.Compaction.Model.Message
	case !s.needsModel(t):
		return "", ""
	}
	newStep := t.Model == nil || t.Model.Status == CallResponded
	est, full := s.Estimate(), s.full()
	switch {
	case newStep && s.Config.MaxSteps > 0 && t.Step-t.StepBase >= s.Config.MaxSteps:
		return TurnMaxSteps, "the limit of steps is reached"
	case full != "":
		return TurnContextLimit, full
	case s.Config.BudgetNano > 0 && s.Agent.Price == nil:
		return TurnMaxBudget, "a money budget is set, but the price of model " + s.Agent.Model + " is unknown"
	case s.Config.BudgetNano > 0 && s.Spent+est*s.Agent.Price.Input+replyRoom*s.Agent.Price.Output > s.Config.BudgetNano:
		return TurnMaxBudget, "the next model call might exceed the budget"
	}
	return "", ""
}

// needsModel reports whether the turn's next action is a model call that has not been sent.
func (s *State) needsModel(t *Turn) bool {
	m := t.Model
	switch {
	case m == nil || m.Status == CallLost:
		return true
	case m.Status == CallFailed:
		return m.RetryAt != 0 || s.relieved()
	case m.Status == CallRequested:
		return false
	}
	for i := range t.Calls {
		if !t.Calls[i].Settled() {
			return false
		}
	}
	return len(t.Calls) > 0 || m.Stop == modelapi.StopPause
}
