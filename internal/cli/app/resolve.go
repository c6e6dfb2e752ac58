package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// minPart is the shortest beginning or end of an id that may stand for it.
const minPart = 4

// ShortLength is how much of an id's end a table shows, if that is unique in it. The ends of ids made by Perdure are
// random, while their beginnings are the time, which sessions of one minute share.
const ShortLength = 8

// ShortID is the end of an id that is a UUID; other ids were chosen by somebody, and are shown whole.
func ShortID(id string, n int) string {
	if uuid.Validate(id) != nil || len(id) != 36 || n >= len(id) {
		return id
	}
	return id[len(id)-n:]
}

// ShortIDs gives the ids of a table's sessions as it shows them: on a terminal their ends, at one length at which no
// two are equal, elsewhere whole, for other programs.
func (a *App) ShortIDs(ids []string) func(id string) string {
	if !a.Screen {
		return func(id string) string { return id }
	}
	whole := map[string]bool{}
	for _, id := range ids {
		whole[id] = true
	}
	n := ShortLength
	for ; n < 36; n++ {
		seen := map[string]bool{}
		for id := range whole {
			seen[ShortID(id, n)] = true
		}
		if len(seen) == len(whole) {
			break
		}
	}
	return func(id string) string { return ShortID(id, n) }
}

// Resolve finds a session by exact id, exact name, or a unique beginning or end of its id.
func (a *App) Resolve(ctx context.Context, h *homes.Home, name string) (string, error) {
	if name == "" {
		return "", UsageError("a session is needed: give its id or name")
	}
	if store.ValidID(name) {
		info, err := h.Store().Get(ctx, name)
		if err == nil {
			return info.ID, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	page, err := h.Store().List(ctx, store.Query{Title: name, Limit: MaxTwins + 1})
	switch {
	case err != nil:
		return "", err
	case len(page.Sessions) == 1:
		return page.Sessions[0].ID, nil
	case len(page.Sessions) > 1:
		return "", a.ambiguous(fmt.Sprintf("more than one session is named %q", name), page.Sessions)
	}
	found, err := byPart(ctx, h, name)
	switch {
	case err != nil:
		return "", err
	case len(found) == 1:
		return found[0].ID, nil
	case len(found) > 1:
		return "", a.ambiguous(fmt.Sprintf("%q is a part of more than one id", name), found)
	}
	return "", a.missing(ctx, h, name)
}

// MaxTwins bounds the sessions that are named where one was meant.
const MaxTwins = 5

// ambiguous names the sessions of which one was meant, with what tells them apart.
func (a *App) ambiguous(text string, found []store.Info) error {
	e := &ExitError{Code: ExitUsage, Text: text + ": give an id"}
	for i, s := range found {
		if i == MaxTwins {
			e.More = append(e.More, "… and more: perdure list shows them")
			break
		}
		e.More = append(e.More, fmt.Sprintf("%s, last changed %s, in %s", a.Known(s), a.Since(s.Updated), a.Tilde(s.Heads.Cwd)))
	}
	return e
}

// Known is a session's id with its name, and what it began with.
func (a *App) Known(s store.Info) string {
	words := []string{s.ID}
	if s.Heads.Title != "" {
		words = append(words, strconv.Quote(display.Line(s.Heads.Title, display.MaxCell)))
	}
	if first := s.Heads.Labels[LabelPrompt]; first != "" {
		words = append(words, "that began with", strconv.Quote(display.Line(first, display.MaxCell)))
	}
	return strings.Join(words, " ")
}

// byPart finds sessions whose id begins or ends with a text, at most 5 of each.
func byPart(ctx context.Context, h *homes.Home, part string) ([]store.Info, error) {
	if !idPart(part) || len(part) < minPart {
		return nil, nil
	}
	begin, err := h.Store().List(ctx, store.Query{IDPrefix: part, Limit: 5})
	if err != nil {
		return nil, err
	}
	end, err := h.Store().List(ctx, store.Query{IDSuffix: part, Limit: 5})
	if err != nil {
		return nil, err
	}
	found := begin.Sessions
	for _, s := range end.Sessions {
		if !slices.ContainsFunc(found, func(f store.Info) bool { return f.ID == s.ID }) {
			found = append(found, s)
		}
	}
	return found, nil
}

// idPart reports whether a text may be a part of an id: behind a letter it would be one.
func idPart(s string) bool { return store.ValidID("a" + s) }

// missing says that nothing has this name, and what is near it.
func (a *App) missing(ctx context.Context, h *homes.Home, name string) error {
	e := &ExitError{Code: ExitMissing, Text: fmt.Sprintf("no session %q", name), Hint: "perdure list shows what there is"}
	page, err := h.Store().List(ctx, store.Query{Limit: 1000})
	if err != nil {
		return e
	}
	near := slices.DeleteFunc(page.Sessions, func(s store.Info) bool { return distance(name, s) > max(2, len(name)/3) })
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b store.Info) int { return cmp.Compare(distance(name, a), distance(name, b)) })
		e.Hint = "nearest: " + ids(near[:min(3, len(near))])
	}
	return e
}

func ids(infos []store.Info) string {
	out := make([]string, len(infos))
	for i, s := range infos {
		out[i] = s.ID
		if s.Heads.Title != "" {
			out[i] += " (" + s.Heads.Title + ")"
		}
	}
	return strings.Join(out, ", ")
}

// distance is how far a name is from a session's id or name, whatever its case. A part of a name is near it.
func distance(name string, s store.Info) int {
	name, title := strings.ToLower(name), strings.ToLower(s.Heads.Title)
	d := safe.Distance(name, strings.ToLower(s.ID))
	switch {
	case title == "":
	case len(name) >= minPart && strings.Contains(title, name):
		return 1
	default:
		d = min(d, safe.Distance(name, title))
	}
	return d
}

// LabelPrompt is the label under which a session that -p opened keeps the first words of its first prompt, for lists:
// store.Info has it in Heads.Labels, a session's state in Labels. It is shown where the session has no name (title). It
// is no name: -r does not find a session by it, so that a prompt can never take the name of another session.
const LabelPrompt = "prompt"

// LabelSeat is the label of a session in which a person has written on a screen: its value is SeatScreen.
const (
	LabelSeat  = "seat"
	SeatScreen = "screen"
)

// TasksOf lists the tasks of the session that a name means.
func (a *App) TasksOf(ctx context.Context, h *homes.Home, name string) ([]view.Task, error) {
	id, err := a.Resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return h.Tasks().List(ctx, id)
}

// AllTasks lists every session's own tasks.
func (a *App) AllTasks(ctx context.Context, h *homes.Home) ([]view.Task, error) {
	tasks, left, err := h.Tasks().All(ctx)
	for _, e := range left {
		a.Note("left out: %v", e)
	}
	return tasks, err
}

// IsCalled matches tasks by id or name.
func IsCalled(name string) func(view.Task) bool {
	return func(t view.Task) bool { return name != "" && (t.ID == name || t.Name == name) }
}
