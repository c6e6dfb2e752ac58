package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// Ran is how long a task has run, up to its end.
func Ran(t view.Task) string {
	if t.Started == 0 {
		return "-"
	}
	return safe.Span(time.Duration(t.Ran * float64(time.Second)))
}

// CPUTime shows processor time; nil is unknown.
func CPUTime(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	if d := time.Duration(*seconds * float64(time.Second)); d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.2fs", *seconds)
}

// Memory shows what is resident, in bytes; nil is unknown.
func Memory(bytes *int64) string {
	if bytes == nil {
		return "-"
	}
	return Bytes(*bytes)
}

// Ports lists ports.
func Ports(list []int) string {
	if len(list) == 0 {
		return "-"
	}
	words := make([]string, len(list))
	for i, port := range list {
		words[i] = strconv.Itoa(port)
	}
	return strings.Join(words, ",")
}

// Called is a task's id, with its name if it has one.
func Called(t view.Task) string { return strings.TrimSpace(t.ID + " " + t.Name) }

// TaskFigures is what the list has of a task in columns, on a line: which process it is, and of one that lives how long
// it has run, what it uses and where it listens.
func TaskFigures(t view.Task) string {
	words := []string{fmt.Sprintf("pid %d", t.PID)}
	if !t.Live() {
		return words[0]
	}
	if t.Started > 0 {
		words = append(words, Ran(t))
	}
	if t.CPU != nil {
		words = append(words, "cpu "+CPUTime(t.CPU), Memory(t.RSS))
	}
	if len(t.Ports) > 0 {
		words = append(words, "ports "+Ports(t.Ports))
	}
	return strings.Join(words, ", ")
}

// TaskStatus is how a task stands, in words.
func TaskStatus(t view.Task) string {
	s := t.Status
	switch {
	case t.Status == string(command.Exited) && t.ExitCode != nil:
		s = fmt.Sprintf("exited %d", *t.ExitCode)
	case t.Status == string(command.Killed):
		s = strings.TrimSpace("killed " + t.Signal)
		if t.By != "" {
			s += " by " + t.By
		}
	case t.Reason != "":
		s += " (" + t.Reason + ")"
	}
	if t.Stragglers > 0 {
		s += ", " + Count(int64(t.Stragglers), "straggler")
	}
	return s
}

// TaskSettings words what is special about how a task runs; empty for an ordinary one.
func TaskSettings(set view.TaskSettings) string {
	var out []string
	if set.Lifetime != "" && set.Lifetime != string(session.LifetimeDetached) {
		out = append(out, "until the end of its "+set.Lifetime)
	}
	switch {
	case set.TTY != nil:
		out = append(out, "tty")
	case set.Stdin:
		out = append(out, "stdin")
	}
	l := set.Limits
	if l.CPUSeconds > 0 {
		out = append(out, fmt.Sprintf("cpu %v", time.Duration(l.CPUSeconds)*time.Second))
	}
	if l.MemoryBytes > 0 {
		out = append(out, "memory "+Bytes(l.MemoryBytes))
	}
	if l.OpenFiles > 0 {
		out = append(out, fmt.Sprintf("files %d", l.OpenFiles))
	}
	if l.WallMS > 0 {
		out = append(out, fmt.Sprintf("wall %v", time.Duration(l.WallMS)*time.Millisecond))
	}
	return strings.Join(out, ", ")
}
