package app

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/process"
)

// OS is the world of this process.
func OS() *App {
	dir, _ := os.Getwd() // an unknown directory fails where it is needed
	exe, _ := os.Executable()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup means: a closed terminal is no reason to stop
		signal.Notify(signals, syscall.SIGHUP)
	}
	var stdout io.Writer = os.Stdout
	if process.StdoutClosed() {
		stdout = closedStdout{}
	}
	a := &App{
		Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(), Dir: dir, Now: time.Now,
		Signals: signals, Terminal: term.IsTerminal(int(os.Stdin.Fd())), Screen: term.IsTerminal(int(os.Stdout.Fd())),
		Asks: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		TTY:  process.TTY(os.Stdin, os.Stderr, os.Stdout), Exe: exe, Zone: time.Local, Size: process.TerminalSize,
	}
	a.NoZone = noZone(os.Getenv("TZ"), time.Local.String())
	if term.IsTerminal(int(os.Stderr.Fd())) {
		a.Line = os.Stderr
	}
	return a
}

// Inside says how it is known that this process belongs to a session's command, or nothing.
func (a *App) Inside() string {
	if id := a.Getenv("PERDURE_SESSION_ID"); id != "" {
		return "PERDURE_SESSION_ID is set: this is a command of session " + display.Shown(id, 128)
	}
	if a.Getenv("PERDURE_ACT") != "" {
		return "PERDURE_ACT is set: this is a command of a session"
	}
	if process.ShimAbove(os.Getpid(), process.ParentAndArgs) > 0 {
		return "this process was started by a command of a session"
	}
	return ""
}

// noZone is a value of TZ for which the local zone is UTC only because there is none of that name; else empty.
func noZone(value, local string) string {
	switch strings.TrimPrefix(value, ":") {
	case "", "UTC", "UTC0", "GMT", "GMT0":
		return ""
	}
	if local != "UTC" {
		return ""
	}
	return value
}
