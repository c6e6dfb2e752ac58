package cli

import (
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
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
	if stdoutClosed() {
		stdout = closedStdout{}
	}
	return &App{
		Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr, Environ: os.Environ(), Dir: dir, Now: time.Now,
		Signals: signals, Terminal: term.IsTerminal(int(os.Stdin.Fd())), Screen: term.IsTerminal(int(os.Stdout.Fd())),
		Asks: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		TTY:  ttyName(os.Stdin, os.Stderr, os.Stdout), Exe: exe, Zone: time.Local, Size: terminalSize,
	}
}

// terminalSize is the size of the terminal that stdout is, 0 if it is none.
func terminalSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// ttyName names the terminal that one of the files is, as pts/3 where the system tells and console elsewhere. It is
// empty when none is one.
func ttyName(files ...*os.File) string {
	for _, f := range files {
		fd := int(f.Fd())
		if !term.IsTerminal(fd) {
			continue
		}
		if path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && strings.HasPrefix(path, "/dev/") {
			return strings.TrimPrefix(path, "/dev/")
		}
		return "console"
	}
	return ""
}
