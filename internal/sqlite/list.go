package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/store"
)

// infoRow is a session's row and its number.
type infoRow struct {
	sno  int64
	info store.Info
}

const infoColumns = `s.sno, s.id, p.id, s.fork_seq, s.base_hash, s.holder, s.epoch, s.head_seq, s.head_hash, s.mark, s.updated,
	s.bytes, l.owner, l.created, l.title, l.lifecycle, l.activity, l.cwd, l.model, l.turns, l.cost_nano, l.labels, l.extra,
	(SELECT count(*) FROM inbox i WHERE i.session_no = s.sno AND i.n > s.mark), l.sno`

const sqlGet = `SELECT ` + infoColumns + ` FROM session s LEFT JOIN listing l ON l.sno = s.sno
	LEFT JOIN session p ON p.sno = s.parent_no WHERE s.id = ?1`

// sqlScan finds a session without any index.
const sqlScan = "SELECT 1 FROM session NOT INDEXED WHERE id = ?1"

// getRow reads one session, with what is known of its holder. Errors: ErrNotFound.
func (s *Store) getRow(c *conn, id string) (infoRow, error) {
	var row infoRow
	found, err := c.one(sqlGet, []any{id}, func(v []driver.Value) error {
		var err error
		row, err = scanInfo(v)
		return err
	})
	if err != nil {
		return row, err
	}
	if !found {
		switch there, err := c.one(sqlScan, []any{id}, nil); {
		case err != nil:
			return row, err
		case there:
			return row, fmt.Errorf("%w: session %s is there, and the index of sessions does not have it; restore a copy", store.ErrDamaged, id)
		}
		return row, store.Missing(id)
	}
	if h := row.info.Holder; h != nil {
		*h = s.holders.find(h.ID)
	}
	return row, nil
}

func scanInfo(v []driver.Value) (infoRow, error) {
	row := infoRow{sno: number(v[0]), info: store.Info{
		ID: text(v[1]), Epoch: number(v[6]), Head: store.Head{Seq: number(v[7]), Hash: digest(v[8])}, Mark: number(v[9]),
		Updated: number(v[10]), Bytes: number(v[11]), Owner: text(v[12]), Created: number(v[13]), Pending: number(v[23]),
		Heads: store.Heads{
			Title: text(v[14]), Lifecycle: text(v[15]), Activity: text(v[16]), Cwd: text(v[17]), Model: text(v[18]),
			Turns: number(v[19]), Extra: bytesOf(v[22]),
		},
	}}
	if v[2] != nil {
		row.info.Parent = &store.Position{Session: text(v[2]), Seq: number(v[3]), Hash: digest(v[4])}
	}
	if v[5] != nil {
		row.info.Holder = &store.Holder{ID: text(v[5])}
	}
	if v[20] != nil {
		nano := number(v[20])
		row.info.Heads.CostNano = &nano
	}
	row.info.Damaged = row.readLabels(v)
	return row, nil
}

// readLabels reads the labels and says what is wrong with the listing's part of a row, or "".
func (r *infoRow) readLabels(v []driver.Value) string {
	labels, err := labelMap(text(v[21]))
	r.info.Heads.Labels = labels
	switch {
	case v[24] == nil:
		return "what is listed of it is gone"
	case err != nil:
		return "what is listed of it is damaged"
	}
	for _, column := range []int{12, 14, 15, 16, 17, 18} { // no writer of ours left another type there, or bytes that are no text
		if s, is := v[column].(string); !is || !utf8.ValidString(s) {
			return "what is listed of it is damaged"
		}
	}
	return ""
}

// List returns one page; see [store.Directory].
func (s *Store) List(ctx context.Context, q store.Query) (store.Page, error) {
	page, err := s.list(ctx, q)
	if err != nil {
		return store.Page{}, fmt.Errorf("list sessions: %w", err)
	}
	return page, nil
}

func (s *Store) list(ctx context.Context, q store.Query) (store.Page, error) {
	if q.Limit < 0 || q.Limit > 1000 {
		return store.Page{}, fmt.Errorf("limit %d: want at most 1000", q.Limit)
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	query, args, err := listQuery(q)
	if err != nil {
		return store.Page{}, err
	}
	var rows []infoRow
	err = s.read(ctx, func(c *conn) error {
		return c.query(query, args, func(v []driver.Value) error {
			row, err := scanInfo(v)
			rows = append(rows, row)
			return err
		})
	})
	if err != nil {
		return store.Page{}, err
	}
	var page store.Page
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		page.Next = cursor(rows[q.Limit-1])
	}
	known := map[string]store.Holder{}
	for _, row := range rows {
		if h := row.info.Holder; h != nil {
			if _, ok := known[h.ID]; !ok {
				known[h.ID] = s.holders.find(h.ID)
			}
			*h = known[h.ID]
		}
		page.Sessions = append(page.Sessions, row.info)
	}
	return page, nil
}

// listQuery builds the statement. What narrows most leads the join: SQLite is told by CROSS JOIN, since without
// statistics it would guess. If nothing narrows, the index on updated is walked until the page is full.
func listQuery(q store.Query) (string, []any, error) {
	b := &queryBuilder{}
	b.equal("l.cwd", q.Cwd)
	b.equal("l.title", q.Title)
	if q.Parent != "" {
		b.where("s.parent_no = (SELECT sno FROM session WHERE id = %s)", q.Parent)
	}
	for _, k := range slices.Sorted(maps.Keys(q.Labels)) {
		b.where("s.sno IN (SELECT sno FROM label WHERE key = %s AND value = %s)", k, q.Labels[k])
	}
	if q.IDPrefix != "" {
		b.where("s.id >= %s", q.IDPrefix)
		if end := prefixEnd(q.IDPrefix); end != "" {
			b.where("s.id < %s", end)
		}
	}
	if q.IDSuffix != "" {
		b.where("substr(s.id, -length(%[1]s)) = %[1]s", q.IDSuffix)
	}
	from := "session s CROSS JOIN listing l ON l.sno = s.sno"
	if q.Lifecycle == "" && q.Activity == "" {
		from = "session s LEFT JOIN listing l ON l.sno = s.sno" // one whose listing is gone is told
	}
	if q.Cwd != "" || q.Title != "" || rare(q) {
		from = "listing l CROSS JOIN session s ON s.sno = l.sno"
	}
	// A plus keeps SQLite from leading with an index that narrows less.
	lifecycle, activity := "+l.lifecycle", "+l.activity"
	if from[0] == 'l' && q.Cwd == "" && q.Title == "" {
		lifecycle, activity = "l.lifecycle", "l.activity"
		if q.Activity != "" && q.Activity != "idle" {
			lifecycle = "+" + lifecycle
		}
	}
	if q.OrHeld {
		lifecycle, activity = "s.holder IS NOT NULL OR "+lifecycle, "s.holder IS NOT NULL OR "+activity
	}
	b.equal(lifecycle, q.Lifecycle)
	b.equal(activity, q.Activity)
	if q.After != "" {
		updated, sno, err := parseCursor(q.After)
		if err != nil {
			return "", nil, err
		}
		b.where("(s.updated, s.sno) < (%s, %s)", updated, sno)
	}
	text := "SELECT " + infoColumns + " FROM " + from + " LEFT JOIN session p ON p.sno = s.parent_no"
	if len(b.conditions) > 0 {
		text += " WHERE " + strings.Join(b.conditions, " AND ")
	}
	return text + " ORDER BY s.updated DESC, s.sno DESC LIMIT " + b.arg(q.Limit+1), b.args, nil
}

// rare reports whether lifecycle or activity can be expected to narrow: few sessions of many are running or paused.
func rare(q store.Query) bool {
	return !q.OrHeld && (q.Activity != "" && q.Activity != "idle" || q.Lifecycle == "paused" || q.Lifecycle == "deleted")
}

type queryBuilder struct {
	conditions []string
	args       []any
}

func (b *queryBuilder) arg(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("?%d", len(b.args))
}

func (b *queryBuilder) where(format string, values ...any) {
	names := make([]any, len(values))
	for i, v := range values {
		names[i] = b.arg(v)
	}
	b.conditions = append(b.conditions, fmt.Sprintf(format, names...))
}

func (b *queryBuilder) equal(column, value string) {
	if value != "" {
		b.where("("+column+" = %s)", value)
	}
}

// prefixEnd is the first text after all that begin with p, empty if there is none.
func prefixEnd(p string) string {
	b := []byte(p)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0x7f { // Ids are ASCII; a larger byte would not stay valid text.
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}

func cursor(row infoRow) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", row.info.Updated, row.sno))
}

var errCursor = errors.New("not a cursor of this store")

func parseCursor(s string) (updated, sno int64, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return 0, 0, errCursor
	}
	if n, err := fmt.Sscanf(string(b), "%d.%d", &updated, &sno); n != 2 || err != nil {
		return 0, 0, errCursor
	}
	return updated, sno, nil
}
