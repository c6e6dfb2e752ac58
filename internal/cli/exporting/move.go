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
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Receipt is the line by which perdure import says that a session is in its home, durably and verified: that one, up to that
// event, with that hash.
func Receipt(id string, head store.Head) string {
	return "imported " + id + " " + strconv.FormatInt(head.Seq, 10) + " " + head.Hash.String()
}

// maxReceipt bounds what is kept of what the other side prints, in bytes.
const maxReceipt = 64 << 10

// move hands the bundle to a command, and closes the session here when the command's receipt says that all of it is there.
// What happens to the session here meanwhile keeps it open: then it is in both places.
func move(ctx context.Context, a *app.App, h *homes.Home, id string, o Options) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	if st.Lifecycle.Over() {
		return &app.ExitError{Code: app.ExitFailed, Text: "session " + id + " is " + string(st.Lifecycle) + ": it does not move", Hint: "perdure export without --move-to copies it"}
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", o.MoveTo)
	cmd.Dir, cmd.Env, cmd.Stderr = a.Dir, a.Environ, a.Stderr
	said := &receipt{}
	cmd.Stdout = said
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run %s: %w", o.MoveTo, err)
	}
	out, sent := o.bundle(ctx, a, h, id, pipe)
	err = errors.Join(pipe.Close(), cmd.Wait())
	if sent != nil || err != nil {
		text := "session " + id + " was not moved, and is open here as before"
		if sent != nil && (err == nil || !errors.As(err, new(*exec.ExitError))) {
			return errors.Join(errors.New(text), sent)
		}
		return &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("%s: %q ended with %v", text, o.MoveTo, err)}
	}
	if want := Receipt(id, out.Head); !said.has(want) {
		return &app.ExitError{
			Code: app.ExitFailed, Text: "session " + id + " is open here as before: the command did not say that it has it",
			Hint: "the last command of --move-to has to be perdure import -, which prints a receipt",
		}
	}
	tell(a, out, Options{WithSecrets: true})
	_, err = h.Append(ctx, id, homes.AppendOptions{Expect: &out.Head}, store.Actor{Type: store.ActorUser}, &session.LifecycleSet{To: session.LifecycleClosed})
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrHeld) {
		return &app.ExitError{
			Code: app.ExitHeld, Text: "session " + id + " is there up to event " + strconv.FormatInt(out.Head.Seq, 10) + ", and went on here meanwhile: it is open in both places",
			Hint: "what was said here since is not there; perdure close closes the one here",
		}
	}
	if err != nil {
		return err
	}
	if err := h.FreePorts(id); err != nil {
		return err
	}
	a.Note("session %s is there up to event %d, and closed here", id, out.Head.Seq)
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
