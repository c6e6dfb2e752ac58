package engine

import (
	"encoding/json"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// listed is what a session's row carries beside its heads, so that a home's tasks can be listed without computing the
// state of every session. It is written with the first event of a log and with the last one of a lease,
// session.released, which changes no task.
type listed struct {
	Version int            `json:"v"` // session.FoldVersion
	Seq     int64          `json:"seq"`
	Tasks   []session.Task `json:"tasks,omitempty"`  // as of this seq
	Stirred int64          `json:"stirred,omitzero"` // ms UTC of the newest event that is more than somebody's look
}

// maxListed bounds it, in bytes. A session with more tasks is looked at itself.
const maxListed = 16 << 10

func listedOf(st *session.State, seq, stirred int64) []byte {
	b, err := json.Marshal(listed{Version: session.FoldVersion, Seq: seq, Tasks: st.Tasks, Stirred: stirred})
	if err != nil || len(b) > maxListed {
		return nil
	}
	return b
}

// ListedTasks returns a session's tasks as its row has them. ok is false when the row does not know, as while somebody
// works in the session, or after that one died: then the session's state does.
func ListedTasks(info store.Info) (tasks []session.Task, ok bool) {
	var l listed
	if len(info.Heads.Extra) == 0 || json.Unmarshal(info.Heads.Extra, &l) != nil {
		return nil, false
	}
	return l.Tasks, l.Version == session.FoldVersion && l.Seq == info.Head.Seq
}

// stirs reports whether an event is more than the beginning or the end of a lease, or how the session is set.
func stirs(b session.Body) bool {
	switch b.(type) {
	case *session.Resumed, *session.Released, *session.Configured, *session.PermissionRules, *session.TitleRequested, *session.TitleGiven:
		return false
	default:
		return true
	}
}

// stirredAt is when something happened in the session last, up to now: a lease in which nothing was appended but its own
// beginning, and what it was set to, changes nothing about that.
func (s *held) stirredAt() int64 {
	if s.stirred > 0 {
		return s.stirred
	}
	return Stirred(s.lease.Info)
}

// stillUnstirred is what the row carries with events of a lease in which nothing has happened yet; nil: something has.
func (s *held) stillUnstirred(bodies []session.Body) []byte {
	if s.stirred > 0 || s.opened == 0 || slices.ContainsFunc(bodies, stirs) {
		return nil
	}
	b, err := json.Marshal(listed{Seq: s.state.Head.Seq + int64(len(bodies)) - resumed, Stirred: Stirred(s.lease.Info)})
	if err != nil {
		return nil
	}
	return b
}

// resumed are the events that an opening appends before anything else.
const resumed = 1

// lookedAt is what the row of a session carries while nothing has happened but the beginning of a lease: it knows no
// tasks.
func lookedAt(info store.Info) []byte {
	b, err := json.Marshal(listed{Seq: info.Head.Seq, Stirred: Stirred(info)})
	if err != nil {
		return nil
	}
	return b
}

// Stirred is the time in ms UTC of the newest event of a session that is more than the beginning or the end of a lease, as
// far as its row knows; else that of the newest event. So a look at a session does not make it younger.
func Stirred(info store.Info) int64 {
	var l listed
	if len(info.Heads.Extra) == 0 || json.Unmarshal(info.Heads.Extra, &l) != nil || l.Stirred == 0 || info.Head.Seq > l.Seq+resumed {
		return info.Updated
	}
	return l.Stirred
}
