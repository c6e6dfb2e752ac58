package knowledge

import (
	"context"
	"time"
)

// Handoffs are the documents that sessions leave to the next one in a project. HANDOFF.md is the newest; one that nobody
// has read yet is never replaced by another session's, which goes to HANDOFF-ID.md beside it; what was read is moved to
// handoff-history, of which the newest 10 stay.
type Handoffs struct{ s *Scope }

// Handoffs are those of the project.
func (m *Memory) Handoffs() Handoffs { return Handoffs{m.Project} }

// HandoffFile is one as it lies on disk. Its text is data, whoever wrote it.
type HandoffFile struct {
	Text    []byte
	Path    string
	Digest  string    // of the text
	Session string    // who wrote it; empty: a person, or another program
	Seq     int64     // of that session's log
	Written time.Time // as it says itself, else when the file was changed
	Intact  bool      // it is as the session wrote it
	Foreign bool      // it lies in the project without consent: it is read, never written or moved
	Known   bool      // the same text is in the history: somebody read it
}

// Ours tells that a session wrote it.
func (f HandoffFile) Ours() bool { return f.Session != "" }

// Read gives the newest handoff that lies there; ok is false if there is none.
func (h Handoffs) Read() (f HandoffFile, ok bool, err error) { return f, false, nil }

// All gives every handoff that lies there, the newest first.
func (h Handoffs) All() ([]HandoffFile, error) { return nil, nil }

// WrittenHandoff says what became of a handoff that was written.
type WrittenHandoff struct {
	Path     string
	Digest   string
	Archived []string // what was in its place and is now in the history
	Beside   []string // other sessions' handoffs, which nobody has read yet
}

// Write puts down the handoff of a session. over is the digest of the one that the session has read, or empty. What is in
// its place is replaced if it is this session's own of no later seq; moved to the history if it is the one that was read,
// or one of this session that somebody changed; else it stays, and the new one lies beside it.
func (h Handoffs) Write(_ context.Context, text []byte, over string, by By) (WrittenHandoff, error) {
	return WrittenHandoff{}, nil
}

// Archive moves handoffs to the history, where they are found under the minute of that; those of others that are only
// read are copied. One that changed since it was read stays, with [ErrChanged].
func (h Handoffs) Archive(_ context.Context, read ...HandoffFile) (paths []string, err error) {
	return nil, nil
}

// History gives what was read and moved away, the newest first.
func (h Handoffs) History() ([]HandoffFile, error) { return nil, nil }
