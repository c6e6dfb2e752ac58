package homes

import (
	"cmp"
	"context"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// PermissionsView is what a session may do, and what was decided.
type PermissionsView struct {
	Mode      string         `json:"mode"`
	Rules     []session.Rule `json:"rules"`
	Grants    []GrantView    `json:"grants"`
	Decisions []DecisionView `json:"decisions"`
}

// GrantView is a remembered allow.
type GrantView struct {
	Rule    string      `json:"rule"`
	Scope   string      `json:"scope"`
	Cwd     string      `json:"cwd,omitempty"` // the directory that it holds in; empty: the one that the session was opened in
	Actor   store.Actor `json:"actor"`
	Seq     int64       `json:"seq"`
	Granted Stamp       `json:"granted_at"`
}

// DecisionView is one decision about a call.
type DecisionView struct {
	Act     string `json:"act"`
	Tool    string `json:"tool"`
	Effect  string `json:"effect"` // allow or deny
	Rule    string `json:"rule"`   // empty: the mode decided
	Human   bool   `json:"human"`
	Seq     int64  `json:"seq"`
	Decided Stamp  `json:"decided_at"`
}

func permissionsView(st *session.State) PermissionsView {
	p := PermissionsView{Mode: st.Config.Mode, Rules: list(st.Permissions.Rules), Grants: []GrantView{}}
	for _, g := range st.Permissions.Grants {
		p.Grants = append(p.Grants, GrantView{Rule: g.Rule, Scope: g.Scope, Cwd: g.Cwd, Actor: g.Actor, Seq: g.Seq, Granted: Stamp(g.Time)})
	}
	p.Decisions = decisionViews(st.Permissions.Decisions)
	return p
}

func decisionViews(records []session.DecisionRecord) []DecisionView {
	out := make([]DecisionView, 0, len(records))
	for _, d := range records {
		out = append(out, DecisionView{Act: d.Act, Tool: d.Tool, Effect: d.Effect, Rule: d.Rule, Human: d.Human, Seq: d.Seq, Decided: Stamp(d.Time)})
	}
	return out
}

// FilesView is the session's files by what it did with them, each list ordered by path.
type FilesView struct {
	Read     []FileView `json:"read"`
	Modified []FileView `json:"modified"`
	Created  []FileView `json:"created"`
}

// FileView is a file as the session last saw it.
type FileView struct {
	Path   string       `json:"path"`
	Digest store.Digest `json:"digest"`
	Mode   uint32       `json:"mode"` // permission bits
	Size   int64        `json:"size"`
}

func filesView(files []session.File) FilesView {
	v := FilesView{Read: []FileView{}, Modified: []FileView{}, Created: []FileView{}}
	slices.SortFunc(files, func(a, b session.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range files {
		one := FileView{Path: f.Path, Digest: f.Digest, Mode: f.Mode, Size: f.Size}
		switch f.Use {
		case session.FileModified:
			v.Modified = append(v.Modified, one)
		case session.FileCreated:
			v.Created = append(v.Created, one)
		case session.FileRead:
			v.Read = append(v.Read, one)
		}
	}
	return v
}

// ActView is one act. A model call is listed while it is open.
type ActView struct {
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`
	Effect  session.Effect   `json:"effect"` // empty: not decided yet
	State   session.ActState `json:"state"`
	Safe    bool             `json:"safe_to_retry"`
	Outcome *session.Outcome `json:"outcome"`
	Reason  string           `json:"reason,omitempty"`
	// About is its command or path in a few words, Started and Ended when it ran: of the acts that lie within the
	// newest 10,000 events of the session's own log.
	About    string `json:"about,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Started  Stamp  `json:"started_at,omitzero"`
	Ended    Stamp  `json:"ended_at,omitzero"`
}

// modelTool is what a model call is listed as.
const modelTool = "model"

func actViews(list []session.Act, st *session.State) []ActView {
	out := make([]ActView, 0, len(list)+1)
	for _, a := range list {
		v := ActView{ID: a.ID, Tool: a.Tool, Effect: a.Effect, State: a.State, Safe: a.Effect.SafeToRetry(), Reason: a.Reason}
		if a.Outcome != "" {
			outcome := a.Outcome
			v.Outcome = &outcome
		}
		out = append(out, v)
	}
	if st.Turn == nil || st.Turn.Model == nil || st.Turn.Model.Status == session.CallResponded {
		return out
	}
	// The same request goes again: a model call is as safe to repeat as a read.
	m := st.Turn.Model
	v := ActView{ID: m.ID, Tool: modelTool, Effect: session.EffectRead, Safe: true, Reason: m.Message}
	switch {
	case m.Status == session.CallRequested:
		v.State = session.ActExecuting
	case m.Status == session.CallLost:
		v.State = session.ActPlanned
	case m.RetryAt > 0:
		v.State = session.ActWaitingExternal
	default:
		v.State = session.ActFailed
	}
	return append(out, v)
}

// FactView is one statement of the durable tier.
type FactView struct {
	Kind       string `json:"kind"`
	Text       string `json:"text"`
	Provenance string `json:"provenance"`
	Seq        int64  `json:"seq"`
	Added      Stamp  `json:"added_at"`
}

func factViews(facts []session.Fact) []FactView {
	out := make([]FactView, 0, len(facts))
	for _, f := range facts {
		out = append(out, FactView{Kind: f.Kind, Text: f.Text, Provenance: f.Provenance, Seq: f.Seq, Added: Stamp(f.Time)})
	}
	return out
}

// InboxView is something that was accepted and has not had its effect: an item that no holder has taken yet, or a
// message of the log (it has a seq) that waits for its turn.
type InboxView struct {
	Key   string      `json:"key"`
	Kind  store.Kind  `json:"kind"`
	Actor store.Actor `json:"actor"`
	Seq   int64       `json:"seq,omitempty"`
	Text  string      `json:"text,omitempty"` // of a message
	Body  any         `json:"body"`
	Sent  Stamp       `json:"sent_at"`
}

// maxInbox bounds how many undrained items are shown.
const maxInbox = 1000

func (h *Home) inboxViews(ctx context.Context, st *session.State) ([]InboxView, error) {
	info, err := h.store.Get(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	out := []InboxView{}
	for _, q := range st.Queue {
		for ev, err := range h.store.Read(ctx, st.ID, q.Seq, q.Seq) {
			if err != nil {
				return nil, err
			}
			out = append(out, inboxView(ev, InboxView{Key: q.Key, Seq: q.Seq}))
		}
	}
	items, err := h.store.Pending(ctx, st.ID, info.Mark, maxInbox)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		ev := store.Event{Kind: it.Kind, Actor: it.Actor, Time: it.Time, Codec: session.Codec1, Body: it.Body}
		out = append(out, inboxView(ev, InboxView{Key: it.Key}))
	}
	return out, nil
}

// inboxView completes an entry by what was sent.
func inboxView(ev store.Event, v InboxView) InboxView {
	body, err := session.Decode(ev)
	if m, ok := body.(*session.MessageReceived); ok && err == nil {
		v.Text = model.Text(m.Content)
	}
	l := session.EventView(ev, nil)
	v.Kind, v.Actor, v.Body, v.Sent = l.Kind, l.Actor, l.Body, Stamp(ev.Time)
	return v
}
