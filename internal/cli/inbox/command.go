package inbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Command is perdure inbox.
func Command(a *app.App) *cobra.Command {
	var f struct{ json, watch, interactive bool }
	c := &cobra.Command{
		Use: "inbox", Short: "Everything that waits for you, in all sessions", Args: app.RangeArgs(0, 0, "no arguments"),
		Long: `Lists what waits for you in all sessions of this home, the oldest first: approvals and questions, model calls that
failed, limits that were reached, sessions that broke off and could go on, tasks that ended badly while nobody looked.
--watch goes on listing as that changes; -i answers on the screen, without opening the sessions: of a session that no
process holds the answer is recorded for its next run.`,
		Example: "  perdure inbox\n  perdure inbox -i\n  perdure inbox --json --watch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.interactive && (f.json || f.watch):
				return app.UsageError("-i draws on the screen: give it alone")
			case f.interactive && a.Inside() != "":
				return &app.ExitError{Code: app.ExitFailed, Text: "perdure inbox -i is for a human, outside of sessions: " + a.Inside(), Hint: "run it in a terminal of your own"}
			case f.interactive && !CanDraw(a):
				return &app.ExitError{
					Code: app.ExitUsage, Text: "inbox -i needs a terminal that it can draw on", Hint: "perdure inbox lists the same, --json for programs",
				}
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				switch {
				case f.interactive:
					return open(ctx, a, h)
				case f.watch:
					return watch(ctx, a, h, f.json)
				}
				return list(ctx, a, h, f.json)
			})
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object a line")
	c.Flags().BoolVar(&f.watch, "watch", false, "go on: draw it anew as it changes, or print the changes where stdout is no terminal")
	c.Flags().BoolVarP(&f.interactive, "interactive", "i", false, "look and answer on the screen")
	return c
}

// entryView is a line of inbox --json.
type entryView struct {
	Kind    string       `json:"kind"` // approval, question, failed, limit, broken_off, parked or task
	ID      string       `json:"id"`   // session:act, session, or session:task
	Session string       `json:"session_id"`
	Title   string       `json:"title,omitempty"`
	Cwd     string       `json:"cwd"`
	Text    string       `json:"text"`
	Since   view.Stamp   `json:"since"`
	Digest  store.Digest `json:"digest,omitzero"`         // of an approval: what an answer is bound to
	Options []string     `json:"options,omitempty"`       // of a question
	Again   bool         `json:"decided_again,omitempty"` // see approvals list
	Remedy  string       `json:"remedy"`                  // the command that helps
	Event   string       `json:"event,omitempty"`         // with --watch: waits, or over
}

func viewOf(e Entry, event string) entryView {
	v := entryView{
		Kind: e.Kind, ID: e.ID, Session: e.Session, Title: e.Title, Cwd: e.Cwd, Text: e.Text, Since: view.Stamp(e.Since), Remedy: e.Hint, Event: event,
	}
	if e.Wait != nil {
		v.Again = e.Wait.Again
		if e.Kind == pending.Approval {
			v.Digest = e.Wait.Call.Approval.Bound
		} else if q := e.Wait.Call.Question; q != nil {
			v.Options = q.Options
		}
	}
	return v
}

func list(ctx context.Context, a *app.App, h *homes.Home, asJSON bool) error {
	entries, err := Entries(ctx, a, h, a.Note)
	if err != nil {
		return err
	}
	if asJSON {
		for _, e := range entries {
			if err := a.JSON(viewOf(e, "")); err != nil {
				return err
			}
		}
		return nil
	}
	if len(entries) == 0 {
		a.Note("nothing waits")
		return nil
	}
	if err := a.Table(rows(a, entries)); err != nil {
		return err
	}
	hints(a, entries)
	return nil
}

// maxHints bounds the entries whose commands are told below a list.
const maxHints = 5

// hints tell how to answer, and of what no answer helps the command that does.
func hints(a *app.App, entries []Entry) {
	if slices.ContainsFunc(entries, func(e Entry) bool { return e.Wait != nil }) {
		a.Hint("perdure inbox -i answers; perdure approvals list, allow, deny and perdure answer do it one by one")
	}
	told := 0
	for _, e := range entries {
		switch {
		case e.Wait != nil:
		case told == maxHints:
			a.Hint("perdure inbox --json has what helps of the others")
			return
		default:
			told++
			a.Hint("%s %s: %s", shortID(e), word(e.Kind), e.Hint)
		}
	}
}

// roomy is the width, in cells, from which on titles have a column, and whole ids.
const roomy = 60

// rows are the entries as lines: what the commands call it, its age, the session's title or first words if one has any,
// and what.
func rows(a *app.App, entries []Entry) [][]string {
	columns, _ := a.Window()
	narrow := columns > 0 && columns < roomy
	several := map[string]int{}
	for _, e := range entries {
		several[e.Session]++
	}
	out := make([][]string, len(entries))
	titled := false
	for i, e := range entries {
		id := shortID(e)
		if short, act, ok := strings.Cut(id, ":"); ok && narrow {
			if id = short; several[e.Session] > 1 { // then the session's id alone names none of them
				id = act
			}
		}
		titled = titled || e.Name != ""
		out[i] = []string{id, a.Age(e.Since), display.Shown(e.Name, 24), word(e.Kind), display.Shown(e.Text, 120)}
	}
	if !titled || narrow {
		return display.WithoutColumn(out, 2)
	}
	return out
}

// word is a kind for people.
func word(kind string) string {
	switch kind {
	case pending.Approval:
		return "wants"
	case pending.Question:
		return "asks"
	case Broken:
		return "broke off"
	}
	return kind
}

// shortID names the entry as the commands take it.
func shortID(e Entry) string {
	short := app.ShortID(e.Session, app.ShortLength)
	if e.Kind == pending.Approval || e.Kind == pending.Question {
		_, act, _ := strings.Cut(e.ID[len(e.Session):], ":")
		return short + ":" + act
	}
	return short
}

// Bounds of watching: how often it is looked whether anything was written, and how often by itself, since a holder's death
// writes nothing.
const (
	watchEvery = 300 * time.Millisecond
	lookAnyway = 2 * time.Second
)

// watch prints what waits, and then each change of it, until its context ends. On a terminal it draws the list anew.
func watch(ctx context.Context, a *app.App, h *homes.Home, asJSON bool) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var before []Entry
	touched, first := "", true
	width, height := a.Window()
	var looked time.Time
	var took time.Duration
	for {
		if now := h.Touched(); first || now == "" || now != touched || time.Since(looked) >= max(lookAnyway, maxLooking*took) {
			touched, looked = now, time.Now()
			entries, err := Entries(ctx, a, h, a.Note)
			if err != nil {
				return err
			}
			took = time.Since(looked)
			if err := changed(a, before, entries, first, asJSON); err != nil {
				return err
			}
			before, first = entries, false
		}
		if w, t := a.Window(); (w != width || t != height) && draws(a) && !asJSON {
			width, height = w, t
			if err := redraw(a, before); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// changed tells what is new and what is over.
func changed(a *app.App, before, now []Entry, first, asJSON bool) error {
	var came, gone []Entry
	for _, e := range now {
		if !slices.ContainsFunc(before, e.same) {
			came = append(came, e)
		}
	}
	for _, e := range before {
		if !slices.ContainsFunc(now, e.same) {
			gone = append(gone, e)
		}
	}
	switch {
	case !first && len(came)+len(gone) == 0:
		return nil
	case asJSON:
		return changedJSON(a, came, gone)
	case draws(a):
		return redraw(a, now)
	}
	if first && len(now) == 0 {
		a.Note("nothing waits")
	}
	for _, e := range gone {
		a.Linef("- %s", strings.Join(rows(a, []Entry{e})[0], "  "))
	}
	for _, e := range came {
		a.Linef("+ %s", strings.Join(rows(a, []Entry{e})[0], "  "))
	}
	return nil
}

// draws reports whether the list is drawn anew as a whole.
func draws(a *app.App) bool { return a.Screen && a.Getenv("TERM") != "dumb" }

// same reports the same thing in the same state.
func (e Entry) same(o Entry) bool { return e.Kind == o.Kind && e.ID == o.ID && bound(e) == bound(o) }

func changedJSON(a *app.App, came, gone []Entry) error {
	for _, e := range gone {
		if err := a.JSON(viewOf(e, "over")); err != nil {
			return err
		}
	}
	for _, e := range came {
		if err := a.JSON(viewOf(e, "waits")); err != nil {
			return err
		}
	}
	return nil
}

// redraw draws the whole list on a terminal, from its top.
func redraw(a *app.App, now []Entry) error {
	what := "nothing waits"
	switch n := len(now); {
	case n == 1:
		what = "1 thing waits"
	case n > 1:
		what = display.Count(int64(n), "thing") + " wait"
	}
	a.Linef("\x1b[H\x1b[2J%s   as of %s", what, a.Clock(a.Now().UnixMilli()).Format("15:04:05"))
	const around = 3 // the first line, what is said of the rest, and where the cursor stands
	more := 0
	if _, height := a.Window(); height > around && len(now) > height-around {
		more = len(now) - (height - around)
	}
	if err := a.Table(rows(a, now)[:len(now)-more]); err != nil || more == 0 {
		return err
	}
	a.Linef("and %d more", more)
	return nil
}
