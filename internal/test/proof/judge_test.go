package proof_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/store"
)

// The promises that a round may break.
const (
	brokenLost     = "an acknowledged event is lost"
	brokenRepeated = "an act was repeated"
	brokenMissing  = "a command did not run"
	brokenRefused  = "a request was refused"
	brokenCode     = "an exit code is wrong"
	brokenResult   = "a result is wrong"
	brokenFile     = "a file is wrong"
	brokenCarry    = "directory, environment or plan did not carry over"
	brokenUsage    = "usage is wrong"
	brokenPrefix   = "a retry changed its prefix"
	brokenLog      = "the log is not sound"
	brokenTask     = "the background task is not what it was"
	brokenLeft     = "something is left behind"
)

// problem is one broken promise.
type problem struct{ promise, text string }

func (p problem) String() string { return p.promise + ": " + p.text }

// verdict collects problems.
type verdict []problem

func (v *verdict) add(promise, format string, args ...any) {
	*v = append(*v, problem{promise, fmt.Sprintf(format, args...)})
}

// judge holds the evidence against the plan. No problem means that every promise was kept.
func judge(e *evidence) verdict {
	var v verdict
	for _, check := range []func(*evidence, *verdict){
		judgeAcks, judgeCommands, judgeServer, judgeResults, judgeFiles, judgeCarry, judgeUsage, judgePrefix, judgeLog, judgeTask, judgeLeft,
	} {
		check(e, &v)
	}
	return v
}

func judgeAcks(e *evidence, v *verdict) {
	for _, a := range e.acks {
		if a.seq > int64(len(e.log)) || e.log[a.seq-1].Hash != a.hash || e.log[a.seq-1].Seq != a.seq {
			v.add(brokenLost, "event %d with hash %s", a.seq, a.hash)
		}
	}
}

// judgeCommands counts what really ran.
func judgeCommands(e *evidence, v *verdict) {
	for _, m := range e.plan.marks {
		switch n := e.ran[m]; {
		case n > 1:
			v.add(brokenRepeated, "%s is there %d times", m, n)
		case n == 0:
			v.add(brokenMissing, "%s is not there", m)
		}
	}
	if len(e.ran) > len(e.plan.marks) {
		v.add(brokenRepeated, "lines that no command should have written: %v", e.ran)
	}
	finished := map[string]int{}
	for _, b := range e.bodies {
		switch b := b.(type) {
		case *session.ToolFinished:
			finished[session.BaseOf(b.Act)]++
		case *session.ToolUnknown:
			v.add(brokenResult, "act %s ended unknown: %s", b.Act, b.Reason)
		default:
		}
	}
	for act, n := range finished {
		if n > 1 {
			v.add(brokenRepeated, "act %s finished %d times", act, n)
		}
	}
}

func judgeServer(e *evidence, v *verdict) {
	for _, x := range e.refused {
		v.add(brokenRefused, "%s", x)
	}
	if e.report.Sealed != len(e.plan.steps) {
		v.add(brokenRefused, "the server sealed %d answers, not %d", e.report.Sealed, len(e.plan.steps))
	}
}

var exitCode = regexp.MustCompile(`exit code (\d+)`)

// judgeResults looks at what the model was told.
func judgeResults(e *evidence, v *verdict) {
	for _, x := range e.plan.expect {
		got, ok := e.results[x.id]
		if !ok {
			v.add(brokenResult, "%s has none", x.id)
			continue
		}
		if x.command {
			var codes []int
			for _, m := range exitCode.FindAllStringSubmatch(got.Text, -1) {
				n, _ := strconv.Atoi(m[1])
				codes = append(codes, n)
			}
			if x.code == 0 && len(codes) > 0 || x.code != 0 && !slices.Equal(codes, []int{x.code}) {
				v.add(brokenCode, "%s has %d, not %d: %q", x.id, codes, x.code, clip(got.Text))
			}
		}
		text, failed := got.Text, got.IsError
		if e.plan.api == modeltest.OpenAI { // it has no is_error
			text, failed = strings.CutPrefix(text, "Error: ")
		}
		if failed != x.failed {
			v.add(brokenResult, "%s is an error: %t: %q", x.id, failed, clip(text))
		}
		if x.check != nil {
			if err := x.check(text); err != nil {
				v.add(brokenResult, "%s %v", x.id, err)
			}
		}
	}
	if want := len(e.plan.expect); len(e.results) != want {
		v.add(brokenResult, "there are %d, not %d", len(e.results), want)
	}
	if e.final != nil && e.final.StopReason == session.TurnEndTurn && e.final.Result != e.plan.last {
		v.add(brokenResult, "the last words are %q", e.final.Result)
	}
}

func judgeFiles(e *evidence, v *verdict) {
	for name, want := range e.plan.files {
		if got := e.files[name]; got != want {
			v.add(brokenFile, "%s is %q, not %q", name, clip(got), clip(want))
		}
	}
}

func judgeCarry(e *evidence, v *verdict) {
	if e.state.Cwd != e.plan.cwd {
		v.add(brokenCarry, "cwd is %s, not %s", e.state.Cwd, e.plan.cwd)
	}
	env := map[string]string{}
	for k, val := range e.state.Env {
		if val != nil {
			env[k] = *val
		}
	}
	if !maps.Equal(env, e.plan.env) {
		v.add(brokenCarry, "environment is %q, not %q", env, e.plan.env)
	}
	var todo []string
	for _, s := range e.state.Plan {
		todo = append(todo, s.Content+" "+string(s.Status))
	}
	if !slices.Equal(todo, e.plan.todo) {
		v.add(brokenCarry, "plan is %q, not %q", todo, e.plan.todo)
	}
}

// judgeUsage compares with what the server counted, and the lost calls with the log.
func judgeUsage(e *evidence, v *verdict) {
	u, s := e.state.Total(), e.report.Usage
	if u.Input != s.Input || u.Output != s.Output || u.CacheRead != s.CacheRead || u.CacheWrite != s.CacheWrite {
		v.add(brokenUsage, "session has %+v, the server sealed %+v", u, s)
	}
	if e.shown.Usage != u {
		v.add(brokenUsage, "show has %+v, the state %+v", e.shown.Usage, u)
	}
	if e.final != nil && e.final.StopReason == session.TurnEndTurn && e.final.Usage != u {
		v.add(brokenUsage, "the result has %+v, the state %+v", e.final.Usage, u)
	}
	lost, calls := int64(0), 0
	for _, b := range e.bodies {
		n := int64(0)
		switch b := b.(type) {
		case *session.ModelLost:
			if n = b.Lost; n == 0 {
				v.add(brokenUsage, "lost call %s took nothing", b.Act)
			}
		case *session.ModelFailed:
			n = b.Lost
		default:
		}
		if n > 0 {
			lost, calls = lost+n, calls+1
		}
	}
	if u.LostInput != lost {
		v.add(brokenUsage, "lost input is %d, by the log %d", u.LostInput, lost)
	}
	if calls < e.report.Lost {
		v.add(brokenUsage, "the server lost %d calls, the session knows of %d", e.report.Lost, calls)
	}
}

// judgePrefix checks that every attempt of a step sent the same bytes.
func judgePrefix(e *evidence, v *verdict) {
	if e.report.ChangedRetries != 0 {
		v.add(brokenPrefix, "the server saw %d changed retries", e.report.ChangedRetries)
	}
	seen := map[int]store.Digest{}
	for _, b := range e.bodies {
		if b, ok := b.(*session.ModelRequested); ok {
			if before, ok := seen[b.Step]; ok && before != b.Prefix {
				v.add(brokenPrefix, "step %d was asked with %s and with %s", b.Step, before, b.Prefix)
			}
			seen[b.Step] = b.Prefix
		}
	}
	if len(seen) != len(e.plan.steps) {
		v.add(brokenPrefix, "%d steps were asked, not %d", len(seen), len(e.plan.steps))
	}
}

func judgeLog(e *evidence, v *verdict) {
	for _, f := range e.faults {
		v.add(brokenLog, "verify: %s", f)
	}
	last := e.state.LastTurn
	if e.state.Turns != 1 || e.state.Turn != nil || last == nil || last.Stop != session.TurnEndTurn || last.Steps != len(e.plan.steps) {
		v.add(brokenLog, "%d turns, the last one %+v", e.state.Turns, last)
	}
	if len(e.shown.Inbox) > 0 || e.shown.Head != e.state.Head {
		v.add(brokenLog, "show has inbox %s and head %+v, the state %+v", e.shown.Inbox, e.shown.Head, e.state.Head)
	}
}

var tick = regexp.MustCompile(`(?m)^tick-(\d+)$`)

// judgeTask checks that the task is one process all the time, and that each look showed only what was new.
func judgeTask(e *evidence, v *verdict) {
	if len(e.state.Tasks) != 1 || !e.task.alive || e.task.pid == 0 {
		v.add(brokenTask, "%d tasks, %+v", len(e.state.Tasks), e.task)
		return
	}
	if !e.task.gone {
		v.add(brokenLeft, "the task lives on after task kill: pid %d", e.task.pid)
	}
	if said := e.results[e.plan.taskCall()].Text; !strings.Contains(said, fmt.Sprintf("(pid %d)", e.task.pid)) {
		v.add(brokenTask, "pid is %d, the model was told %q", e.task.pid, said)
	}
	next := 1
	for _, x := range e.plan.expect {
		if !x.task {
			continue
		}
		for _, m := range tick.FindAllStringSubmatch(e.results[x.id].Text, -1) {
			if m[1] != strconv.Itoa(next) {
				v.add(brokenTask, "%s shows tick %s after %d", x.id, m[1], next-1)
				return
			}
			next++
		}
	}
}

// judgeLeft checks that only the task's directory remains. A preparation that was killed half-way may lie beside it: it
// is removed together with it.
func judgeLeft(e *evidence, v *verdict) {
	for _, d := range e.dirs {
		if len(e.state.Tasks) == 1 {
			act := e.state.Tasks[0].Act
			if d == act || strings.HasPrefix(d, ".new."+act+".") {
				continue
			}
		}
		v.add(brokenLeft, "act directory %s", d)
	}
}
