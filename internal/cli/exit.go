package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// Exit codes.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitWaiting = 3 // for a human
	exitMissing = 4
	exitHeld    = 5
	exitLimit   = 6 // of budget or steps

	exitSignalled = 128 // and the signal's number above it
)

// exitError carries an exit code, and words if there is something left to say.
type exitError struct {
	code int
	text string
	hint string
	more []string // lines between the two, such as what a name could mean
}

func (e *exitError) Error() string { return e.text }

// exit ends a command with a code, silently: what there was to say has been said.
func exit(code int) error {
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

func usageError(format string, args ...any) error {
	return &exitError{code: exitUsage, text: fmt.Sprintf(format, args...)}
}

// outcomes maps what went wrong to an exit code and a remedy. The first match counts.
var outcomes = []struct {
	is   error
	code int
	hint string
}{
	{store.ErrHeld, exitHeld, "or wait until it is done, or end it; then run the command again"},
	{store.ErrNotFound, exitMissing, "perdure list shows what there is"},
	{engine.ErrBeyond, exitMissing, "perdure log ID shows them; without @SEQ a fork begins at the newest"},
	{store.ErrExists, exitUsage, "continue it with --resume ID"},
	{store.ErrUncertain, exitFailed, "check the disk, then run the command again: it reads what was kept"},
	{store.ErrUnreadable, exitFailed, "put a backup in its place (perdure backup makes them); PERDURE_HOME may name another home"},
	{store.ErrDamaged, exitFailed, "put a backup in its place (perdure backup makes them); list, show and log still read what is left"},
	{store.ErrNewer, exitFailed, "use the newer version of perdure that wrote it"},
	{store.ErrNetworkFS, exitFailed, "set PERDURE_HOME to a directory on a local disk"},
	{store.ErrFenced, exitHeld, "another process took the session over; its log is intact"},
	{store.ErrFull, exitFailed, "free space on the disk that holds PERDURE_HOME; perdure delete needs none"},
	{syscall.ENOSPC, exitFailed, "free space on the disk that holds PERDURE_HOME; nothing acknowledged was lost"},
	{syscall.EROFS, exitFailed, "the home is read-only; set PERDURE_HOME to a directory that can be written"},
	{syscall.EMFILE, exitFailed, raiseFiles},
	{fs.ErrPermission, exitFailed, "check who owns that path; PERDURE_HOME may name another home"},
	{settings.ErrConfig, exitUsage, "put that right first; perdure doctor looks at the whole of it"},
	{connect.ErrNoModel, exitUsage, ""},
	{connect.ErrBadModel, exitUsage, ""},
	{connect.ErrBadKey, exitUsage, ""},
	{session.ErrBadID, exitUsage, ""},
	{permission.ErrRule, exitUsage, "rules look like Read, Bash(git log:*) or Edit(src/**)"},
	{settings.ErrProtect, exitUsage, "protect takes /an/absolute/path, ~/a/path or $HOME/a/path; a project's file also paths below its directory"},
	{permission.ErrMode, exitUsage, "modes are default, acceptEdits, plan and bypassPermissions"},
	{engine.ErrRefused, exitFailed, ""},
	{perdure.ErrSecret, exitUsage, "name the variable in single quotes instead, as in bash -c 'curl -H \"Authorization: $TOKEN\" …'"},
	{engine.ErrNoEvents, exitFailed, "another program made it; perdure delete ID removes it"},
	{context.Canceled, exitFailed, ""},
}

// report words an error on stderr and returns the exit code.
func (a *App) report(err error) int {
	if err == nil {
		return exitDone
	}
	var own *exitError
	if errors.As(err, &own) {
		if own.text != "" {
			a.note("%s", own.text)
		}
		for _, line := range own.more {
			a.hint("%s", line)
		}
		if own.hint != "" {
			a.hint("%s", own.hint)
		}
		return own.code
	}
	for _, text := range sentences(err) {
		a.note("%s", text)
	}
	if errors.As(err, new(*unwrittenError)) {
		return exitFailed
	}
	var corrupt *store.CorruptError
	if errors.As(err, &corrupt) {
		a.hintDamage(corrupt)
		return exitFailed
	}
	var held *store.HeldError
	if errors.As(err, &held) && held.Holder.Alive == store.Unknown {
		a.hint("if that machine is gone: %s frees the session, or %s goes on in a copy",
			a.command("takeover", held.Session), a.command("fork", held.Session))
		return exitHeld
	}
	if errors.As(err, &held) && held.Session != "" {
		a.hint("perdure send %s \"MESSAGE\" hands a prompt to that process; perdure log %s --follow shows what it does", held.Session, held.Session)
	}
	for _, o := range outcomes {
		if errors.Is(err, o.is) {
			if o.hint != "" {
				a.hint("%s", o.hint)
			}
			return o.code
		}
	}
	return exitFailed
}

// hintDamage names the way on from a damaged event: a session of its own that begins before it.
func (a *App) hintDamage(e *store.CorruptError) {
	if errors.Is(e, store.ErrDamaged) { // A page of the database, not an event: nothing can be written.
		a.hint("put a backup in its place (perdure backup makes them)")
	} else if e.Seq > 1 {
		a.hint("%s goes on in a session of its own, from the last good event", a.command("fork", fmt.Sprintf("%s@%d", e.Session, e.Seq-1)))
	} else {
		a.hint("nothing before it is left; %s removes it", a.command("delete", e.Session))
	}
	a.hint("%s names every fault; other sessions are not affected", a.command("verify", e.Session))
}

// remedy is the hint that goes with an error.
func remedy(err error) string {
	for _, o := range outcomes {
		if errors.Is(err, o.is) {
			return o.hint
		}
	}
	return ""
}
