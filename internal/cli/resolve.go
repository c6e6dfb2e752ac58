package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/store"
)

// minPrefix is the shortest beginning of an id that may stand for it.
const minPrefix = 4

// validID tells whether an id may name a session: letters, digits and . _ - up to 128, beginning with a letter or
// digit.
func validID(id string) bool {
	if id == "" || len(id) > 128 {
		return false
	}
	for i, r := range id {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return true
}

// resolve finds a session by exact id, exact name, or a unique beginning of its id.
func resolve(ctx context.Context, h *perdure.Home, name string) (string, error) {
	if validID(name) {
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
	if validID(name) && len(name) >= minPrefix {
		page, err := h.Store().List(ctx, store.Query{IDPrefix: name, Limit: 5})
		if err != nil {
			return "", err
		}
		if len(page.Sessions) == 1 {
			return page.Sessions[0].ID, nil
		}
		if len(page.Sessions) > 1 {
			return "", &exitError{code: exitMissing, text: fmt.Sprintf("%q begins more than one id", name), hint: "did you mean " + ids(page.Sessions)}
		}
	}
	return "", missing(ctx, h, name)
}

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
	d := editDistance(name, s.ID)
	if s.Heads.Title != "" {
		d = min(d, editDistance(name, s.Heads.Title))
	}
	return d
}

// editDistance is Levenshtein's over bytes; long strings are cut, names are short.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 128)], b[:min(len(b), 128)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}
