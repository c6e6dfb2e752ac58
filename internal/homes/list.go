package homes

import (
	"context"
	"slices"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// maxListPages bounds the rows that one call of List looks at: that many pages of the store, of 1,000 rows each.
const maxListPages = 1000

// List returns one page of the home's sessions, the newest first. The query's Activity is any of session.Activities,
// and its OrHeld is ignored. A session that is being deleted, or that cannot be read, is listed as its row has it.
func (h *Home) List(ctx context.Context, q store.Query) (view.Page, error) {
	var out view.Page
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	rows := q
	rows.OrHeld = true
	if q.Activity == string(session.Parked) {
		rows.Activity = "" // a message that no holder has taken yet makes an idle row a parked session
	}
	for range maxListPages {
		rows.Limit = limit - len(out.Sessions)
		page, err := h.store.List(ctx, rows)
		if err != nil {
			return view.Page{}, err
		}
		for _, info := range page.Sessions {
			l, err := h.listing(ctx, info)
			if err != nil {
				return view.Page{}, err
			}
			if fits(l, q) {
				out.Sessions = append(out.Sessions, l)
			}
		}
		if page.Next == "" || len(out.Sessions) == limit {
			out.Next = page.Next
			return out, nil
		}
		rows.After = page.Next
	}
	out.Next = rows.After
	return out, nil
}

// fits reports whether a session is in the lifecycle and does what was asked for, now that both are known.
func fits(l view.Listing, q store.Query) bool {
	return (q.Lifecycle == "" || q.Lifecycle == l.Heads.Lifecycle) && (q.Activity == "" || q.Activity == l.Activity)
}

// listing completes a row: where its heads may be a step behind, the session's state is computed.
func (h *Home) listing(ctx context.Context, info store.Info) (view.Listing, error) {
	awaits := false
	if _, exact := engine.ListedTasks(info); !exact && info.Head.Seq > 0 {
		st, err := h.State(ctx, info.ID)
		switch {
		case err == nil:
			extra := info.Heads.Extra
			info.Heads, awaits = engine.Heads(st), len(st.Awaits) > 0
			info.Heads.Extra = extra
		case ctx.Err() != nil:
			return view.Listing{}, err
		}
	}
	return view.Listing{Info: info, Activity: string(activityNow(session.Activity(info.Heads.Activity), info, awaits))}, nil
}

// activityNow derives what a session is doing from what its log says and from who holds it. It is the only place that
// does; lists, views and filters all ask here.
func activityNow(logged session.Activity, info store.Info, awaits bool) session.Activity {
	alive := info.Holder != nil && info.Holder.Alive != store.Dead // on another machine it may live
	switch {
	case alive && logged == session.Idle && awaits:
		return session.Asleep
	case alive:
		return logged
	case logged == session.Idle && info.Pending > 0 && info.Heads.Lifecycle == string(session.LifecycleOpen):
		return session.Parked
	case logged != session.Running:
		return logged
	case info.Holder != nil:
		return session.Interrupted
	}
	return session.Parked
}

// Each calls do with every session that a query selects, the newest first, page by page; its Limit and After are
// ignored.
func (h *Home) Each(ctx context.Context, q store.Query, do func(view.Listing) error) error {
	q.Limit, q.After = 1000, ""
	for {
		page, err := h.List(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range page.Sessions {
			if err := do(s); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.After = page.Next
	}
}

// Activities are the words that a list can be filtered by.
func Activities() []string {
	var out []string
	for _, a := range session.Activities() {
		out = append(out, string(a))
	}
	return slices.Sorted(slices.Values(out))
}

// Stirred is when something happened in a session last, in ms UTC, as far as its row knows: opening it to look is nothing.
func Stirred(l view.Listing) int64 { return engine.Stirred(l.Info) }
