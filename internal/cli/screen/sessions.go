package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Sessions is a home as a picker sees it.
type Sessions struct {
	app  *app.App
	home *homes.Home
	dir  string // this directory; empty: it is gone

	mu       sync.Mutex
	branches map[string]string // by directory, for as long as the page is open
}

// Bounds of a look at the list: rows of the store that one search goes through, and sessions whose tasks are looked at.
const (
	maxScanned  = 2500
	maxBranches = 512
)

// NewSessions gives the sessions of a home; dir is the directory that counts as this one, without links.
func NewSessions(a *app.App, h *homes.Home, dir string) *Sessions {
	return &Sessions{app: a, home: h, dir: dir, branches: map[string]string{}}
}

// List gives sessions that have all words of a search, without those that hold tasks alone.
func (s *Sessions) List(ctx context.Context, q picker.Query, after string, n int) (picker.Page, error) {
	if after == inWords {
		return s.inWords(ctx, q)
	}
	sq := store.Query{After: after, Limit: n}
	if !q.All {
		sq.Cwd = s.dir
	}
	if q.Words != "" {
		sq.Limit = 500
	}
	out, err := s.copies(ctx, q, after)
	if err != nil {
		return out, err
	}
	for scanned := 0; ; {
		page, err := s.home.List(ctx, sq)
		if err != nil {
			return picker.Page{}, err
		}
		for _, l := range page.Sessions {
			if row := s.row(l); !(sessions.OnlyTasks(l) && l.Heads.Turns == 0) && picker.Matches(row, q.Words) {
				out.Rows = append(out.Rows, row)
			}
		}
		scanned += len(page.Sessions)
		sq.After, out.Next = page.Next, page.Next
		if page.Next == "" || len(out.Rows) >= n && q.Words == "" || scanned >= maxScanned {
			break
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b picker.Row) int { return b.Updated.Compare(a.Updated) })
	if out.Next == "" && utf8.RuneCountInString(q.Words) >= leastWord {
		out.Next = inWords
	}
	return out, s.count(ctx, out.Rows)
}

// copies gives the sessions that work in copies of this directory: they are of this project, and on its first page.
func (s *Sessions) copies(ctx context.Context, q picker.Query, after string) (out picker.Page, err error) {
	if q.All || s.dir == "" || after != "" {
		return out, nil
	}
	all, err := s.home.Copies(ctx, s.dir)
	for _, l := range all {
		if row := s.row(l); !(sessions.OnlyTasks(l) && l.Heads.Turns == 0) && picker.Matches(row, q.Words) {
			out.Rows = append(out.Rows, row)
		}
	}
	return out, err
}

// inWords is the place behind all sessions that are found by their rows: there those begin that have the words of a
// search in their conversation.
const (
	inWords   = "in words"
	leastWord = 3  // characters: from so many on, the beginning of a word finds it
	mostHits  = 50 // texts that are looked at
)

// inWords gives the sessions in whose conversations a search finds its words, the best first. An index that cannot be used
// finds none: the search of the rows stands.
func (s *Sessions) inWords(ctx context.Context, q picker.Query) (out picker.Page, err error) {
	found, err := s.home.Search(ctx, homes.SearchOptions{Query: q.Words, In: []string{search.Sessions}, Limit: mostHits})
	if err != nil {
		return out, ctx.Err()
	}
	seen := map[string]bool{}
	for _, hit := range found.Hits {
		if seen[hit.Name] {
			continue
		}
		seen[hit.Name] = true
		page, err := s.home.List(ctx, store.Query{IDPrefix: hit.Name, Limit: 10})
		if err != nil {
			return out, err
		}
		for _, l := range page.Sessions {
			row := s.row(l)
			if l.ID == hit.Name && (q.All || s.home.ProjectOf(l.Heads.Cwd) == s.dir || l.Heads.Cwd == s.dir) && !picker.Matches(row, q.Words) {
				row.Found = hit.Snippet.Text
				out.Rows = append(out.Rows, row)
			}
		}
	}
	return out, s.count(ctx, out.Rows)
}

// row is what the list has of a session.
func (s *Sessions) row(l view.Listing) picker.Row {
	title, first := sessions.Known(l)
	r := picker.Row{
		ID: l.ID, Title: title, First: first, Dir: s.app.Tilde(l.Heads.Cwd), Branch: s.branch(l.Heads.Cwd), Updated: time.UnixMilli(l.Updated),
		State: stateOf(l), Status: sessions.Stands(l), Holder: sessions.HeldBy(l), Tasks: liveTasks(s.home, l.Info),
	}
	if l.Heads.CostNano != nil && *l.Heads.CostNano > 0 {
		usd := float64(*l.Heads.CostNano) / 1e9
		r.Cost = fmt.Sprintf("$%.2f", usd)
	}
	return r
}

func stateOf(l view.Listing) picker.State {
	switch {
	case sessions.Rests(l):
		return picker.Over
	case l.Activity == string(session.Running), l.Activity == string(session.Asleep):
		return picker.Working
	case l.Activity == string(session.Waiting):
		return picker.Waiting
	case l.Activity == string(session.Idle):
		return picker.Idle
	}
	return picker.Broken
}

// branch is what is checked out in a directory now.
func (s *Sessions) branch(dir string) string {
	if dir == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, known := s.branches[dir]
	if !known && len(s.branches) < maxBranches {
		if r, err := repo.Look(context.Background(), dir); err == nil { // without a repository there is no branch
			b = r.Branch
		}
		s.branches[dir] = b
	}
	return b
}

// liveTasks counts the commands of a session that run, as far as its row knows them; count looks at the others.
func liveTasks(h *homes.Home, info store.Info) int {
	tasks, ok := engine.ListedTasks(info)
	if !ok {
		return unknown
	}
	return live(h, info.ID, tasks)
}

const unknown = -1

func live(h *homes.Home, id string, tasks []session.Task) (n int) {
	for i := range tasks {
		if tasks[i].Session != "" || tasks[i].Status != command.Running {
			continue
		}
		if st, err := h.Commands().State(id, tasks[i].Act); err == nil && st.Status == command.Running {
			n++
		}
	}
	return n
}

// count completes the rows that are shown: of a session that works, its state alone knows the tasks.
func (s *Sessions) count(ctx context.Context, rows []picker.Row) error {
	for i := range rows {
		if rows[i].Tasks != unknown {
			continue
		}
		rows[i].Tasks = 0
		st, err := s.home.State(ctx, rows[i].ID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // else the preview says what is wrong with it
			rows[i].Tasks = live(s.home, st.ID, st.Tasks)
		}
	}
	return nil
}

// Preview looks at one session, without holding it.
func (s *Sessions) Preview(ctx context.Context, id string) (picker.Preview, error) {
	st, err := s.home.State(ctx, id)
	if err != nil {
		return picker.Preview{}, err
	}
	p := picker.Preview{First: st.Labels[app.LabelPrompt], Next: nextRequest(st, s.calledAt(ctx, st), s.app.Now())}
	if t, err := s.home.Transcript(ctx, st); err == nil { // without it there are no last words
		p.Last = t.LastText()
		p.Asked = lastAsked(t)
		if strings.HasPrefix(p.Asked, strings.TrimSuffix(p.First, "…")) {
			p.Asked = ""
		}
	}
	for _, w := range pending.Both(st) {
		p.Waits = append(p.Waits, pending.Line(w))
	}
	for _, t := range s.home.Tasks().Live(st) {
		p.Tasks = append(p.Tasks, display.Called(t)+": "+display.FirstLine(t.Command))
	}
	for _, step := range st.Plan {
		p.Plan = append(p.Plan, planMark(string(step.Status))+" "+step.Content)
	}
	return p, nil
}

// lastAsked is what a person said last in a conversation.
func lastAsked(t *session.Transcript) string {
	prompts := t.Prompts()
	for i := len(prompts) - 1; i >= 0; i-- {
		if text := model.Text(prompts[i].Content); !prompts[i].Met && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func planMark(status string) string {
	switch status {
	case "done":
		return "✓"
	case "executing":
		return "▸"
	case "failed", "blocked":
		return "✗"
	}
	return "○"
}

// cacheFor is how long a model API keeps what it was sent: the shortest time that any of them promises.
const cacheFor = 5 * time.Minute

// maxBack bounds the events in which the newest reply is looked for.
const maxBack = 500

// calledAt is when the model replied last; zero: not within the newest events.
func (s *Sessions) calledAt(ctx context.Context, st *session.State) (at time.Time) {
	for ev, err := range s.home.Events(ctx, st.ID, st.Head.Seq-maxBack, st.Head.Seq) {
		if err != nil {
			break // the cache counts as gone
		}
		if ev.Kind == session.KindModelResponded {
			at = time.UnixMilli(ev.Time)
		}
	}
	return at
}

// nextRequest says what going on costs at least: what the next request holds, and whether it is read from the API's cache.
func nextRequest(st *session.State, called, now time.Time) string {
	words := display.Grouped(st.Estimate()) + " tokens"
	if st.Context.Tokens == 0 {
		return words
	}
	left := cacheFor - now.Sub(called)
	cached := !called.IsZero() && left > 0
	if cached {
		words += ", cached for " + plain.Span(left) + " more"
	} else {
		words += ", no longer cached"
	}
	return words + ", " + priceOf(st.Agent.Price, st.Estimate(), st.Context.Tokens, cached)
}

func priceOf(p *model.Price, tokens, known int64, cached bool) string {
	if p == nil {
		return "price unknown"
	}
	use := model.Usage{CacheWrite: tokens}
	if cached {
		use = model.Usage{CacheRead: min(known, tokens), CacheWrite: max(tokens-known, 0)}
	}
	usd := float64(*meter.Cost(p, use)) / 1e9
	return "about " + display.Money(&usd)
}
