package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

//go:embed bash_output.md
var bashOutputDescription string

// Bounds of one look at a task's output.
const (
	outputChunk  = 256 << 10
	outputChunks = 4096 // of them at most: 1 GiB
	maxFilter    = 1000 // bytes of a filter expression
)

// bashOutput reads what a background command printed since the last look.
type bashOutput struct{}

func (bashOutput) Spec() Spec {
	return Spec{
		Name: "BashOutput", Description: strings.TrimSpace(bashOutputDescription), Effect: session.EffectExternal, Idempotent: true,
		Schema: `{"type":"object","properties":{` +
			`"bash_id":{"type":"string","description":"The id of the background command, such as bash_1"},` +
			`"filter":{"type":"string","description":"Show only lines that match this RE2 regular expression; other new lines are skipped for good"}},` +
			`"required":["bash_id"]}`,
	}
}

// Run reads from the session's output position to the end as it is now.
func (bashOutput) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	id := in.nonEmpty("bash_id")
	filter := in.pattern("filter", in.text("filter"), maxFilter)
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	task := knownTask(env, id)
	if task == nil {
		return unknownTask(env, id), nil
	}
	news := &news{kept: clip{max: maxOutput}, filter: filter, from: task.Position}
	st, err := news.collect(ctx, id, env.Tasks)
	switch {
	case errors.Is(err, ErrNoTask):
		return goneTask(id, task), nil
	case err != nil:
		return Result{}, fmt.Errorf("read output of %s: %w", id, err)
	}
	ended := st.Status != command.Running
	notes := []string{news.text()}
	if m := st.MissingAfter; m != nil && (ended || task.Position <= *m) {
		notes = append(notes, st.MissingText()...)
	}
	r := success("%s\n%s", strings.Join(notes, "\n"), taskStatus(id, st))
	if news.from != task.Position || news.gap > 0 || ended && !task.Told {
		r.Events = []session.Body{&session.TaskRead{Task: id, Position: news.from, Gap: news.gap, Ended: ended}}
	}
	if ended && st.Stragglers == 0 {
		r.Events = append(r.Events, readEnds(env, task)...)
	}
	return r, nil
}

// goneTask words a task whose record is gone: what the log knows of its end is all there is.
func goneTask(id string, t *session.Task) Result {
	st := t.CommandState()
	if st.Status == command.Running {
		st.Status, st.Reason = command.Lost, command.ReasonDirMissing
	}
	return failure("(its output is no longer kept)\n%s", taskStatus(id, st))
}

// news is the new output of a task, as far as it is shown.
type news struct {
	kept    clip
	filter  *regexp.Regexp
	from    int64 // position reached
	gap     int64 // bytes that were no longer kept
	matched int64 // lines the filter let through
	lines   int64 // lines seen
}

// collect reads until the end that the task's output had at the first look, so that a fast printer can't hold it.
func (n *news) collect(ctx context.Context, id string, tasks Tasks) (command.State, error) {
	lines := &cleaner{emit: n.line}
	var st command.State
	end := int64(-1)
	for range outputChunks {
		b, next, gap, now, err := tasks.Output(ctx, id, n.from, outputChunk)
		if err != nil {
			return st, err
		}
		if end < 0 {
			st, end = now, max(now.Output, next)
		}
		if gap > 0 {
			lines.flush()
			n.gap += gap
			n.kept.gap(gap)
		}
		lines.write(b)
		stuck := next <= n.from
		n.from = max(n.from, next)
		if stuck || n.from >= end {
			break
		}
	}
	// A character, escape sequence or filtered line whose rest may still come is left for the next look.
	if st.Status == command.Running {
		wait := incomplete(lines.carry)
		if n.filter != nil {
			wait = len(lines.carry)
		}
		lines.carry = lines.carry[:len(lines.carry)-wait]
		n.from -= int64(wait)
	}
	lines.flush()
	return st, nil
}

// line takes one clean line.
func (n *news) line(b []byte) {
	n.lines++
	if n.filter != nil {
		if !n.filter.Match([]byte(strings.TrimSuffix(string(b), "\n"))) {
			return
		}
		n.matched++
	}
	n.kept.write(b)
}

func (n *news) text() string {
	text := strings.TrimRight(n.kept.text(""), "\n")
	switch {
	case text != "":
		return text
	case n.filter != nil && n.lines > 0:
		return "(no new line matches the filter; " + strconv.FormatInt(n.lines, 10) + " new lines were skipped)"
	}
	return "(no new output)"
}

// taskStatus says how a task stands. An exit code is on a line of its own.
func taskStatus(id string, st command.State) string {
	switch st.Status {
	case command.Running:
		if st.Stragglers > 0 {
			return id + " is running: " + stragglers("", st.Stragglers)
		}
		return id + " is running"
	case command.Exited:
		text := id + " has ended"
		if st.Stragglers > 0 {
			text += ", but " + stragglers("", st.Stragglers)
		}
		if st.ExitCode == nil {
			return text + "; its exit status is unknown"
		}
		return text + "\nexit code " + strconv.Itoa(*st.ExitCode)
	case command.Killed:
		return id + " was " + KilledText(st)
	case command.Absent:
		return id + " did not run"
	}
	return id + " is " + lostText(st)
}

// pattern compiles an RE2 expression that the model wrote; empty gives nil.
func (in *input) pattern(name, expr string, limit int) *regexp.Regexp {
	switch {
	case expr == "":
		return nil
	case len(expr) > limit:
		in.problem("%q has %d bytes, at most %d are allowed", name, len(expr), limit)
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		in.problem("%q is no RE2 regular expression: %v (no lookaround, no backreferences; escape literal braces and brackets)",
			name, err)
		return nil
	}
	return re
}
