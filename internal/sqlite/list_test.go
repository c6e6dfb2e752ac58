package sqlite

import (
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// TestListPlans: a page is found by an index, whatever narrows the listing, so that its cost does not grow with the
// number of sessions; a listing that nothing narrows is not sorted.
func TestListPlans(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	newLog(t, s, "a").must(1)
	for _, tt := range []struct {
		name string
		q    store.Query
		by   string
	}{
		{"everything", store.Query{}, "SCAN s USING INDEX session_updated"},
		{"next page", store.Query{After: cursor(infoRow{sno: 1})}, "SEARCH s USING INDEX session_updated"},
		{"open", store.Query{Lifecycle: "open"}, "SCAN s USING INDEX session_updated"},
		{"running", store.Query{Activity: "running"}, "SEARCH l USING INDEX listing_activity"},
		{"open and running", store.Query{Activity: "running", Lifecycle: "open"}, "SEARCH l USING INDEX listing_activity"},
		{"paused", store.Query{Activity: "idle", Lifecycle: "paused"}, "SEARCH l USING INDEX listing_"},
		{"cwd", store.Query{Cwd: "/x", Lifecycle: "open"}, "SEARCH l USING INDEX listing_cwd"},
		{"title", store.Query{Title: "x"}, "SEARCH l USING INDEX listing_title"},
		{"prefix", store.Query{IDPrefix: "ab"}, "SEARCH s USING INDEX sqlite_autoindex_session_1"},
		{"parent", store.Query{Parent: "a"}, "SEARCH s USING INDEX session_parent"},
		{"label", store.Query{Labels: map[string]string{"k": "v"}}, "SEARCH s USING INTEGER PRIMARY KEY"},
	} {
		tt.q.Limit = 100
		query, args, err := listQuery(tt.q)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		if err := s.read(t.Context(), func(c *conn) error {
			return c.query("EXPLAIN QUERY PLAN "+query, args, func(v []driver.Value) error {
				plan = append(plan, text(v[3]))
				return nil
			})
		}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, tt.by) {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.by, text)
		}
		if tt.by == "SCAN s USING INDEX session_updated" && strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s is sorted:\n%s", tt.name, text)
		}
	}
}
