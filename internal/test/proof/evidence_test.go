package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// evidence is everything that a finished round is judged by. It is plain data, so that a control can doctor it.
type evidence struct {
	plan    *plan
	acks    []ack
	log     []store.Event
	bodies  []session.Body // of the log's events
	state   *session.State
	shown   shown
	final   *view.Result // nil when the last agent found nothing to do
	faults  []string     // of verify
	report  modeltest.ConversationReport
	refused []modeltest.Violation
	results map[string]modeltest.Block // by the provider's id of the call
	ran     map[string]int             // lines of the log of commands
	files   map[string]string
	dirs    []string // act directories that are left
	task    taskSeen
	kills   map[string]int
}

// shown is what is looked at of show --json.
type shown struct {
	Usage model.Usage       `json:"usage"`
	Head  store.Head        `json:"head"`
	Inbox []json.RawMessage `json:"inbox"`
}

// taskSeen is what was found of the background task before it was ended.
type taskSeen struct {
	pid   int
	alive bool
	gone  bool // after it was killed
}

// gather collects the evidence and ends the background task.
func (r *round) gather(ctx context.Context) (*evidence, error) {
	e := &evidence{
		plan: r.plan, acks: r.acks, results: map[string]modeltest.Block{}, ran: map[string]int{}, files: map[string]string{},
		kills: r.kills,
	}
	if r.final != nil {
		e.final = r.final.result
	}
	if err := r.endTask(ctx, e); err != nil {
		return nil, err
	}
	if err := r.gatherLog(ctx, e); err != nil {
		return nil, err
	}
	r.gatherServer(e)
	b, err := os.ReadFile(r.plan.log)
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(b)) {
		e.ran[strings.TrimSpace(l)]++
	}
	for name := range r.plan.files {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		e.files[name] = string(b)
	}
	entries, err := os.ReadDir(filepath.Join(r.dir, "acts", r.id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, d := range entries {
		e.dirs = append(e.dirs, d.Name())
	}
	return e, r.server.Close()
}

// endTask looks at the background task and ends it, as a user would.
func (r *round) endTask(ctx context.Context, e *evidence) error {
	st, err := r.home.State(ctx, r.id)
	if err != nil {
		return err
	}
	if len(st.Tasks) == 0 {
		return nil // the judge will say so
	}
	e.task.pid = st.Tasks[0].PID
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.task.pid))
	e.task.alive = err == nil && len(cmdline) > 0
	if code, out, errs := r.perdure(r.plan.dir, r.env, "task", "kill", r.id, st.Tasks[0].ID); code != 0 {
		return fmt.Errorf("task kill: exit code %d: %s%s", code, out, errs)
	}
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.task.pid))
	e.task.gone = err != nil
	return nil
}

// gatherLog reads everything that the session knows.
func (r *round) gatherLog(ctx context.Context, e *evidence) (err error) {
	for ev, err := range r.home.Events(ctx, r.id, 1, 0) {
		if err != nil {
			return err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		e.log, e.bodies = append(e.log, ev), append(e.bodies, body)
	}
	if e.state, err = r.home.State(ctx, r.id); err != nil {
		return err
	}
	code, out, errs := r.perdure(r.plan.dir, r.env, "show", "--json", r.id)
	if err := json.Unmarshal([]byte(out), &e.shown); code != 0 || err != nil {
		return fmt.Errorf("show: exit code %d: %w: %s%s", code, err, out, errs)
	}
	if code, out, errs = r.perdure(r.plan.dir, r.env, "verify", r.id); code != 0 || out != "ok\n" {
		e.faults = append(e.faults, fmt.Sprintf("exit code %d: %s%s", code, out, errs))
	}
	return nil
}

// gatherServer reads what the model server saw.
func (r *round) gatherServer(e *evidence) {
	report := r.server.Report()
	e.refused = report.Violations
	for _, c := range report.Conversations {
		if len(report.Conversations) == 1 {
			e.report = c
		}
	}
	if r.answer == nil {
		return
	}
	for _, m := range r.answer.Messages {
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				e.results[b.ID] = b
			}
		}
	}
}
