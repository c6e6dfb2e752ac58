package screen

import (
	"cmp"
	"context"
	"strings"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// maxPeek bounds what is looked at of a command's output, in bytes: its end; and peekMore what is read before it, so that
// no secret is cut in two at its beginning.
const (
	maxPeek  = 32 << 10
	peekMore = 4 << 10
)

// Output is the end of what a call's command has printed, whether it is one of the open turn or goes on in the background.
// Known secrets are replaced. Errors: task.ErrMissing.
func (l *link) Output(ctx context.Context, base string) (text string, omitted int64, err error) {
	done, err := l.enter()
	if err != nil {
		return "", 0, err
	}
	defer done()
	st, err := l.state(ctx)
	if err != nil {
		return "", 0, err
	}
	owner, act := st.ID, base
	if c := st.Call(base); c != nil {
		act = c.ID
	}
	for _, t := range st.Tasks {
		if session.BaseOf(t.Act) == base {
			owner, act = cmp.Or(t.Session, st.ID), t.Act
		}
	}
	return printed(l.home, owner, act)
}

// maxWhole bounds what is shown of an output on a page of its own, in bytes: its end.
const maxWhole = 3 << 20

// Whole is all that a call's command has printed, as long as its file or its command are there. The command of another
// session's log, of which this one is a fork, is looked up there.
func (l *link) Whole(ctx context.Context, c transcript.Call) (text string, omitted int64, err error) {
	done, err := l.enter()
	if err != nil {
		return "", 0, err
	}
	defer done()
	if end, size, err := l.home.Kept(c.Session, c.Run, maxWhole); err == nil {
		return strings.ToValidUTF8(string(end), ""), size - int64(len(end)), nil
	}
	if c.State.Live() {
		return l.Output(ctx, c.Act)
	}
	return "", 0, nil
}

// printed is the end of what a command has printed.
func printed(h *homes.Home, owner, act string) (text string, omitted int64, err error) {
	now, err := h.Commands().State(owner, act)
	if err != nil {
		return "", 0, err
	}
	at := max(now.Output-maxPeek-peekMore, 0)
	omitted = at
	var b []byte
	for at < now.Output { // a read ends where a file does
		more, next, gap, err := h.Commands().Read(owner, act, at, int(now.Output-at))
		if err != nil {
			return "", 0, err
		}
		if gap > 0 {
			omitted, b = omitted+int64(len(b))+gap, nil
		}
		if b = append(b, more...); len(more) == 0 {
			break
		}
		at = next
	}
	shown := h.Hide(string(b))
	if cut := len(shown) - maxPeek; cut > 0 {
		shown, omitted = shown[cut:], omitted+int64(cut)
	}
	return strings.ToValidUTF8(shown, ""), omitted, nil
}
