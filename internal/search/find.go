package search

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxHits bounds what one search gives, but for some that a caller leaves out.
const MaxHits = 1000

// Filter narrows a search. The zero value is all there is.
type Filter struct {
	Kinds []string // none: all
	Cwd   string   // only what is about this directory, or one below it
	Root  string   // what files are about counts for Cwd from here on: the project that Cwd is in
	Limit int      // at most MaxHits; 0: 20
}

// Hit is a text that was found.
type Hit struct {
	Source
	Text    // without the text itself
	Snippet Snippet
	Rank    float64 // less is better
}

// maxRanked is how many texts are compared with each other. Words that more texts have say little of how good one is, and
// comparing all of them takes long: of such the newest are given.
const maxRanked = 1000

const (
	sqlColumns = "SELECT s.kind, s.name, s.title, s.cwd, s.updated, s.seq, s.hash, d.seq, d.turn, d.place, d.title, d.time, r.rank FROM "
	sqlJoined  = " r CROSS JOIN doc d ON d.id = r.rowid CROSS JOIN source s ON s.no = d.no WHERE s.kind <> ''"
	sqlCount   = "SELECT count(*) FROM (SELECT rowid FROM word WHERE word MATCH ?1 ORDER BY rowid DESC LIMIT ?2)"

	sqlRanked = "(SELECT rowid, rank FROM word WHERE word MATCH ?1)"
	sqlNewest = "(SELECT rowid, 0.0 AS rank FROM word WHERE word MATCH ?1 ORDER BY rowid %s LIMIT 1000000000)"
)

// findQueryOfAll is the statement of a search that nothing narrows.
var findQueryOfAll, _ = findQuery(Query{}, Filter{Limit: 20}, sqlRanked)

// Found is what a search gave.
type Found struct {
	Hits []Hit
	// Why says why there is no index on disk, so that one in memory was made of all there is; nil: there is one.
	Why error
	// Left is how many sources had no room in it: those that changed least recently.
	Left int
	// Unread names what could not be read, with the reason.
	Unread []error
}

// Search gives the texts that a query looks for, the best first, and of those that are as good the newest. Before that it
// brings the index up to date, in which another process may be before it; with the zero Query it does no more than that.
// Snippets are cut from the texts as they are now; what is gone meanwhile is left out. Errors: the library's, and ctx's:
// what was read until then need not be read again.
func Search(ctx context.Context, lib Library, cfg Config, q Query, f Filter) (Found, error) {
	found, err := search(ctx, lib, cfg, q, f)
	if damaged(err) {
		cfg.Rebuild = true
		found, err = search(ctx, lib, cfg, q, f)
	}
	if err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	hits := found.Hits
	found.Hits = nil
	for _, h := range hits {
		ok, err := cut(ctx, lib, q, &h)
		if err != nil {
			return Found{}, fmt.Errorf("search: %w", err)
		}
		if ok {
			found.Hits = append(found.Hits, h)
		}
	}
	return found, nil
}

func search(ctx context.Context, lib Library, cfg Config, q Query, f Filter) (Found, error) {
	x, err := open(ctx, lib, cfg)
	if err != nil {
		return Found{}, err
	}
	found := Found{Why: x.why, Left: x.left, Unread: x.unread}
	if len(q.phrases) > 0 {
		found.Hits, err = x.find(ctx, q, f)
	}
	return found, errors.Join(err, x.close())
}

// find gives the hits without their snippets.
func (x *index) find(ctx context.Context, q Query, f Filter) ([]Hit, error) {
	if f.Limit <= 0 {
		f.Limit = 20
	}
	texts, newest := sqlRanked, "DESC"
	if x.place == nil {
		newest = "ASC" // see update
	}
	many, err := x.db.number(sqlCount, q.match(), maxRanked+1)
	if err != nil {
		return nil, err
	}
	if many > maxRanked {
		texts = fmt.Sprintf(sqlNewest, newest)
	}
	query, args := findQuery(q, f, texts)
	var hits []Hit
	err = x.db.query(ctx, query, args, func(v []driver.Value) error {
		h := Hit{
			Source: Source{Kind: text(v[0]), Name: text(v[1]), Title: text(v[2]), Cwd: text(v[3]), Updated: integer(v[4]), Seq: integer(v[5]), Hash: text(v[6])},
			Text:   Text{Seq: integer(v[7]), Turn: integer(v[8]), Place: text(v[9]), Title: text(v[10]), Time: integer(v[11])},
		}
		h.Rank, _ = v[12].(float64)
		hits = append(hits, h)
		return nil
	})
	if many > maxRanked {
		slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Text.Time, a.Text.Time) })
	}
	return hits[:min(len(hits), f.Limit)], err
}

// cut gives a hit its snippet. Not ok: its text is gone, or says something else by now.
func cut(ctx context.Context, lib Library, q Query, h *Hit) (ok bool, err error) {
	if h.Text.Seq == 0 {
		h.Snippet = q.snippet(h.Source.Title)
		return true, nil
	}
	src := h.Source
	if src.Kind == Sessions {
		src.Seq = h.Text.Seq // no more of it than this
	}
	for t, err := range lib.Texts(ctx, src, Mark{Seq: h.Text.Seq - 1}) {
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil:
			return false, nil // what cannot be read any more is not found
		case t.Seq != h.Text.Seq:
			return false, nil
		}
		h.Snippet = q.snippet(t.Text.Text)
		return len(h.Snippet.Marks) > 0, nil
	}
	return false, ctx.Err()
}

func findQuery(q Query, f Filter, texts string) (string, []any) {
	args := []any{q.match()}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("?%d", len(args))
	}
	where := ""
	if len(f.Kinds) > 0 {
		names := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			names[i] = arg(k)
		}
		where += " AND s.kind IN (" + strings.Join(names, ", ") + ")"
	}
	if f.Cwd != "" {
		below := strings.TrimSuffix(f.Cwd, "/") + "/"
		cwd := arg(f.Cwd)
		where += fmt.Sprintf(" AND (s.cwd = %s OR substr(s.cwd, 1, %d) = %s", cwd, len([]rune(below)), arg(below))
		if f.Root != "" && f.Root != f.Cwd {
			where += fmt.Sprintf(" OR s.kind <> 'sessions' AND s.cwd = %s", arg(f.Root))
		}
		where += ")"
	}
	query := sqlColumns + texts + sqlJoined + where
	if texts != sqlRanked {
		return fmt.Sprintf("%s LIMIT %d", query, maxRanked), args
	}
	return fmt.Sprintf("%s ORDER BY round(r.rank, 1), d.time DESC, d.id DESC LIMIT %d", query, min(f.Limit, 2*MaxHits)), args
}
