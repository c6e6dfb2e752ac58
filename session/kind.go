package session

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

// flags are what events of this kind are written with. Kinds whose loss would not change what is safe to do next
// may be carried by an older version; all others are critical.
func (k Kind) flags() Flags {
	switch k {
	case KindFileSeen, KindApp, KindInboxRefused, KindLabelled, KindTimerSet, KindAwaitScanned:
		return 0
	default:
		return Critical
	}
}

// body makes an empty body to decode into; nil for a kind that this version does not know.
func (k Kind) body() Body {
	if b := k.sessionBody(); b != nil {
		return b
	}
	if b := k.awaitBody(); b != nil {
		return b
	}
	return k.workBody()
}

func (k Kind) sessionBody() Body {
	switch k {
	case KindOpened:
		return &Opened{}
	case KindResumed:
		return &Resumed{}
	case KindReleased:
		return &Released{}
	case KindForked:
		return &Forked{}
	case KindConfigured:
		return &Configured{}
	case KindLifecycle:
		return &LifecycleSet{}
	case KindLabelled:
		return &Labelled{}
	case KindPermissionRules:
		return &PermissionRules{}
	case KindPermissionGranted:
		return &PermissionGranted{}
	case KindPermissionRevoked:
		return &PermissionRevoked{}
	case KindTimerSet:
		return &TimerSet{}
	case KindTimerFired:
		return &TimerFired{}
	case KindFileSeen:
		return &FileSeen{}
	case KindPlanSet:
		return &PlanSet{}
	case KindFactAdded:
		return &FactAdded{}
	case KindStateSet:
		return &StateSet{}
	case KindInboxRefused:
		return &InboxRefused{}
	case KindApp:
		return &App{}
	default:
		return nil
	}
}

func (k Kind) awaitBody() Body {
	switch k {
	case KindAwaitSet:
		return &AwaitSet{}
	case KindAwaitMet:
		return &AwaitMet{}
	case KindAwaitDropped:
		return &AwaitDropped{}
	case KindAwaitScanned:
		return &AwaitScanned{}
	default:
		return nil
	}
}

func (k Kind) workBody() Body {
	switch k {
	case KindTurnStarted:
		return &TurnStarted{}
	case KindTurnEnded:
		return &TurnEnded{}
	case KindMessageReceived:
		return &MessageReceived{}
	case KindCancelRequested:
		return &CancelRequested{}
	case KindModelRequested:
		return &ModelRequested{}
	case KindModelResponded:
		return &ModelResponded{}
	case KindModelFailed:
		return &ModelFailed{}
	case KindModelLost:
		return &ModelLost{}
	case KindToolDecided:
		return &ToolDecided{}
	case KindToolStarted:
		return &ToolStarted{}
	case KindToolDetached:
		return &ToolDetached{}
	case KindToolFinished:
		return &ToolFinished{}
	case KindToolVoid:
		return &ToolVoid{}
	case KindToolUnknown:
		return &ToolUnknown{}
	case KindApprovalRequested:
		return &ApprovalRequested{}
	case KindApprovalAnswered:
		return &ApprovalAnswered{}
	case KindQuestionAsked:
		return &QuestionAsked{}
	case KindQuestionAnswered:
		return &QuestionAnswered{}
	default:
		return k.taskBody()
	}
}

func (k Kind) taskBody() Body {
	switch k {
	case KindTaskRequested:
		return &TaskRequested{}
	case KindTaskStarted:
		return &TaskStarted{}
	case KindTaskExited:
		return &TaskExited{}
	case KindTaskSignalled:
		return &TaskSignalled{}
	case KindTaskRead:
		return &TaskRead{}
	case KindTaskRestartSet:
		return &TaskRestartSet{}
	case KindTaskNotRestarted:
		return &TaskNotRestarted{}
	case KindTaskInput:
		return &TaskInput{}
	case KindTaskWritten:
		return &TaskWritten{}
	default:
		return nil
	}
}
