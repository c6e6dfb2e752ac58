package engine

import (
	"encoding/json"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// listed is what a session's row carries beside its heads, so that a home's tasks can be listed without computing the
// state of every session. It is written with the first event of a log and with the last one of a lease,
// session.released, which changes no task.
type listed struct {
	Version int            `json:"v"` // session.FoldVersion
	Seq     int64          `json:"seq"`
	Tasks   []session.Task `json:"tasks,omitempty"` // as of this seq
}

// maxListed bounds it, in bytes. A session with more tasks is looked at itself.
const maxListed = 16 << 10

func listedOf(st *session.State, seq int64) []byte {
	b, err := json.Marshal(listed{Version: session.FoldVersion, Seq: seq, Tasks: st.Tasks})
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
