package screen

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Bounds of what is known of earlier prompts.
const (
	answerIn    = 40 * time.Millisecond // what has been found by then is the answer
	maxPrompt   = 64 << 10              // bytes; a longer one is no prompt that somebody looks for
	maxPrompts  = 20_000
	maxRecalled = 16 << 20 // bytes of all
	maxEvents   = 5_000    // that are read of one log, from its end
	listedAtOne = 200      // sessions
)

// History gives what people have said in all sessions of a home, as the logs have it: nothing is stored for it. Logs are
// read from their ends, those of the newest sessions first, as far as a question needs it; what was read is kept, so that
// the next question goes on from there. It is safe for concurrent use.
type History struct {
	home *homes.Home
	now  func() time.Time

	mu      sync.Mutex
	logs    map[string]*reading // by session
	queue   []store.Info        // listed, and not read to the end
	changed int                 // how many at its front have changed since others were read
	after   string              // cursor of the listing
	listed  bool                // there are no more sessions
	prompts []prompt            // in no order until they are sorted
	sorted  int                 // how many of them
	bytes   int
}

// reading is how far a log has been read: all from low to high; 1 is low enough.
type reading struct{ low, high int64 }

type prompt struct {
	text string
	time int64
}

// NewHistory makes a history. Its clock bounds how long an answer takes.
func NewHistory(home *homes.Home, now func() time.Time) *History {
	return &History{home: home, now: now, logs: map[string]*reading{}}
}

// Newest returns up to n prompts, the newest first, without duplicates: those that are found in 40 ms, of the sessions
// that changed last. Errors: the store's.
func (h *History) Newest(ctx context.Context, n int) ([]string, error) {
	list, err := h.Search(ctx, "", n)
	if errors.Is(err, composer.ErrMore) {
		err = nil
	}
	return list, err
}

// Search returns up to n prompts that hold all the words, the newest first, without duplicates. It answers after 40 ms
// with what it has found. Errors: composer.ErrMore, beside a list, while there are logs that have not been read; the
// store's; ctx's.
func (h *History) Search(ctx context.Context, words string, n int) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := h.now().Add(answerIn)
	if words == "" || len(h.logs) == 0 {
		if err := h.lookAnew(ctx); err != nil {
			return nil, err
		}
	}
	for {
		found := h.find(words, n)
		if len(found) == n && h.changed == 0 || h.done() {
			return found, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !h.now().Before(until) {
			return found, composer.ErrMore
		}
		if err := h.read(ctx, until); err != nil {
			return nil, err
		}
	}
}

// done reports that there is nothing more to read, or no room for it.
func (h *History) done() bool {
	return h.listed && len(h.queue) == 0 || len(h.prompts) >= maxPrompts || h.bytes >= maxRecalled
}

// find gives what is known and has the words.
func (h *History) find(words string, n int) []string {
	if h.sorted < len(h.prompts) {
		slices.SortStableFunc(h.prompts, func(a, b prompt) int { return int(min(max(b.time-a.time, -1), 1)) })
		h.sorted = len(h.prompts)
	}
	out := make([]string, 0, min(n, 64))
	seen := map[string]bool{}
	for _, p := range h.prompts {
		if len(out) == n {
			break
		}
		if !seen[p.text] && composer.Holds(p.text, words) {
			seen[p.text] = true
			out = append(out, p.text)
		}
	}
	return out
}

// lookAnew puts sessions that have changed since they were read before all others.
func (h *History) lookAnew(ctx context.Context) error {
	page, err := h.home.Store().List(ctx, store.Query{Limit: listedAtOne})
	if err != nil {
		return err
	}
	var fresh []store.Info
	for _, info := range page.Sessions {
		if at := h.logs[info.ID]; at == nil || at.high < info.Head.Seq {
			fresh = append(fresh, info)
		}
	}
	if len(h.logs) > 0 {
		h.changed = len(fresh)
	}
	h.queue = append(fresh, slices.DeleteFunc(h.queue, func(q store.Info) bool {
		return slices.ContainsFunc(fresh, func(f store.Info) bool { return f.ID == q.ID })
	})...)
	if h.after == "" && !h.listed {
		h.after, h.listed = page.Next, page.Next == ""
	}
	return nil
}

// read reads on until a time, or until it has read a log to its end.
func (h *History) read(ctx context.Context, until time.Time) error {
	if len(h.queue) == 0 {
		page, err := h.home.Store().List(ctx, store.Query{Limit: listedAtOne, After: h.after})
		if err != nil {
			return err
		}
		h.queue, h.after, h.listed = page.Sessions, page.Next, page.Next == ""
		return nil
	}
	const together = 32 // logs between two looks at what has been found
	for range min(len(h.queue), together) {
		whole, err := h.readLog(ctx, h.queue[0], until)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if whole || err != nil { // what cannot be read has nothing to say here: doctor and verify say so
			h.queue = h.queue[1:]
			h.changed = max(h.changed-1, 0)
		}
		if !h.now().Before(until) {
			return nil
		}
	}
	return nil
}

// readLog reads what has not been read of a log, from its end, and reports whether that was all.
func (h *History) readLog(ctx context.Context, info store.Info, until time.Time) (whole bool, err error) {
	at := h.logs[info.ID]
	if at == nil {
		at = &reading{low: info.Head.Seq + 1, high: info.Head.Seq}
		h.logs[info.ID] = at
	}
	if at.high < info.Head.Seq { // there is more at its end, which is less than what may be left at its beginning
		for ev, err := range h.home.Range(ctx, info.ID, homes.Range{After: at.high, Through: info.Head.Seq}) {
			if err != nil {
				return false, err
			}
			h.note(ev)
			at.high = ev.Seq
		}
	}
	if at.low <= 1 {
		return true, nil
	}
	for ev, err := range h.home.Range(ctx, info.ID, homes.Range{Through: at.low - 1, Reverse: true}) {
		if err != nil {
			return false, err
		}
		h.note(ev)
		switch at.low = ev.Seq; {
		case at.high-at.low >= maxEvents:
			at.low = 1
			return true, nil
		case !h.now().Before(until):
			return at.low <= 1, nil
		}
	}
	return true, nil
}

// note keeps what a person said.
func (h *History) note(ev store.Event) {
	if ev.Kind != session.KindMessageReceived || ev.Actor.Type != store.ActorUser {
		return
	}
	body, err := session.Decode(ev)
	if err != nil {
		return
	}
	msg, ok := body.(*session.MessageReceived)
	if !ok || msg.Note {
		return
	}
	text := strings.TrimSpace(model.Text(msg.Content))
	if text == "" || len(text) > maxPrompt {
		return
	}
	h.prompts = append(h.prompts, prompt{text, ev.Time})
	h.bytes += len(text)
}
