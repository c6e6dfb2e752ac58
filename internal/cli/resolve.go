package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/perdure/perdure"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// minPart is the shortest beginning or end of an id that may stand for it.
const minPart = 4

// shortLength is how much of an id's end a table shows, if that is unique in it. The ends of ids made by Perdure are
// random, while their beginnings are the time, which sessions of one minute share.
const shortLength = 8

// shortID is the end of an id that is a UUID; other ids were chosen by somebody, and are shown whole.
func shortID(id string, n int) string {
	if uuid.Validate(id) != nil || len(id) != 36 || n >= len(id) {
		return id
	}
	return id[len(id)-n:]
}

// shortIDs gives the ids of a table's sessions as it shows them: on a terminal their ends, at one length at which no
// two are equal, elsewhere whole, for other programs.
func (a *App) shortIDs(ids []string) func(id string) string {
	if !a.Screen {
		return func(id string) string { return id }
	}
	whole := map[string]bool{}
	for _, id := range ids {
		whole[id] = true
	}
	n := shortLength
	for ; n < 36; n++ {
		seen := map[string]bool{}
		for id := range whole {
			seen[shortID(id, n)] = true
		}
		if len(seen) == len(whole) {
			break
		}
	}
	return func(id string) string { return shortID(id, n) }
}

// resolve finds a session by exact id, exact name, or a unique beginning or end of its id.
func resolve(ctx context.Context, h *perdure.Home, name string) (string, error) {
	if session.ValidID(name) {
		info, err := h.Store().Get(ctx, name)
		if err == nil {
			return info.ID, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	page, err := h.Store().List(ctx, store.Query{Title: name, Limit: 2})
	if err != nil {
		return "", err
	}
	switch {
	case name == "":
		return "", usageError("a session is needed: give its id or name")
	case len(page.Sessions) == 1:
		return page.Sessions[0].ID, nil
	case len(page.Sessions) > 1:
		return "", usageError("more than one session is named %q: give an id", name)
	}
	if found, err := byPart(ctx, h, name); err != nil {
		return "", err
	} else if len(found) == 1 {
		return found[0].ID, nil
	} else if len(found) > 1 {
		return "", &exitError{code: exitMissing, text: fmt.Sprintf("%q is a part of more than one id", name), hint: "did you mean " + ids(found)}
	}
	return "", missing(ctx, h, name)
}

// byPart finds sessions whose id begins or ends with a text, at most 5 of each.
func byPart(ctx context.Context, h *perdure.Home, part string) ([]store.Info, error) {
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
func idPart(s string) bool { return session.ValidID("a" + s) }

// missing says that nothing has this name, and what comes nearest.
func missing(ctx context.Context, h *perdure.Home, name string) error {
	e := &exitError{code: exitMissing, text: fmt.Sprintf("no session %q", name), hint: "perdure list shows what there is"}
	page, err := h.Store().List(ctx, store.Query{Limit: 1000})
	if err == nil && len(page.Sessions) > 0 {
		near := page.Sessions
		slices.SortStableFunc(near, func(a, b store.Info) int { return cmp.Compare(distance(name, a), distance(name, b)) })
		e.hint = "nearest: " + ids(near[:min(3, len(near))])
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

func distance(name string, s store.Info) int {
	d := safe.Distance(name, s.ID)
	if s.Heads.Title != "" {
		d = min(d, safe.Distance(name, s.Heads.Title))
	}
	return d
}
