package exporting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// Receipt is the line by which perdure import says that a session is in its home, durably and verified: that one, up to
// that event, with that hash.
func Receipt(id string, head store.Head) string {
	return "imported " + id + " " + strconv.FormatInt(head.Seq, 10) + " " + head.Hash.String()
}

// maxReceipt bounds what is kept of what the other side prints, in bytes.
const maxReceipt = 64 << 10

// Elsewhere is the line by which perdure import says that its home is not the one that a move with this word comes from.
func Elsewhere(word string) string { return "elsewhere " + word }

// move hands the bundle to a command, and closes the session here when the command's receipt says that all of it is
// there, in another home. What happens to the session here meanwhile keeps it open: then it is in both places.
func move(ctx context.Context, a *app.App, h *homes.Home, id string, o Options) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	if st.Lifecycle.Over() {
		return &app.ExitError{Code: app.ExitFailed, Text: "session " + id + " is " + string(st.Lifecycle) + ": it does not move", Hint: "perdure export without --move-to copies it"}
	}
	m, err := h.BeginMove(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }() // What it has to say is durable by then.
	out, said, err := o.hand(ctx, a, m, id)
	if err != nil {
		return err
	}
	if err := said.proves(id, out.Head, m.Word()); err != nil {
		return err
	}
	tell(a, out, Options{WithSecrets: true})
	err = m.Done(ctx)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrHeld) {
		return &app.ExitError{
			Code: app.ExitHeld, Text: "session " + id + " is there up to event " + strconv.FormatInt(out.Head.Seq, 10) + ", and went on here meanwhile: it is open in both places",
			Hint: "what was said here since is not there; perdure close closes the one here",
		}
	}
	if err != nil {
		return err
	}
	a.Note("session %s is there up to event %d, and closed here", id, out.Head.Seq)
	return nil
}

// hand runs the command with the bundle as its input, and gives what it printed.
func (o *Options) hand(ctx context.Context, a *app.App, m *homes.Move, id string) (homes.Bundled, *receipt, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", o.MoveTo)
	cmd.Dir, cmd.Env, cmd.Stderr = a.Dir, a.Environ, a.Stderr
	said := &receipt{}
	cmd.Stdout = said
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return homes.Bundled{}, nil, err
	}
	if err := cmd.Start(); err != nil {
		return homes.Bundled{}, nil, fmt.Errorf("run %s: %w", o.MoveTo, err)
	}
	out, sent := o.bundle(a, pipe, func(to io.Writer, bo homes.BundleOptions) (homes.Bundled, error) { return m.Bundle(ctx, to, bo) })
	err = errors.Join(pipe.Close(), cmd.Wait())
	if sent == nil && err == nil {
		return out, said, nil
	}
	text := "session " + id + " was not moved, and is open here as before"
	if sent != nil && (err == nil || !errors.As(err, new(*exec.ExitError))) {
		return out, nil, errors.Join(errors.New(text), sent)
	}
	return out, nil, &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("%s: %q ended with %v", text, o.MoveTo, err)}
}

// proves is nil if what was printed says that just this session is there up to just this event, in a home that is not
// this one.
func (r *receipt) proves(id string, head store.Head, word string) error {
	switch open := "session " + id + " is open here as before: the command did not say that "; {
	case !r.has(Receipt(id, head)):
		return &app.ExitError{Code: app.ExitFailed, Text: open + "it has it", Hint: "the last command of --move-to has to be perdure import -, which prints a receipt"}
	case !r.has(Elsewhere(word)):
		return &app.ExitError{
			Code: app.ExitFailed, Text: open + "its home is another one",
			Hint: "perdure import - prints that as a second line; an older version does not, and there the session is open as well now",
		}
	}
	return nil
}

// receipt keeps the beginning of what a command prints.
type receipt struct{ text bytes.Buffer }

// Write keeps what there is room for.
func (r *receipt) Write(p []byte) (int, error) {
	_, err := r.text.Write(p[:min(len(p), maxReceipt-r.text.Len())])
	if err != nil {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func (r *receipt) has(line string) bool {
	for l := range strings.Lines(r.text.String()) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}
