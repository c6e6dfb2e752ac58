package homes

import (
	"context"
	"maps"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// history gathers from a whole log what a state keeps only the newest of.
type history struct {
	st        *session.State
	acts      []session.Act
	actAt     map[string]int // index in acts by base
	decisions []session.DecisionRecord
	files     map[string]session.File
	tasks     []session.Task
	taskAt    map[string]int
}

// viewHistory replaces acts, decisions, files and tasks of a view by those of the whole log.
func (h *Home) viewHistory(ctx context.Context, now *session.State, v *view.Session) error {
	info, err := h.store.Get(ctx, now.ID)
	if err != nil {
		return err
	}
	start, err := (&verification{home: h, info: info}).start(ctx)
	if err != nil {
		return err
	}
	hist := &history{st: start, actAt: map[string]int{}, files: map[string]session.File{}, taskAt: map[string]int{}}
	for ev, err := range h.store.Read(ctx, now.ID, 1, now.Head.Seq) {
		if err != nil {
			return err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		hist.st.ApplyBody(ev, body)
		hist.note(body)
	}
	v.Acts, v.Tasks = actViews(hist.acts, now), h.taskViews(ctx, now.ID, hist.tasks)
	v.Permissions.Decisions = decisionViews(hist.decisions)
	v.Files = filesView(slices.Collect(maps.Values(hist.files)))
	v.Truncated = nil
	return nil
}

// note takes what an event changed, after it was applied.
func (hist *history) note(body session.Body) {
	switch b := body.(type) {
	case *session.Forked:
		hist.inherit()
	case *session.ModelResponded:
		hist.calls()
	case *session.ToolDecided:
		if d := hist.st.Permissions.Decisions; len(d) > 0 {
			hist.decisions = append(hist.decisions, d[len(d)-1])
		}
		hist.act(b.Act)
	case *session.ToolStarted:
		hist.act(b.Act)
	case *session.ToolFinished:
		hist.act(b.Act)
	case *session.ToolVoid:
		hist.act(b.Act)
	case *session.ToolUnknown:
		hist.act(b.Act)
	case *session.ApprovalRequested:
		hist.act(b.Act)
	case *session.ApprovalAnswered:
		hist.act(b.Act)
	case *session.QuestionAsked:
		hist.act(b.Act)
	case *session.FileSeen:
		if f, ok := hist.st.Files[b.File.Path]; ok {
			hist.files[f.Path] = f
		}
	case *session.TaskStarted:
		hist.task(b.Task.ID)
	case *session.TaskExited:
		hist.task(b.Task)
	case *session.TaskRead:
		hist.task(b.Task)
	default:
	}
}

// inherit takes what a fork begins with.
func (hist *history) inherit() {
	maps.Copy(hist.files, hist.st.Files)
	for _, t := range hist.st.Tasks {
		hist.task(t.ID)
	}
	hist.calls()
}

func (hist *history) calls() {
	if hist.st.Turn == nil {
		return
	}
	for _, c := range hist.st.Turn.Calls {
		hist.act(c.ID)
	}
}

func (hist *history) act(id string) {
	c := hist.st.Call(id)
	if c == nil {
		return
	}
	i, known := hist.actAt[c.Base]
	if !known {
		i = len(hist.acts)
		hist.actAt[c.Base] = i
		hist.acts = append(hist.acts, session.Act{})
	}
	hist.acts[i] = session.Act{ID: c.ID, Tool: c.Tool, Effect: c.Effect, State: c.State, Outcome: c.Outcome, Reason: c.Reason}
}

func (hist *history) task(id string) {
	t := hist.st.Task(id)
	if t == nil {
		return // a task that the state has dropped keeps what it was last
	}
	i, known := hist.taskAt[id]
	if !known {
		i = len(hist.tasks)
		hist.taskAt[id] = i
		hist.tasks = append(hist.tasks, session.Task{})
	}
	hist.tasks[i] = *t
}
