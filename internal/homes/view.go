package homes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// ViewOptions say how much to look at.
type ViewOptions struct {
	Messages bool // the conversation too
	All      bool // acts, decisions, files and tasks from the whole log: what the state's bounds dropped comes back
}

// View looks at a session without holding it. Errors: store.ErrNotFound, engine.ErrNoEvents, *store.CorruptError.
func (h *Home) View(ctx context.Context, id string, opt ViewOptions) (*view.Session, error) {
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
	v.Activity = string(activityNow(session.ActivityOf(st), info, len(st.Awaits) > 0))
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
		t, err := h.eng.Whole(ctx, st)
		if err != nil {
			return nil, fmt.Errorf("session %s: read conversation: %w", id, err)
		}
		v.Messages = messageViews(t, st)
	}
	return v, nil
}

func viewOf(st *session.State) *view.Session {
	v := &view.Session{
		ID: st.ID, Title: st.Title, Owner: st.Owner, Labels: st.Labels, Lifecycle: string(st.Lifecycle),
		Failure: failureView(st), Agent: agentView(st.Agent),
		Config: view.Config(st.Config), Cwd: st.Cwd, Env: envView(st.Env), Directories: list(st.Directories),
		Parent: parentView(st.Parent), Head: st.Head, Epoch: st.Epoch,
		Usage: view.Usage{Usage: st.Total(), Models: modelViews(st.Usage)}, CostUSD: usd(st.Spent, st.Unpriced),
		Permissions: permissionsView(st), Files: filesView(slices.Collect(maps.Values(st.Files))),
		Awaits: AwaitViews(st), Plan: stepViews(st.Plan), Facts: factViews(st.Facts), Scratch: scratchView(st.Scratch),
		Created: view.Stamp(st.Created), Updated: view.Stamp(st.Updated), ReadOnly: st.ReadOnly, Faults: st.Faults,
	}
	if v.Labels == nil {
		v.Labels = map[string]string{}
	}
	if limit := st.Config.BudgetNano; limit > 0 {
		v.Budget = &view.Budget{Limit: float64(limit) / 1e9, Spent: float64(st.Spent) / 1e9}
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

// HolderOf is the view of a holder, nil of none.
func HolderOf(h *store.Holder) *view.Holder {
	if h == nil {
		return nil
	}
	return &view.Holder{ID: h.ID, Host: h.Host, PID: h.PID, Alive: h.Alive, Since: view.Stamp(h.Since)}
}

func parentView(p *store.Position) *view.Parent {
	if p == nil {
		return nil
	}
	return &view.Parent{ID: p.Session, Seq: p.Seq}
}

// ModelViews are the models that a session's own log used, and how much.
func ModelViews(st *session.State) []view.ModelUse { return modelViews(st.Usage) }

func modelViews(use []session.ModelUse) []view.ModelUse {
	out := make([]view.ModelUse, 0, len(use))
	for _, u := range use {
		out = append(out, view.ModelUse{Model: u.Model, Usage: u.Usage, Calls: u.Calls, Lost: u.Lost, CostUSD: usd(u.Cost, u.Unpriced)})
	}
	return out
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
	out := map[string]int64{
		"acts": d.Settled, "decisions": d.Decisions, "files": d.Files, "tasks": d.Tasks, "faults": d.Faults,
		"points": d.Points, "artifacts": d.Artifacts,
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	if len(out) == 0 {
		return nil
	}
	return out
}
