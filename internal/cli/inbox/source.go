package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/store"
)

// Source gives what waits in a home, or in one session of it, to a list of asks, and brings the answers: to the process
// that holds the session, else into its log for its next run. It is safe for concurrent use.
type Source struct {
	app     *app.App
	home    *homes.Home
	session string // empty: all of the home

	mu      sync.Mutex
	touched string // as of the newest look
	looked  time.Time
	took    time.Duration
	entries []Entry
}

var _ asks.Source = (*Source)(nil)

// NewSource is the source of a home; with a session's id, of that session alone.
func NewSource(a *app.App, h *homes.Home, session string) *Source {
	quiet := *a // what cannot be read is left out, and no line of it gets on the screen
	quiet.Stderr = discard{}
	return &Source{app: &quiet, home: h, session: session}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// List returns what waits, the oldest first.
func (s *Source) List(ctx context.Context) ([]asks.Ask, error) {
	entries, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]asks.Ask, len(entries))
	for i, e := range entries {
		out[i] = askOf(s.app, e, s.session == "")
	}
	return out, nil
}

// Bounds of how often a home is looked through where nothing in it was written: only a holder's death would show.
const (
	lookEvery  = 2 * time.Second
	maxLooking = 200 // times what a look takes
)

// look lists the entries; of a home in which nothing was written since, those of the last look, for a while.
func (s *Source) look(ctx context.Context) ([]Entry, error) {
	if s.session != "" {
		return OfSession(ctx, s.home, s.session)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	touched, now := s.home.Touched(), s.app.Now()
	if touched != "" && touched == s.touched && now.Sub(s.looked) < max(lookEvery, maxLooking*s.took) {
		return s.entries, nil
	}
	entries, err := Entries(ctx, s.app, s.home, func(string, ...any) {})
	if err != nil {
		return nil, err
	}
	s.touched, s.looked, s.took, s.entries = touched, now, s.app.Now().Sub(now), entries
	return entries, nil
}

func askOf(a *app.App, e Entry, several bool) asks.Ask {
	ask := asks.Ask{ID: e.Kind + " " + e.ID, Bound: bound(e), Session: e.Session, Line: e.Text, Asked: time.UnixMilli(e.Since)}
	switch e.Kind {
	case pending.Approval:
	case pending.Question:
		ask.Kind = asks.Question
	default:
		ask.Kind = asks.Notice
	}
	if several {
		ask.Title = titleOf(e)
	}
	return ask
}

// titleOf is what a person knows the session by.
func titleOf(e Entry) string {
	if e.Name != "" {
		return e.Name
	}
	return app.ShortID(e.Session, app.ShortLength)
}

// about names a session in full.
func about(e Entry) string {
	if e.Name != "" {
		return safe.Shown(e.Name, 200) + "  " + e.Session
	}
	return e.Session
}

// bound is what an answer is bound to: of an approval the call and the content of the file that it changes.
func bound(e Entry) string {
	switch {
	case e.Wait == nil:
		return e.Text
	case e.Kind == pending.Question:
		q := e.Wait.Call.Question
		return e.Wait.Call.ID + "\x00" + q.Question + "\x00" + strings.Join(q.Options, "\x00")
	}
	p := e.Wait.Call.Approval
	return fmt.Sprintf("%s %s %s %s %v", e.Wait.Call.ID, p.Bound, p.Pre, p.Target, p.Always)
}

// find looks the entry of an ask up as it is now; *asks.Gone where it does not wait any more, or is another one.
func (s *Source) find(ctx context.Context, a asks.Ask) (Entry, error) {
	entries, err := OfSession(ctx, s.home, a.Session)
	if a.Kind == asks.Notice {
		entries, err = s.look(ctx)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Entry{}, err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Kind+" "+e.ID == a.ID })
	switch {
	case i < 0:
		return Entry{}, s.gone(ctx, a)
	case bound(entries[i]) != a.Bound:
		return Entry{}, &asks.Gone{How: "it is another call by now"}
	}
	return entries[i], nil
}

// first is what whoever comes second is told.
const first = "another terminal answered first: "

// gone is the error about an ask that does not wait any more.
func (s *Source) gone(ctx context.Context, a asks.Ask) error {
	if how := s.Became(ctx, a); how != "" {
		return &asks.Gone{How: first + how}
	}
	return &asks.Gone{How: "it does not wait any more"}
}

// Show returns what is to be shown of an ask.
func (s *Source) Show(ctx context.Context, a asks.Ask) (asks.Detail, error) {
	e, err := s.find(ctx, a)
	if err != nil {
		return asks.Detail{}, err
	}
	d := asks.Detail{Hint: e.Hint}
	switch e.Kind {
	case pending.Approval:
		return approvalDetail(e), nil
	case pending.Question:
		q := e.Wait.Call.Question
		for l := range strings.SplitSeq(strings.TrimRight(q.Question, "\n"), "\n") {
			d.Rows = append(d.Rows, asks.Row{Look: asks.Text, Text: l})
		}
		d.Options = q.Options
	default:
		d.Rows = []asks.Row{
			{Look: asks.Warning, Text: e.Text},
			{Look: asks.About, Text: "session " + about(e)},
			{Look: asks.About, Text: "in " + e.Cwd},
		}
	}
	return d, nil
}

func approvalDetail(e Entry) asks.Detail {
	w, p := *e.Wait, e.Wait.Call.Approval
	d := asks.Detail{Rows: []asks.Row{{Look: asks.About, Text: w.Call.Tool}}}
	for _, r := range pending.Rows(w, pending.LinesOnPage) {
		d.Part = d.Part || r.Look == pending.Left
		d.Rows = append(d.Rows, r)
	}
	d.Hint = "perdure approvals allow " + w.ID
	if d.Part {
		d.Rows = append(d.Rows, asks.Row{Look: asks.Warning, Text: "not all of it is shown here: perdure approvals list --json has it, " + d.Hint + " allows it"})
	}
	if w.Again {
		d.Rows = append(d.Rows, asks.Row{Look: asks.Aside, Text: pending.DecidedAgain})
	}
	d.Exact.Text, d.Exact.Allows = p.Offer, "this file again"
	switch {
	case p.Offer == "" && p.Always:
		d.Exact.Allows = "it asks every time, whatever is granted"
	case p.Offer == "":
		d.Exact.Allows = "no rule can cover it: it can be allowed once"
	case w.Call.Tool == "Bash":
		d.Exact.Allows = "this command again, exactly as it is; u: in any directory"
	case strings.HasSuffix(p.Offer, "/**)"):
		d.Exact.Allows = "everything below that directory"
	case !strings.Contains(p.Offer, "("):
		d.Exact.Allows = "every call of " + safe.Shown(w.Call.Tool, 60)
	}
	d.Wider.Text, d.Wider.Allows = pending.Wider(w)
	if w.Root != "" && pending.Within(p.Cwd, w.Root) {
		d.Project = w.Root
	}
	return d
}

// scopeOf is the scope of a verdict; of any but those that allow it is none.
func scopeOf(v asks.Verdict) (scope pending.Scope, allow bool) {
	switch v {
	case asks.Once:
		return pending.Once, true
	case asks.ForSession:
		return pending.Session, true
	case asks.ForProject:
		return pending.Project, true
	case asks.ForUser:
		return pending.User, true
	case asks.No:
	}
	return "", false
}

// Answer brings an answer, bound to what was shown.
func (s *Source) Answer(ctx context.Context, a asks.Ask, ans asks.Answer) error {
	e, err := s.find(ctx, a)
	if err != nil {
		return err
	}
	switch e.Kind {
	case pending.Approval:
		scope, allow := scopeOf(ans.Verdict)
		_, err = pending.Decide(ctx, s.app, s.home, *e.Wait, pending.Answer{Allow: allow, Scope: scope, Wider: ans.Wider, Message: ans.Text})
	case pending.Question:
		err = s.app.Within(ctx, s.home, e.Session, app.Patience, func(ctx context.Context) error {
			return s.home.Answer(ctx, e.Session, e.Wait.Call.ID, ans.Text)
		})
	default:
		return fmt.Errorf("no answer helps here: %s", e.Hint)
	}
	var before *pending.Decided
	switch {
	case errors.As(err, &before):
		return &asks.Gone{How: first + before.Word() + " by " + before.By}
	case errors.Is(err, engine.ErrRefused) && s.Became(ctx, a) != "":
		return s.gone(ctx, a)
	}
	return err
}

// Became says what became of an ask that does not wait any more.
func (s *Source) Became(ctx context.Context, a asks.Ask) string {
	kind, id, _ := strings.Cut(a.ID, " ")
	switch kind {
	case pending.Approval:
		if d := pending.Became(ctx, s.home, id, store.Digest{}); d != nil {
			return d.Word() + " by " + d.By
		}
	case pending.Question:
		if text, who := pending.BecameOf(ctx, s.home, id); who != "" {
			return safe.Shown(text, 200) + " said " + who
		}
	}
	return ""
}
