package session

import (
	"maps"
	"reflect"
	"slices"

	"github.com/perdure/perdure/store"
)

// The kinds of version 1.
const (
	KindOpened     store.Kind = "session.opened"
	KindResumed    store.Kind = "session.resumed"
	KindReleased   store.Kind = "session.released"
	KindForked     store.Kind = "session.forked"
	KindImported   store.Kind = "session.imported"
	KindConfigured store.Kind = "session.configured"
	KindLifecycle  store.Kind = "session.lifecycle"
	KindLabelled   store.Kind = "session.labelled"

	KindCompactRequested store.Kind = "context.compact_requested"
	KindCompacted        store.Kind = "context.compacted"
	KindGiven            store.Kind = "context.given"

	KindHandoffRequested store.Kind = "handoff.requested"
	KindHandoffWritten   store.Kind = "handoff.written"

	KindTitleRequested store.Kind = "title.requested"
	KindTitleGiven     store.Kind = "title.given"

	KindTurnStarted      store.Kind = "turn.started"
	KindTurnEnded        store.Kind = "turn.ended"
	KindMessageReceived  store.Kind = "message.received"
	KindMessageWithdrawn store.Kind = "message.withdrawn"
	KindCancelRequested  store.Kind = "cancel.requested"

	KindModelRequested store.Kind = "model.requested"
	KindModelResponded store.Kind = "model.responded"
	KindModelFailed    store.Kind = "model.failed"
	KindModelLost      store.Kind = "model.lost"

	KindToolDecided  store.Kind = "tool.decided"
	KindToolStarted  store.Kind = "tool.started"
	KindToolDetached store.Kind = "tool.detached"
	KindToolFinished store.Kind = "tool.finished"
	KindToolVoid     store.Kind = "tool.void"
	KindToolUnknown  store.Kind = "tool.unknown"

	KindApprovalRequested store.Kind = "approval.requested"
	KindApprovalAnswered  store.Kind = "approval.answered"
	KindQuestionAsked     store.Kind = "question.asked"
	KindQuestionAnswered  store.Kind = "question.answered"

	KindPermissionRules   store.Kind = "permission.rules"
	KindPermissionGranted store.Kind = "permission.granted"
	KindPermissionRevoked store.Kind = "permission.revoked"

	KindTaskRequested store.Kind = "task.requested"
	KindTaskStarted   store.Kind = "task.started"
	KindTaskExited    store.Kind = "task.exited"
	KindTaskSignalled store.Kind = "task.signalled"
	KindTaskRead      store.Kind = "task.read"
	KindTaskInput     store.Kind = "task.input"
	KindTaskWritten   store.Kind = "task.written"

	KindTaskRestartSet   store.Kind = "task.restart_set"
	KindTaskNotRestarted store.Kind = "task.not_restarted"

	KindAwaitSet     store.Kind = "await.set"
	KindAwaitMet     store.Kind = "await.met"
	KindAwaitDropped store.Kind = "await.dropped"
	KindAwaitScanned store.Kind = "await.scanned"

	KindFilesCaptured       store.Kind = "files.captured"
	KindCheckpointRequested store.Kind = "files.checkpoint_requested"
	KindRestoreRequested    store.Kind = "files.restore_requested"
	KindRestoreStarted      store.Kind = "files.restore_started"
	KindFilesRestored       store.Kind = "files.restored"
	KindArtifactAdded       store.Kind = "artifact.added"

	KindTimerSet   store.Kind = "timer.set"
	KindTimerFired store.Kind = "timer.fired"

	KindFileSeen     store.Kind = "file.seen"
	KindPlanSet      store.Kind = "plan.set"
	KindPlanEdited   store.Kind = "plan.edited"
	KindFactAdded    store.Kind = "fact.added"
	KindStateSet     store.Kind = "state.set"
	KindInboxRefused store.Kind = "inbox.refused"
	KindApp          store.Kind = "app"
)

// kinds is the one table of all kinds. A kind stands here, and its body says the rest: its raw parts, what it changes,
// its line in a log, its JSON, and, if the model is to hear of it, its place in the conversation (see [spoken]).
var kinds = map[store.Kind]kindRow{
	KindOpened:     critical[Opened](),
	KindResumed:    critical[Resumed](),
	KindReleased:   critical[Released](),
	KindForked:     critical[Forked](),
	KindImported:   critical[Imported](),
	KindConfigured: critical[Configured](),
	KindLifecycle:  critical[LifecycleSet](),
	KindLabelled:   optional[Labelled](),

	KindCompactRequested: critical[CompactRequested](),
	KindCompacted:        critical[Compacted](),
	KindGiven:            critical[ContextGiven](),

	KindHandoffRequested: critical[HandoffRequested](),
	KindHandoffWritten:   critical[HandoffWritten](),

	KindTitleRequested: optional[TitleRequested](),
	KindTitleGiven:     optional[TitleGiven](),

	KindTurnStarted:      critical[TurnStarted](),
	KindTurnEnded:        critical[TurnEnded](),
	KindMessageReceived:  critical[MessageReceived](),
	KindMessageWithdrawn: critical[MessageWithdrawn](),
	KindCancelRequested:  critical[CancelRequested](),

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

	KindFilesCaptured:       optional[FilesCaptured](),
	KindCheckpointRequested: critical[CheckpointRequested](),
	KindRestoreRequested:    critical[RestoreRequested](),
	KindRestoreStarted:      critical[RestoreStarted](),
	KindFilesRestored:       critical[FilesRestored](),
	KindArtifactAdded:       optional[ArtifactAdded](),

	KindTimerSet:   optional[TimerSet](),
	KindTimerFired: critical[TimerFired](),

	KindFileSeen:     optional[FileSeen](),
	KindPlanSet:      critical[PlanSet](),
	KindPlanEdited:   critical[PlanEdited](),
	KindFactAdded:    critical[FactAdded](),
	KindStateSet:     critical[StateSet](),
	KindInboxRefused: optional[InboxRefused](),
	KindApp:          optional[App](),
}

// kindRow is what is known of a kind before any body of it is read.
type kindRow struct {
	flags store.Flags
	empty func() Body // to decode into
	typ   reflect.Type
}

// critical is the row of a kind that a reader must understand.
func critical[T any, B interface {
	*T
	Body
}]() kindRow {
	return kindRow{flags: store.Critical, empty: func() Body { return B(new(T)) }, typ: reflect.TypeFor[B]()}
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
var kindsByType = func() map[reflect.Type]store.Kind {
	out := make(map[reflect.Type]store.Kind, len(kinds))
	for k, r := range kinds {
		out[r.typ] = k
	}
	return out
}()

// KindOf is the kind of events with this body.
func KindOf(b Body) store.Kind {
	if u, ok := b.(*Unknown); ok {
		return u.Name
	}
	return kindsByType[reflect.TypeOf(b)]
}

// Kinds lists all kinds of this version by name.
func Kinds() []store.Kind { return slices.Sorted(maps.Keys(kinds)) }

// emptyBody makes an empty body to decode into; nil for a kind that this version does not know.
func emptyBody(k store.Kind) Body {
	if r, ok := kinds[k]; ok {
		return r.empty()
	}
	return nil
}
