package knowledge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Handoffs are the documents that sessions leave to the next one in a project. HANDOFF.md is the newest; one that nobody
// has read yet is never replaced by another session's, which goes to HANDOFF-ID.md beside it, and each names the other.
// What was read is moved to handoff-history, of which the newest 10 stay. With consent they lie in the project, else in
// the home; a project's own HANDOFF.md is read either way.
type Handoffs struct{ s *Scope }

// Handoffs are those of the project.
func (m *Memory) Handoffs() Handoffs { return Handoffs{m.Project} }

// HandoffFile is one as it lies on disk. Its text is data, whoever wrote it.
type HandoffFile struct {
	Text    []byte
	Path    string
	Digest  string    // of the text, but for the names of others in it
	Session string    // who wrote it; empty: a person, or another program
	Seq     int64     // of that session's log
	Written time.Time // as it says itself, else when the file was changed
	Intact  bool      // it is as the session wrote it
	Foreign bool      // it lies in the project without consent: it is read, never written or moved
	Known   bool      // the same text is in the history: somebody read it
}

// Ours tells that a session wrote it.
func (f HandoffFile) Ours() bool { return f.Session != "" }

// Read gives the newest handoff that lies there, one that nobody read before one that is in the history; ok is false if
// there is none. With an error there may be others that could not be read.
func (h Handoffs) Read() (f HandoffFile, ok bool, err error) {
	all, err := h.All()
	if len(all) == 0 {
		return f, false, err
	}
	return all[0], true, err
}

// All gives every handoff that lies there, those that nobody read first, then the newest first. What could not be read is
// in the error.
func (h Handoffs) All() ([]HandoffFile, error) {
	d, err := h.s.lookDesk()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.all()
}

func newestFirst(a, b HandoffFile) int {
	known := map[bool]int{true: 1}
	return cmp.Or(cmp.Compare(known[a.Known], known[b.Known]), b.Written.Compare(a.Written), cmp.Compare(a.Path, b.Path))
}

// History gives what was read and moved away, the newest first.
func (h Handoffs) History() ([]HandoffFile, error) {
	d, err := h.s.lookDesk()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.past()
}

// WrittenHandoff says what became of a handoff that was written.
type WrittenHandoff struct {
	Path     string
	Digest   string
	Archived []string // what was in its place and is now in the history
	Beside   []string // other handoffs, which nobody has read yet
}

// Write puts down the handoff of a session, which must carry its header. over is the digest of the one that the session
// has read, or empty. What is in its place is replaced if it is this session's own of no later seq; it goes to the
// history if it is the one that was read, or one of this session that somebody changed; else it stays, and the new one
// lies beside it. A text that is in the history was read, and is not laid down again. It is durable when Write returns.
// [ErrChanged]: a later one of this session is there.
func (h Handoffs) Write(ctx context.Context, text []byte, over string, by By) (w WrittenHandoff, err error) {
	if err := checkHandoff(text, by); err != nil {
		return w, err
	}
	d, err := h.s.holdDesk(ctx)
	if err != nil {
		return w, err
	}
	defer d.close()
	return d.write(text, over, by)
}

// Archive moves handoffs to the history, where they are found under the minute of that, and gives their paths there;
// without any, all that lie there. Of those that are only read a copy goes there. One that changed since it was read
// stays, with [ErrChanged]; one that is in the history already is not there twice.
func (h Handoffs) Archive(ctx context.Context, read ...HandoffFile) (paths []string, err error) {
	d, err := h.s.holdDesk(ctx)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if len(read) == 0 {
		if read, err = d.all(); err != nil && len(read) == 0 {
			return nil, err
		}
	}
	slices.SortStableFunc(read, func(a, b HandoffFile) int { return a.Written.Compare(b.Written) })
	for _, f := range read {
		path, moveErr := d.archive(f)
		err = errors.Join(err, moveErr)
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths, errors.Join(err, d.name())
}
