package tools

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

//go:embed bash.md
var bashDescription string

// Bounds of a foreground command, in milliseconds. A background command has no timeout.
const (
	DefaultTimeoutMS = 120_000
	MaxTimeoutMS     = 600_000
)

// maxScript bounds a command's text in bytes.
const maxScript = 1 << 20

// bash runs a shell command.
type bash struct{}

func (bash) Spec() Spec {
	return Spec{
		Name: "Bash", Description: strings.TrimSpace(bashDescription), Effect: session.EffectProcess,
		Schema: `{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The shell command to run"},` +
			`"timeout":{"type":"integer","description":"Milliseconds until the command is killed: 120000 if left out, at most 600000"},` +
			`"description":{"type":"string","description":"What the command does, in 5 to 10 words"},` +
			`"run_in_background":{"type":"boolean","description":"Return at once; read the output later with BashOutput"},` +
			`"stdin":{"type":"boolean","description":"In the background: keep an input open, for BashInput"},` +
			`"tty":{"type":"boolean","description":"In the background: run it on a terminal of its own, for BashInput"},` +
			`"lifetime":{"type":"string","enum":["detached","session","turn"],"description":"In the background: what ends it if it does not end by itself: only a kill (detached, if left out), the end of this session, or the end of this turn"}},` +
			`"required":["command"]}`,
	}
}

// Command reads the input.
func (bash) Command(c Call) (*Command, *Result) {
	in := parse(c)
	cmd := &Command{
		Script:      in.nonEmpty("command"),
		TimeoutMS:   in.number("timeout", DefaultTimeoutMS, 1, MaxTimeoutMS),
		Description: in.text("description"),
		Background:  in.flag("run_in_background", false),
	}
	cmd.Settings = settingsOf(in, cmd.Background)
	switch {
	case len(cmd.Script) > maxScript:
		in.problem("\"command\" has %d bytes, at most %d are allowed; write a script file and run that", len(cmd.Script), maxScript)
	case strings.IndexByte(cmd.Script, 0) >= 0:
		in.problem("\"command\" holds a NUL byte")
	}
	if r := in.refusal(); r != nil {
		return nil, r
	}
	if cmd.Background {
		cmd.TimeoutMS = 0
	}
	return cmd, nil
}

// Result words the outcome: the output, then what else is to be known, each on a line of its own.
func (bash) Result(cmd Command, st command.State, out Output) Result {
	notes := ending(cmd, st)
	r := Result{IsError: st.Status != command.Running && !exitedWell(st)}
	if n := st.Stragglers; n > 0 {
		notes = append(notes, stragglers(cmd.Task, n))
	}
	text := outputText(out)
	notes = append(st.MissingText(), notes...)
	if text == "" && (st.Status == command.Exited || st.Status == command.Running) {
		text = "(no output)"
	}
	if text != "" {
		notes = append([]string{text}, notes...)
	}
	r.Content = []model.Part{model.TextPart(strings.Join(notes, "\n"))}
	if out.Path == "" && out.Tail == nil && out.Omitted == 0 && len(out.Head) > maxOutput {
		r.Full = out.Head
	}
	return r
}

func exitedWell(st command.State) bool {
	return st.Status == command.Exited && st.ExitCode != nil && *st.ExitCode == 0
}

// ending says how a foreground command ended; a good end needs no words. Only a real exit code is ever named.
func ending(cmd Command, st command.State) []string {
	switch st.Status {
	case command.Exited:
		if st.ExitCode == nil {
			return []string{"ended, but its exit status is unknown"}
		}
		if *st.ExitCode == 0 {
			return nil
		}
		return []string{"exit code " + strconv.Itoa(*st.ExitCode)}
	case command.Killed:
		if st.By == command.ByTimeout {
			return []string{"timed out after " + seconds(cmd.TimeoutMS) + "; the whole process tree was killed"}
		}
		return []string{KilledText(st)}
	case command.Absent:
		return []string{"the command did not run"}
	case command.Running:
		return []string{"the command is still running"}
	default:
		return []string{"outcome unknown: the command may have run, but its end was not seen" + reasonText(st) +
			". Check what it did before running it again"}
	}
}

// KilledText says which signal killed a command, and who sent it.
func KilledText(st command.State) string {
	text := "killed"
	if st.Signal != "" {
		text += " by " + st.Signal
	}
	switch st.By {
	case command.ByUser:
		return text + ", sent by the user"
	case command.ByModel:
		return text + ", sent by the agent"
	case command.ByTimeout:
		return text + " at its timeout"
	case command.ByLifetime:
		return text + ": its lifetime is over"
	case command.BySystem:
		return text + ": the system ended it with all that it was started with"
	case "", command.ByUnknown:
		return text + "; who sent it is unknown"
	}
	if what, ok := strings.CutPrefix(st.By, command.ByLimit); ok {
		return text + ": it reached a limit" + what
	}
	return text + ", sent by " + st.By
}

// lostText names the reason as every listing does, and says it in words.
func lostText(st command.State) string {
	words := strings.TrimSuffix(strings.TrimPrefix(reasonText(st), " ("), ")")
	switch words {
	case "":
		return "lost: how it ended is unknown"
	case st.Reason:
		return "lost (" + st.Reason + "): how it ended is unknown"
	}
	return "lost (" + st.Reason + "): " + words + "; how it ended is unknown"
}

func reasonText(st command.State) string {
	switch st.Reason {
	case "":
		return ""
	case command.ReasonReboot:
		return " (the machine was restarted)"
	case command.ReasonShimDied:
		return " (the process that watched it died)"
	case command.ReasonCopied:
		return " (this is a copy of the home it was started in, and it belongs to the original)"
	case command.ReasonDirMissing:
		return " (its record is gone)"
	}
	return " (" + st.Reason + ")"
}

// stragglers names processes that a command left behind.
func stragglers(task string, n int) string {
	what := strconv.Itoa(n) + " processes that it started are still running"
	if n == 1 {
		what = "1 process that it started is still running"
	}
	if task != "" {
		what += " as " + task
	}
	return what
}

// outputText gives the shown part of an output, without newlines at its end.
func outputText(out Output) string {
	kept := &clip{max: maxOutput}
	lines := &cleaner{emit: kept.write}
	head, tail, missing := out.Head, out.Tail, out.Omitted
	if missing > 0 {
		// The collector cut anywhere; what is left of a torn character counts as omitted.
		a, b := tornEnd(head), tornStart(tail)
		head, tail, missing = head[:len(head)-a], tail[b:], missing+int64(a+b)
	}
	lines.write(head)
	if missing > 0 {
		lines.flush()
		kept.gap(missing)
	}
	lines.write(tail)
	lines.flush()
	where := ""
	if out.Path != "" {
		where = "; the whole output: " + out.Path
	}
	return strings.TrimRight(kept.text(where), "\n")
}

// seconds gives milliseconds as "120 s" or "1.5 s".
func seconds(ms int64) string {
	return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) + " s"
}

// BackgroundResult words the start of a background command under the id that the engine gave it.
func BackgroundResult(id string, pid int) Result {
	process := ""
	if pid > 0 {
		process = fmt.Sprintf(" (pid %d)", pid)
	}
	return success("running in background as %s%s; read its output with BashOutput, end it with KillBash", id, process)
}
