package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/perdure/perdure/internal/cli/process"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/store"
)

// Exit codes.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitWaiting = 3 // for a human
	ExitMissing = 4
	ExitHeld    = 5
	ExitLimit   = 6 // of budget or steps

	ExitSignalled = 128 // and the signal's number above it
)

// ExitError carries an exit code, and words if there is something left to say.
type ExitError struct {
	Code int
	Text string
	Hint string
	More []string // lines between the two, such as what a name could mean
}

func (e *ExitError) Error() string { return e.Text }

// Exit ends a command with a code, silently: what there was to say has been said.
func Exit(code int) error {
	if code == ExitDone {
		return nil
	}
	return &ExitError{Code: code}
}

// UsageError is a command line that makes no sense.
func UsageError(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Text: fmt.Sprintf(format, args...)}
}

// outcomes maps what went wrong to an exit code and a remedy. The first match counts.
var outcomes = []struct {
	is   error
	code int
	hint string
}{
	{store.ErrHeld, ExitHeld, "or wait until it is done, or end it; then run the command again"},
	{store.ErrNotFound, ExitMissing, "perdure list shows what there is"},
	{engine.ErrBeyond, ExitMissing, "perdure log ID shows them; without @SEQ a fork begins at the newest"},
	{store.ErrExists, ExitUsage, "continue it with --resume ID"},
	{store.ErrUncertain, ExitFailed, "check the disk, then run the command again: it reads what was kept"},
	{store.ErrUnreadable, ExitFailed, "put a backup in its place (perdure backup makes them); PERDURE_HOME may name another home"},
	{store.ErrDamaged, ExitFailed, "put a backup in its place (perdure backup makes them); list, show and log still read what is left"},
	{store.ErrNewer, ExitFailed, "use the newer version of perdure that wrote it"},
	{store.ErrNetworkFS, ExitFailed, "set PERDURE_HOME to a directory on a local disk"},
	{store.ErrFenced, ExitHeld, "another process took the session over; its log is intact"},
	{store.ErrFull, ExitFailed, "free space on the disk that holds PERDURE_HOME; perdure delete needs none"},
	{syscall.ENOSPC, ExitFailed, "free space on the disk that holds PERDURE_HOME; nothing acknowledged was lost"},
	{syscall.EROFS, ExitFailed, "that place is read-only: make it writable, or name another one"},
	{syscall.EMFILE, ExitFailed, process.RaiseFiles},
	{fs.ErrPermission, ExitFailed, "check who owns that path; PERDURE_HOME may name another home"},
	{settings.ErrConfig, ExitUsage, "put that right first; perdure doctor looks at the whole of it"},
	{connect.ErrNoModel, ExitUsage, ""},
	{connect.ErrBadModel, ExitUsage, ""},
	{connect.ErrNoScript, ExitMissing, ""},
	{command.ErrNoProgram, ExitMissing, ""},
	{connect.ErrBadKey, ExitUsage, ""},
	{store.ErrBadID, ExitUsage, ""},
	{permission.ErrRule, ExitUsage, "rules look like Read, Bash(git log:*) or Edit(src/**)"},
	{settings.ErrProtect, ExitUsage, "protect takes /an/absolute/path, ~/a/path or $HOME/a/path; a project's file also paths below its directory"},
	{permission.ErrMode, ExitUsage, "modes are default, acceptEdits, plan and bypassPermissions"},
	{engine.ErrRefused, ExitFailed, ""},
	{knowledge.ErrNoEntry, ExitMissing, "perdure memory list shows what there is"},
	{knowledge.ErrLink, ExitFailed, "nothing is read or written through links: put a file or a directory in its place"},
	{homes.ErrSecret, ExitUsage, "name the variable in single quotes instead, as in bash -c 'curl -H \"Authorization: $TOKEN\" …'"},
	{engine.ErrNoEvents, ExitFailed, "another program made it; perdure delete ID removes it"},
	{context.Canceled, ExitFailed, ""},
}

// Report words an error on stderr and returns the exit code.
func (a *App) Report(err error) int {
	if err == nil {
		return ExitDone
	}
	var own *ExitError
	if errors.As(err, &own) {
		if own.Text != "" {
			a.Note("%s", own.Text)
		}
		for _, line := range own.More {
			a.Hint("%s", line)
		}
		if own.Hint != "" {
			a.Hint("%s", own.Hint)
		}
		return own.Code
	}
	if a.reportReadOnly(err) {
		return ExitFailed
	}
	for _, text := range Sentences(err) {
		a.Note("%s", text)
	}
	if errors.As(err, new(*UnwrittenError)) {
		return ExitFailed
	}
	var corrupt *store.CorruptError
	if errors.As(err, &corrupt) {
		a.hintDamage(corrupt)
		return ExitFailed
	}
	var held *store.HeldError
	if errors.As(err, &held) && held.Holder.Alive == store.Unknown {
		a.Hint("if that machine is gone: %s frees the session, or %s goes on in a copy",
			a.Command("takeover", held.Session), a.Command("fork", held.Session))
		return ExitHeld
	}
	if errors.As(err, &held) && held.Session != "" {
		a.Hint("perdure send %s \"MESSAGE\" hands a prompt to that process; perdure log %s --follow shows what it does", held.Session, held.Session)
	}
	if errors.As(err, new(*knowledge.PlaceError)) {
		a.Hint("make room or get leave to write there; with [knowledge] project = \"off\" it lies in the home")
		return ExitFailed
	}
	for _, o := range outcomes {
		if errors.Is(err, o.is) {
			if o.hint != "" {
				a.Hint("%s", o.hint)
			}
			return o.code
		}
	}
	return ExitFailed
}

// hintDamage names the way on from a damaged event: a session of its own that begins before it.
func (a *App) hintDamage(e *store.CorruptError) {
	if errors.Is(e, store.ErrDamaged) { // A page of the database, not an event: nothing can be written.
		a.Hint("put a backup in its place (perdure backup makes them)")
	} else if e.Seq > 1 {
		a.Hint("%s goes on in a session of its own, from the last good event", a.Command("fork", fmt.Sprintf("%s@%d", e.Session, e.Seq-1)))
	} else {
		a.Hint("nothing before it is left; %s removes it", a.Command("delete", e.Session))
	}
	a.Hint("%s names every fault; other sessions are not affected", a.Command("verify", e.Session))
}

// Remedy is the hint that goes with an error.
func Remedy(err error) string {
	for _, o := range outcomes {
		if errors.Is(err, o.is) {
			return o.hint
		}
	}
	return ""
}
