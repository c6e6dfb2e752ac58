package bench

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/sqlite3"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// The targets of a search over 200,000 messages in 400 sessions.
const (
	searchSessions = 400
	searchMessages = 500 // of each
	maxSearch      = 50 * time.Millisecond
	maxSearchScan  = 0.5 // of the time that a scan of the same texts for one word takes
)

// chatter makes messages of words that are as unequally common as those of a language.
type chatter struct{ zipf *rand.Zipf }

func newChatter() *chatter {
	return &chatter{rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 4, 60_000)}
}

func (c *chatter) message(words int) string {
	var b strings.Builder
	for range words {
		n := c.zipf.Uint64()
		fmt.Fprintf(&b, "%s%d ", string(rune('a'+n%26)), n)
	}
	return b.String()
}

// TestSearchFigures: a search over 200,000 messages, the index being up to date, whatever the words; and what it costs to
// index them.
func TestSearchFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	h := openHome(t)
	c := newChatter()
	for i := range searchSessions {
		talk(t, h, fmt.Sprintf("s%03d", i), c.message, searchMessages)
	}
	talk(t, h, "rare", func(int) string { return "one xylophonist" }, 1)
	began := time.Now()
	if _, err := h.Search(t.Context(), homes.SearchOptions{Rebuild: true}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("indexed %d messages in %v: %.0f a second", searchSessions*searchMessages, took.Round(time.Millisecond), searchSessions*searchMessages/took.Seconds())
	if info, err := os.Stat(filepath.Join(h.Dir(), "search", "index.db")); err == nil {
		db, _ := os.Stat(filepath.Join(h.Dir(), "perdure.db"))
		t.Logf("the index has %d MiB, the database %d MiB", info.Size()>>20, db.Size()>>20)
	}
	scan := scanFor(t, h.Dir(), "%xylophonist%")
	exe := buildPerdure(t)
	for _, q := range []string{"xylophonist", "e30 t149", "a0", "a0 b1 c2", "k10", `"a0 b1"`, "r95"} {
		hits := 0
		search := medianOf(t, 15, func() {
			found, err := h.Search(t.Context(), homes.SearchOptions{Query: q})
			if err != nil {
				t.Fatal(err)
			}
			hits = len(found.Hits)
		})
		process := medianOf(t, 5, func() {
			cmd := exec.CommandContext(t.Context(), exe, "search", q)
			cmd.Env = append(os.Environ(), "PERDURE_HOME="+h.Dir())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		})
		t.Logf("%-10s %3d hits: %v; as a process %v; a scan of the same %v, ratio %.3f", q, hits, search.Round(10*time.Microsecond), process.Round(100*time.Microsecond), scan.Round(time.Millisecond), float64(search)/float64(scan))
		if search > maxSearch || float64(search)/float64(scan) > maxSearchScan {
			t.Errorf("%s: %v", q, search)
		}
	}
}

// TestSearchOfManySessions: what a search costs besides, when there are many sessions of which nothing is new.
func TestSearchOfManySessions(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	h := openHome(t)
	c, made, few := newChatter(), 0, time.Duration(0)
	for _, n := range []int{500, 5000} {
		for ; made < n; made++ {
			talk(t, h, fmt.Sprintf("s%04d", made), c.message, 2)
		}
		took := medianOf(t, 15, func() {
			if _, err := h.Search(t.Context(), homes.SearchOptions{Query: "nothinglikethis"}); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%d sessions: %v", n, took.Round(10*time.Microsecond))
		if few == 0 {
			few = took
		}
		if took > 20*few {
			t.Errorf("%d sessions: %v, 500 of them: %v", n, took, few)
		}
	}
}

// talk makes a session of n messages.
func talk(t *testing.T, h *homes.Home, id string, message func(words int) string, n int) {
	t.Helper()
	ctx := t.Context()
	if _, err := h.Create(ctx, engine.Spec{ID: id, Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: "/"}); err != nil {
		t.Fatal(err)
	}
	s, err := h.Record(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var batch []session.Body
	for range n {
		batch = append(batch, &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(message(60))}})
	}
	if _, err := s.Append(ctx, store.Actor{Type: store.ActorUser}, batch...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// scanFor times what finding a text takes without an index: SQLite reads all bodies of events.
func scanFor(t *testing.T, home, like string) time.Duration {
	t.Helper()
	conn, err := sqlite3.Open("file:" + filepath.Join(home, "perdure.db") + "?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	stmt, err := conn.Prepare("SELECT count(*) FROM event WHERE CAST(body AS TEXT) LIKE ?1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stmt.Close() }()
	return medianOf(t, 3, func() {
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), []driver.NamedValue{{Ordinal: 1, Value: like}})
		if err != nil {
			t.Fatal(err)
		}
		v := make([]driver.Value, 1)
		for err == nil {
			err = rows.Next(v)
		}
		if !errors.Is(err, io.EOF) || rows.Close() != nil {
			t.Fatal(err)
		}
	})
}
