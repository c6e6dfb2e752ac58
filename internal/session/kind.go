package session

import (
	"maps"
	"reflect"
	"slices"
)

// Kind names what an event says happened.
type Kind string

// The kinds of version 1.
const (
	KindOpened     Kind = "session.opened"
	KindResumed    Kind = "session.resumed"
	KindReleased   Kind = "session.released"
	KindForked     Kind = "session.forked"
	KindConfigured Kind = "session.configured"
	KindLifecycle  Kind = "session.lifecycle"
	KindLabelled   Kind = "session.labelled"

	KindCompactRequested Kind = "context.compact_requested"
	KindCompacted        Kind = "context.compacted"

	KindTurnStarted     Kind = "turn.started"
	KindTurnEnded       Kind = "turn.ended"
	KindMessageReceived Kind = "message.received"
	KindCancelRequested Kind = "cancel.requested"

	KindModelRequested Kind = "model.requested"
	KindModelResponded Kind = "model.responded"
	KindModelFailed    Kind = "model.failed"
	KindModelLost      Kind = "model.lost"

	KindToolDecided  Kind = "tool.decided"
	KindToolStarted  Kind = "tool.started"
	KindToolDetached Kind = "tool.detached"
	KindToolFinished Kind = "tool.finished"
	KindToolVoid     Kind = "tool.void"
	KindToolUnknown  Kind = "tool.unknown"

	KindApprovalRequested Kind = "approval.requested"
	KindApprovalAnswered  Kind = "approval.answered"
	KindQuestionAsked     Kind = "question.asked"
	KindQuestionAnswered  Kind = "question.answered"

	KindPermissionRules   Kind = "permission.rules"
	KindPermissionGranted Kind = "permission.granted"
	KindPermissionRevoked Kind = "permission.revoked"

	KindTaskRequested Kind = "task.requested"
	KindTaskStarted   Kind = "task.started"
	KindTaskExited    Kind = "task.exited"
	KindTaskSignalled Kind = "task.signalled"
	KindTaskRead      Kind = "task.read"
	KindTaskInput     Kind = "task.input"
	KindTaskWritten   Kind = "task.written"

	KindTaskRestartSet   Kind = "task.restart_set"
	KindTaskNotRestarted Kind = "task.not_restarted"

	KindAwaitSet     Kind = "await.set"
	KindAwaitMet     Kind = "await.met"
	KindAwaitDropped Kind = "await.dropped"
	KindAwaitScanned Kind = "await.scanned"

	KindTimerSet   Kind = "timer.set"
	KindTimerFired Kind = "timer.fired"

	KindFileSeen     Kind = "file.seen"
	KindPlanSet      Kind = "plan.set"
	KindFactAdded    Kind = "fact.added"
	KindStateSet     Kind = "state.set"
	KindInboxRefused Kind = "inbox.refused"
	KindApp          Kind = "app"
)

// kinds is the one table of all kinds. A kind stands here, and its body says the rest: its raw parts, what it changes,
// its line in a log, its JSON, and, if the model is to hear of it, its place in the conversation (see [spoken]).
var kinds = map[Kind]kindRow{
	KindOpened:     critical[Opened](),
	KindResumed:    critical[Resumed](),
	KindReleased:   critical[Released](),
	KindForked:     critical[Forked](),
	KindConfigured: critical[Configured](),
	KindLifecycle:  critical[LifecycleSet](),
	KindLabelled:   optional[Labelled](),

	KindCompactRequested: critical[CompactRequested](),
	KindCompacted:        critical[Compacted](),

	KindTurnStarted:     critical[TurnStarted](),
	KindTurnEnded:       critical[TurnEnded](),
	KindMessageReceived: critical[MessageReceived](),
	KindCancelRequested: critical[CancelRequested](),

	KindModelRequested: critical[ModelRequested](),
	KindModelResponded: critical[ModelResponded](),
	KindModelFailed:    critical[ModelFailed](),
	KindModelLost:      critical[ModelLost](),

	KindToolDecided:  critical[ToolDecided](),
	KindToolStarted:  critical[ToolStarted](),
	KindToolDetached: critical[ToolDetached](),
	KindToolFinished: critical[ToolFinished](),
	KindToolVoid:     critical[ToolVoid](),
	KindToolUnknown:  critical[ToolUnknown](),

	KindApprovalRequested: critical[ApprovalRequested](),
	KindApprovalAnswered:  critical[ApprovalAnswered](),
	KindQuestionAsked:     critical[QuestionAsked](),
	KindQuestionAnswered:  critical[QuestionAnswered](),

	KindPermissionRules:   critical[PermissionRules](),
	KindPermissionGranted: critical[PermissionGranted](),
	KindPermissionRevoked: critical[PermissionRevoked](),

	KindTaskRequested: critical[TaskRequested](),
	KindTaskStarted:   critical[TaskStarted](),
	KindTaskExited:    critical[TaskExited](),
	KindTaskSignalled: critical[TaskSignalled](),
	KindTaskRead:      critical[TaskRead](),
	KindTaskInput:     critical[TaskInput](),
	KindTaskWritten:   critical[TaskWritten](),

	KindTaskRestartSet:   critical[TaskRestartSet](),
	KindTaskNotRestarted: critical[TaskNotRestarted](),

	KindAwaitSet:     critical[AwaitSet](),
	KindAwaitMet:     critical[AwaitMet](),
	KindAwaitDropped: critical[AwaitDropped](),
	KindAwaitScanned: optional[AwaitScanned](),

	KindTimerSet:   optional[TimerSet](),
	KindTimerFired: critical[TimerFired](),

	KindFileSeen:     optional[FileSeen](),
	KindPlanSet:      critical[PlanSet](),
	KindFactAdded:    critical[FactAdded](),
	KindStateSet:     critical[StateSet](),
	KindInboxRefused: optional[InboxRefused](),
	KindApp:          optional[App](),
}

// kindRow is what is known of a kind before any body of it is read.
type kindRow struct {
	flags Flags
	empty func() Body // to decode into
	typ   reflect.Type
}

// critical is the row of a kind that a reader must understand.
func critical[T any, B interface {
	*T
	Body
}]() kindRow {
	return kindRow{flags: Critical, empty: func() Body { return B(new(T)) }, typ: reflect.TypeFor[B]()}
}

// optional is the row of a kind whose loss would not change what is safe to do next: an older version may carry it
// unread.
func optional[T any, B interface {
	*T
	Body
}]() kindRow {
	r := critical[T, B]()
	r.flags = 0
	return r
}

// kindsByType finds a body's kind.
var kindsByType = func() map[reflect.Type]Kind {
	out := make(map[reflect.Type]Kind, len(kinds))
	for k, r := range kinds {
		out[r.typ] = k
	}
	return out
}()

// KindOf is the kind of events with this body.
func KindOf(b Body) Kind {
	if u, ok := b.(*Unknown); ok {
		return u.Name
	}
	return kindsByType[reflect.TypeOf(b)]
}

// Kinds lists all kinds of this version by name.
func Kinds() []Kind { return slices.Sorted(maps.Keys(kinds)) }

// body makes an empty body to decode into; nil for a kind that this version does not know.
func (k Kind) body() Body {
	if r, ok := kinds[k]; ok {
		return r.empty()
	}
	return nil
}
