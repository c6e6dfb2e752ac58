package window

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// maxLive bounds each list of the live state.
const maxLive = 30

// LiveState says what goes on outside of the conversation, from the log: never from what a model remembers of it.
func LiveState(st *session.State) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("As of %s, event %d, written from the session's log.", clock(st.Updated), st.Head.Seq)
	add("Working directory: %s", st.Cwd)
	if st.Config.Mode != "" && st.Config.Mode != "default" {
		add("Permission mode: %s", st.Config.Mode)
	}
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		add("%s:", title)
		for _, l := range lines[:min(len(lines), maxLive)] {
			add("- %s", l)
		}
		if n := len(lines) - maxLive; n > 0 {
			add("- and %d more", n)
		}
	}
	list("Scratch state", Scratch(st.Scratch))
	running, ended := tasks(st)
	if len(running) == 0 {
		add("No task is running.")
	}
	list("Running tasks (they go on; do not start them again)", running)
	list("Tasks that have ended", ended)
	list("Awaited", awaits(st))
	list("Calls without an outcome", openCalls(st))
	list("Allowed for this session", grants(st))
	return strings.Join(out, "\n")
}

func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05 UTC") }

// tasks words the tasks, the newest first.
func tasks(st *session.State) (running, ended []string) {
	for i := len(st.Tasks) - 1; i >= 0; i-- {
		t := &st.Tasks[i]
		what := fmt.Sprintf("%s: %s", t.ID, oneLine(t.Command, 200))
		switch {
		case t.Session != "":
			running = append(running, what+" (of the parent session)")
		case t.Live():
			running = append(running, fmt.Sprintf("%s (since %s, its output was read up to byte %d)", what, clock(t.Started), t.Position))
		default:
			ended = append(ended, what+": "+how(t))
		}
	}
	return running, ended
}

func how(t *session.Task) string {
	switch {
	case t.ExitCode != nil:
		return fmt.Sprintf("exited with code %d", *t.ExitCode)
	case t.Signal != "":
		return fmt.Sprintf("%s by %s", t.Status, t.Signal)
	}
	return string(t.Status)
}

func awaits(st *session.State) (out []string) {
	for _, a := range st.Awaits {
		line := a.ID + ": " + string(a.Event)
		if a.Task != "" {
			line += " of " + a.Task
		}
		if a.Pattern != "" {
			line += " " + a.Pattern
		}
		out = append(out, line)
	}
	return out
}

func openCalls(st *session.State) (out []string) {
	if st.Turn == nil {
		return nil
	}
	for i := range st.Turn.Calls {
		if c := &st.Turn.Calls[i]; !c.Settled() {
			out = append(out, fmt.Sprintf("%s %s: %s", c.Tool, oneLine(session.About(c.Input), 200), c.State))
		}
	}
	return out
}

func grants(st *session.State) (out []string) {
	for _, g := range st.Permissions.Grants {
		out = append(out, g.Rule)
	}
	return out
}

// Scratch words a scratch state, a line for each key. A key that begins with a dot is a program's own: models do not
// see it.
func Scratch(of map[string][]byte) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		if strings.HasPrefix(k, ".") {
			continue
		}
		out = append(out, oneLine(k, 100)+" = "+oneLine(strings.ToValidUTF8(string(of[k]), "\uFFFD"), 500))
	}
	return out
}

// oneLine is a text in one line of at most n bytes.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	return session.CutEnd(text, n) + "…"
}
