package tools

import (
	"strconv"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// The terminal that a command gets which asks for one.
const (
	terminalRows = 40
	terminalCols = 120
)

// settingsOf reads how a background command is to be run. A foreground command has no input that anybody could write
// to, and ends with its call.
func settingsOf(in *input, background bool) session.TaskSettings {
	set := session.TaskSettings{Stdin: in.flag("stdin", false), Lifetime: session.Lifetime(in.text("lifetime"))}
	if in.flag("tty", false) {
		set.TTY = &command.TerminalSize{Rows: terminalRows, Cols: terminalCols}
	}
	if !set.Lifetime.Known() {
		in.problem("\"lifetime\" must be detached, session or turn, got %s", strconv.Quote(clipText(string(set.Lifetime), 80)))
	}
	if background {
		return set
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"stdin", set.Stdin}, {"tty", set.TTY != nil}, {"lifetime", set.Lifetime != "" && set.Lifetime != session.LifetimeDetached}} {
		if f.set {
			in.problem("%q goes with \"run_in_background\"", f.name)
		}
	}
	return session.TaskSettings{}
}

// MovedResult words that a foreground command was sent to the background while it ran, after what it had printed.
func MovedResult(id string, pid int, out Output) Result {
	text := outputText(out)
	if text != "" {
		text += "\n"
	}
	process := ""
	if pid > 0 {
		process = " (pid " + strconv.Itoa(pid) + ")"
	}
	return success("%sstill running: the user moved it to the background as %s%s; read what it prints from here on with BashOutput, end it with KillBash",
		text, id, process)
}
