package homes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// View is a session as `perdure show --json` prints it: its state, where its tasks really are, and what waits in its
// inbox. The names of its fields are a contract. Lists are never null.
type View struct {
	ID          string            `json:"id"`
	Title       string            `json:"title"`
	Owner       string            `json:"owner"`
	Labels      map[string]string `json:"labels"`
	Lifecycle   session.Lifecycle `json:"lifecycle"`
	Activity    session.Activity  `json:"activity"` // as in a list: from the log and from who holds the session
	Holder      *HolderView       `json:"holder"`   // null: nobody
	Waiting     []Waiting         `json:"waiting"`  // what needs a human
	Failure     *FailureView      `json:"failure"`  // the model call that the open turn is without; null: none failed
	Agent       AgentView         `json:"agent"`
	Config      session.Config    `json:"config"`
	Cwd         string            `json:"cwd"`
	Env         session.EnvDelta  `json:"env"` // against the environment of the opening; null removes a variable
	Directories []string          `json:"directories"`
	Parent      *ParentView       `json:"parent"`
	Head        store.Head        `json:"head"`
	Epoch       int64             `json:"epoch"`
	Usage       UsageView         `json:"usage"` // of the session's own log
	CostUSD     *float64          `json:"cost_usd"`
	Budget      *BudgetView       `json:"budget"` // null: no limit
	Permissions PermissionsView   `json:"permissions"`
	Files       FilesView         `json:"files"`
	Acts        []ActView         `json:"acts"` // oldest first; those that are open come last
	Tasks       []TaskView        `json:"tasks"`
	Awaits      []AwaitView       `json:"awaits"` // what the model is to be told of
	Plan        []session.Step    `json:"plan"`
	Facts       []FactView        `json:"facts"`
	Scratch     map[string]any    `json:"scratch"`
	Inbox       []InboxView       `json:"inbox"`
	Created     Stamp             `json:"created_at"`
	Updated     Stamp             `json:"updated_at"`
	Truncated   map[string]int64  `json:"truncated,omitempty"` // what left the state by its bounds; All reads it from the log
	ReadOnly    string            `json:"read_only,omitempty"` // why this version must not write
	Faults      []string          `json:"faults,omitempty"`    // events that did not fit
	Messages    []MessageView     `json:"messages,omitzero"`
}

// ViewOptions say how much to look at.
type ViewOptions struct {
	Messages bool // the conversation too
	All      bool // acts, decisions, files and tasks from the whole log: what the state's bounds dropped comes back
}

// View looks at a session without holding it. Errors: store.ErrNotFound, engine.ErrNoEvents, *store.CorruptError.
func (h *Home) View(ctx context.Context, id string, opt ViewOptions) (*View, error) {
	st, err := h.eng.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	v := viewOf(st)
	info.Heads = engine.Heads(st)
	v.Activity = activityNow(session.ActivityOf(st), info, len(st.Awaits) > 0)
	v.Holder, v.Waiting = HolderOf(info.Holder), h.Waits(st)
	for _, c := range session.DecidedAgain(st) {
		w := waitingOf(st, c, "approval")
		w.Again = true
		v.Waiting = append(v.Waiting, w)
	}
	v.Acts, v.Tasks = actViews(acts(st), st), h.Tasks().Of(st)
	v.Truncated = dropped(st.Dropped)
	if opt.All {
		if err := h.viewHistory(ctx, st, v); err != nil {
			return nil, fmt.Errorf("session %s: read log: %w", id, err)
		}
	}
	if err := h.actDetails(ctx, st, v.Acts); err != nil {
		return nil, fmt.Errorf("session %s: read log: %w", id, err)
	}
	if v.Inbox, err = h.inboxViews(ctx, st); err != nil {
		return nil, fmt.Errorf("session %s: inbox: %w", id, err)
	}
	if opt.Messages {
		t, err := h.eng.Transcript(ctx, st)
		if err != nil {
			return nil, fmt.Errorf("session %s: read conversation: %w", id, err)
		}
		v.Messages = messageViews(t, st)
	}
	return v, nil
}

func viewOf(st *session.State) *View {
	v := &View{
		ID: st.ID, Title: st.Title, Owner: st.Owner, Labels: st.Labels, Lifecycle: st.Lifecycle,
		Failure: failureView(st), Agent: AgentView{Agent: st.Agent, Tools: JSONValue(st.Agent.Tools)},
		Config: st.Config, Cwd: st.Cwd, Env: st.Env, Directories: list(st.Directories),
		Parent: parentView(st.Parent), Head: st.Head, Epoch: st.Epoch,
		Usage: UsageView{Usage: st.Total(), Models: modelViews(st.Usage)}, CostUSD: usd(st.Spent, st.Unpriced),
		Permissions: permissionsView(st), Files: filesView(slices.Collect(maps.Values(st.Files))),
		Awaits: AwaitViews(st), Plan: list(st.Plan), Facts: factViews(st.Facts), Scratch: scratchView(st.Scratch),
		Created: Stamp(st.Created), Updated: Stamp(st.Updated), ReadOnly: st.ReadOnly, Faults: st.Faults,
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	if v.Env == nil {
		v.Env = session.EnvDelta{}
	}
	if limit := st.Config.BudgetNano; limit > 0 {
		v.Budget = &BudgetView{Limit: float64(limit) / 1e9, Spent: float64(st.Spent) / 1e9}
	}
	return v
}

// list makes an empty list of none, so that JSON never says null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// Stamp is a time in milliseconds since the Unix epoch. Its JSON is RFC 3339 in UTC with milliseconds, null for none.
type Stamp int64

func (s Stamp) String() string {
	return time.UnixMilli(int64(s)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// MarshalJSON writes the text form.
func (s Stamp) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(s.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Stamp) UnmarshalJSON(b []byte) error {
	*s = 0
	if string(b) == "null" {
		return nil
	}
	var t time.Time
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	*s = Stamp(t.UnixMilli())
	return nil
}

// AgentView is the agent's copy with its tools as the JSON they are.
type AgentView struct {
	session.Agent
	Tools any `json:"tools"`
}

// HolderView is who may append to a session.
type HolderView struct {
	ID    string     `json:"id"`
	Host  string     `json:"host"`
	PID   int        `json:"pid"`
	Alive store.Life `json:"alive"`
	Since Stamp      `json:"since_at"`
}

// HolderOf is the view of a holder, nil of none.
func HolderOf(h *store.Holder) *HolderView {
	if h == nil {
		return nil
	}
	return &HolderView{ID: h.ID, Host: h.Host, PID: h.PID, Alive: h.Alive, Since: Stamp(h.Since)}
}

// ParentView is where a fork began.
type ParentView struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"`
}

func parentView(p *store.Position) *ParentView {
	if p == nil {
		return nil
	}
	return &ParentView{ID: p.Session, Seq: p.Seq}
}

// UsageView is the usage of a log, in all and by model.
type UsageView struct {
	model.Usage
	Models []ModelView `json:"models"`
}

// ModelView is one model's usage.
type ModelView struct {
	Model string `json:"model"` // provider/model
	model.Usage
	Calls   int64    `json:"calls"`
	Lost    int64    `json:"lost_calls"`
	CostUSD *float64 `json:"cost_usd"` // null: a price is unknown
}

// ModelViews are the models that a session's own log used, and how much.
func ModelViews(st *session.State) []ModelView { return modelViews(st.Usage) }

func modelViews(use []session.ModelUse) []ModelView {
	out := make([]ModelView, 0, len(use))
	for _, u := range use {
		out = append(out, ModelView{Model: u.Model, Usage: u.Usage, Calls: u.Calls, Lost: u.Lost, CostUSD: usd(u.Cost, u.Unpriced)})
	}
	return out
}

// BudgetView is a money limit and what of it is spent.
type BudgetView struct {
	Limit float64 `json:"limit_usd"`
	Spent float64 `json:"spent_usd"`
}

// scratchView shows a value that is JSON as that, else as text.
func scratchView(scratch map[string][]byte) map[string]any {
	out := make(map[string]any, len(scratch))
	for k, v := range scratch {
		out[k] = jsonValue(v)
	}
	return out
}

// jsonValue is JSONValue for bytes that need not be UTF-8.
func jsonValue(b []byte) any {
	switch {
	case !utf8.Valid(b):
		return map[string]any{"base64": b}
	case len(b) == 0:
		return ""
	}
	return JSONValue(b)
}

// dropped are the counters of what left the state, by the names of the lists; nil if nothing did.
func dropped(d session.Dropped) map[string]int64 {
	out := map[string]int64{"acts": d.Settled, "decisions": d.Decisions, "files": d.Files, "tasks": d.Tasks, "faults": d.Faults}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	if len(out) == 0 {
		return nil
	}
	return out
}
