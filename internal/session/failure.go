package session

import (
	"github.com/perdure/perdure/modelapi"
)

// Failure is why the open turn has no reply to its newest model call. The turn stays open whatever the API said: the
// call is made again at RetryAt, or, if it rests, when somebody resumes the session. Nothing of the conversation is
// lost by it, and what goes again is the same request.
type Failure struct {
	Class   string `json:"class"`            // of the newest attempt, as in unreachable or auth
	Status  int    `json:"status,omitempty"` // HTTP status; 0: none came
	Message string `json:"message"`
	Since   int64  `json:"since"` // ms UTC of the first failure in a row
	Tries   int    `json:"tries"` // failures in a row
	Rests   bool   `json:"rests"` // nobody tries again until the session is resumed
	RetryAt int64  `json:"retry_at,omitempty"`
}

// Failure is the failed model call of the open turn, or nil. It stands until a call is answered: also while the next
// attempt waits for its time or is under way.
func (s *State) Failure() *Failure {
	m := s.NewestCall()
	if m == nil || m.Failures == 0 {
		return nil
	}
	return &Failure{
		Class: m.Class, Status: m.HTTP, Message: m.Message, Since: m.Since, Tries: m.Failures,
		Rests: m.rests(), RetryAt: m.RetryAt,
	}
}

// rests reports whether the call failed and nothing tries it again by itself.
func (m *ModelCall) rests() bool { return m != nil && m.Status == CallFailed && m.RetryAt == 0 }

// follow takes over what is known of the attempts before this one.
func (m *ModelCall) follow(before *ModelCall) {
	m.Failures, m.Broken, m.Since = before.Failures, before.Broken, before.Since
	m.HTTP, m.Class, m.Message = before.HTTP, before.Class, before.Message
	if before.Through == m.Through { // the same request, and nothing newer in it
		m.Fresh = before.Fresh
	}
}

// fail notes one more failed attempt.
func (m *ModelCall) fail(b *ModelFailed, now int64) {
	m.Status, m.RetryAt, m.Class, m.HTTP, m.Message = CallFailed, b.RetryAt, b.Class, b.Status, b.Message
	if m.Failures == 0 {
		m.Since = now
	}
	m.Failures++
	if b.Started {
		m.Broken++
	}
}

// retry lets a failed call be made again: its time has come, or somebody asked for it, and then the failures before
// it count no more.
func (m *ModelCall) retry() {
	if m.RetryAt == 0 {
		m.Failures, m.Broken, m.Since = 0, 0, 0
	}
	m.Status, m.RetryAt = CallLost, 0
}

// answered forgets the failures before a reply.
func (m *ModelCall) answered(stop modelapi.StopReason) {
	m.Status, m.Stop, m.RetryAt = CallResponded, stop, 0
	m.Failures, m.Broken, m.Since = 0, 0, 0
	m.HTTP, m.Class, m.Message = 0, "", ""
}
