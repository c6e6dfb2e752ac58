package homes

import (
	"cmp"
	"context"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

func permissionsView(st *session.State) view.Permissions {
	p := view.Permissions{Mode: st.Config.Mode, Rules: ruleViews(st.Permissions.Rules), Grants: []view.Grant{}}
	for _, g := range st.Permissions.Grants {
		p.Grants = append(p.Grants, view.Grant{Rule: g.Rule, Scope: g.Scope, Cwd: g.Cwd, Actor: g.Actor, Seq: g.Seq, Granted: view.Stamp(g.Time)})
	}
	p.Decisions = decisionViews(st.Permissions.Decisions)
	return p
}

func decisionViews(records []session.DecisionRecord) []view.Decision {
	out := make([]view.Decision, 0, len(records))
	for _, d := range records {
		out = append(out, view.Decision{Act: d.Act, Tool: d.Tool, Effect: d.Effect, Rule: d.Rule, Human: d.Human, Seq: d.Seq, Decided: view.Stamp(d.Time)})
	}
	return out
}

func filesView(files []session.File) view.Files {
	v := view.Files{Read: []view.File{}, Modified: []view.File{}, Created: []view.File{}}
	slices.SortFunc(files, func(a, b session.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range files {
		one := view.File{Path: f.Path, Digest: f.Digest, Mode: f.Mode, Size: f.Size}
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

// modelTool is what a model call is listed as.
const modelTool = "model"

func actViews(list []session.Act, st *session.State) []view.Act {
	out := make([]view.Act, 0, len(list)+1)
	for _, a := range list {
		v := view.Act{ID: a.ID, Tool: a.Tool, Effect: string(a.Effect), State: string(a.State), Safe: a.Effect.SafeToRetry(), Reason: a.Reason}
		if a.Outcome != "" {
			outcome := string(a.Outcome)
			v.Outcome = &outcome
		}
		out = append(out, v)
	}
	if st.Turn == nil || st.Turn.Model == nil || st.Turn.Model.Status == session.CallResponded {
		return out
	}
	// The same request goes again: a model call is as safe to repeat as a read.
	m := st.Turn.Model
	v := view.Act{ID: m.ID, Tool: modelTool, Effect: string(session.EffectRead), Safe: true, Reason: m.Message}
	switch {
	case m.Status == session.CallRequested:
		v.State = string(session.ActExecuting)
	case m.Status == session.CallLost:
		v.State = string(session.ActPlanned)
	case m.RetryAt > 0:
		v.State = string(session.ActWaitingExternal)
	default:
		v.State = string(session.ActFailed)
	}
	return append(out, v)
}

func factViews(facts []session.Fact) []view.Fact {
	out := make([]view.Fact, 0, len(facts))
	for _, f := range facts {
		out = append(out, view.Fact{Kind: f.Kind, Text: f.Text, Provenance: f.Provenance, Seq: f.Seq, Added: view.Stamp(f.Time)})
	}
	return out
}

// maxInbox bounds how many undrained items are shown.
const maxInbox = 1000

func (h *Home) inboxViews(ctx context.Context, st *session.State) ([]view.InboxItem, error) {
	info, err := h.store.Get(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	out := []view.InboxItem{}
	for _, q := range st.Queue {
		for ev, err := range h.store.Read(ctx, st.ID, q.Seq, q.Seq) {
			if err != nil {
				return nil, err
			}
			out = append(out, inboxView(ev, view.InboxItem{Key: q.Key, Seq: q.Seq}))
		}
	}
	items, err := h.store.Pending(ctx, st.ID, info.Mark, maxInbox)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		ev := store.Event{Kind: it.Kind, Actor: it.Actor, Time: it.Time, Codec: session.Codec1, Body: it.Body}
		out = append(out, inboxView(ev, view.InboxItem{Key: it.Key}))
	}
	return out, nil
}

// inboxView completes an entry by what was sent.
func inboxView(ev store.Event, v view.InboxItem) view.InboxItem {
	body, err := session.Decode(ev)
	if m, ok := body.(*session.MessageReceived); ok && err == nil {
		v.Text = model.Text(m.Content)
	}
	l := session.EventView(ev, nil)
	v.Kind, v.Actor, v.Body, v.Sent = l.Kind, l.Actor, l.Body, view.Stamp(ev.Time)
	return v
}
