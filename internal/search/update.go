package search

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// row is what the index knows of a source.
type row struct {
	no   int64
	mark Mark
	Source
}

type key struct{ kind, name string }

const sqlRows = "SELECT no, kind, name, title, cwd, updated, seq, state, hash FROM source WHERE kind <> ''"

// rows are the sources that the index knows.
func (x *index) rows() (map[key]row, error) {
	out := map[key]row{}
	err := x.db.query(context.Background(), sqlRows, nil, func(v []driver.Value) error {
		r := row{no: integer(v[0]), mark: Mark{integer(v[6]), integer(v[7])}, Source: Source{
			Kind: text(v[1]), Name: text(v[2]), Title: text(v[3]), Cwd: text(v[4]), Updated: integer(v[5]), Seq: integer(v[6]), Hash: text(v[8]),
		}}
		out[key{r.Kind, r.Name}] = r
		return nil
	})
	return out, err
}

// update reads what is new, and takes out what is gone.
func (x *index) update(ctx context.Context, sources []Source) error {
	known, err := x.rows()
	if err != nil {
		return err
	}
	var todo []Source
	x.done, x.total = 0, 0
	seen := map[key]bool{}
	for _, s := range sources {
		k := key{s.Kind, s.Name}
		seen[k] = true
		if r, ok := known[k]; !ok || r.Source != s {
			todo = append(todo, s)
			x.total += 1 + max(0, s.Seq-r.Seq)
		}
	}
	if x.place != nil {
		slices.Reverse(todo) // the newest last, so that the newest of the index are the newest; in memory what there is room for
	}
	err = x.change(ctx, todo, known)
	for k, r := range known {
		if err == nil && !seen[k] {
			err = x.drop(r, r.Kind == Sessions)
		}
	}
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(err, x.commit()) // what was read of a source counts up to its mark
	}
	if err != nil {
		_ = x.db.script("ROLLBACK") // there may be none
		x.open = false
		return err
	}
	return x.sweep(ctx)
}

func (x *index) change(ctx context.Context, todo []Source, known map[key]row) error {
	for i, s := range todo {
		if x.place == nil && x.all > x.cfg.Room {
			x.left = len(todo) - i
			return nil
		}
		r, ok := known[key{s.Kind, s.Name}]
		if ok {
			same, err := x.continues(ctx, r, s)
			if err == nil && !same {
				err, ok = x.drop(r, s.Kind == Sessions), false
			}
			if err != nil {
				return err
			}
		}
		if !ok {
			r = row{Source: Source{Kind: s.Kind, Name: s.Name}}
		}
		if err := x.read(ctx, r, s); err != nil {
			return err
		}
	}
	return nil
}

// continues reports whether a source still has the texts that were read of it, and at most more after them.
func (x *index) continues(ctx context.Context, r row, s Source) (bool, error) {
	switch {
	case s.Kind != Sessions:
		return s.Hash == r.Hash, nil
	case s.Seq < r.Seq:
		return false, nil
	case s.Seq == r.Seq || r.Seq == 0:
		return r.Seq == 0 || s.Hash == r.Hash, nil
	}
	hash, err := x.lib.HashAt(ctx, s, r.Seq)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && hash == r.Hash, nil
}

// read puts a source's new texts into the index.
func (x *index) read(ctx context.Context, r row, s Source) error {
	if err := x.begin(); err != nil {
		return err
	}
	was := r.Title
	r.Title, r.Cwd, r.Updated = s.Title, s.Cwd, s.Updated
	if err := x.keep(&r); err != nil {
		return err
	}
	if s.Kind == Sessions && (was != s.Title) {
		if err := x.retitle(r, s); err != nil {
			return err
		}
	}
	for t, err := range x.lib.Texts(ctx, s, r.mark) {
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), x.keep(&r))
		}
		if errors.Is(err, ErrGone) {
			return x.drop(r, s.Kind == Sessions)
		}
		if err != nil {
			x.unread = append(x.unread, err)
			return x.keep(&r) // the next search tries to go on here
		}
		if err := x.put(r.no, t.Text); err != nil {
			return err
		}
		r.mark, r.Seq, r.Hash = Mark{t.Seq, t.State}, t.Seq, t.Hash
		if x.done++; x.done%256 == 0 {
			x.progress(false)
		}
		if x.texts < x.cfg.Batch && x.bytes < batchBytes || s.Kind != Sessions {
			continue
		}
		if err := errors.Join(x.keep(&r), x.commit(), x.begin()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, x.keep(&r))
	}
	x.done++
	if s.Kind != Sessions {
		r.Hash, r.Seq = s.Hash, s.Seq // all of a file is read at once
	}
	return x.keep(&r)
}

// begin opens a transaction if none is.
func (x *index) begin() error {
	if x.open {
		return nil
	}
	err := x.db.script("BEGIN IMMEDIATE")
	x.open = err == nil
	return err
}

// commit ends the transaction, if there is one.
func (x *index) commit() error {
	if !x.open {
		return nil
	}
	x.step("batch")
	if err := x.db.script("COMMIT"); err != nil {
		return err
	}
	x.open, x.texts, x.bytes = false, 0, 0
	x.step("committed")
	x.progress(false)
	return nil
}

// keep writes what is known of a source, and gives it a number if it has none.
func (x *index) keep(r *row) error {
	if r.no == 0 {
		no, err := x.db.number("SELECT coalesce(max(no), 0) + 1 FROM source")
		if err != nil {
			return err
		}
		r.no = no
	}
	return x.db.exec(`INSERT INTO source (no, kind, name, title, cwd, updated, seq, state, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (no) DO UPDATE SET title = ?4, cwd = ?5, updated = ?6, seq = ?7, state = ?8, hash = ?9`,
		r.no, r.Kind, r.Name, r.Title, r.Cwd, r.Updated, r.Seq, r.mark.State, r.Hash)
}

// put adds one text.
func (x *index) put(no int64, t Text) error {
	words := folded(t.Text)
	if words == "" {
		return nil
	}
	if err := x.db.exec("INSERT INTO doc (no, seq, turn, time, place, title) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		no, t.Seq, t.Turn, t.Time, t.Place, t.Title); err != nil {
		return err
	}
	if err := x.db.exec("INSERT INTO word (rowid, text) VALUES (last_insert_rowid(), ?1)", words); err != nil {
		return err
	}
	x.texts++
	x.bytes += int64(len(words))
	x.all += int64(len(words))
	x.step("text")
	return nil
}

// retitle puts a session's name into the index, in the place of the one before.
func (x *index) retitle(r row, s Source) error {
	if err := x.db.exec("DELETE FROM word WHERE rowid IN (SELECT id FROM doc WHERE no = ?1 AND seq = 0)", r.no); err != nil {
		return err
	}
	if err := x.db.exec("DELETE FROM doc WHERE no = ?1 AND seq = 0", r.no); err != nil {
		return err
	}
	return x.put(r.no, Text{Place: "title", Time: s.Updated, Text: s.Title})
}

// drop takes a source out. Its texts go in the next sweep; nothing finds them from now on. With purge none of its words
// is left in the file then.
func (x *index) drop(r row, purge bool) error {
	if r.no == 0 {
		return nil
	}
	if err := x.begin(); err != nil {
		return err
	}
	if purge {
		if err := x.db.exec("INSERT OR IGNORE INTO pending (what) VALUES ('purge')"); err != nil {
			return err
		}
	}
	return x.db.exec("UPDATE source SET kind = '', name = ?2, title = '', cwd = '' WHERE no = ?1", r.no, strconv.FormatInt(r.no, 10))
}

// sweepTexts is how many texts one transaction of a sweep takes out.
const sweepTexts = 1000

// sweep removes the texts of sources that were taken out, and then whatever the file still holds of their words.
func (x *index) sweep(ctx context.Context) error {
	for {
		no, err := x.db.number("SELECT no FROM source WHERE kind = '' LIMIT 1")
		if err != nil || no == 0 {
			return errors.Join(err, x.purge())
		}
		if err := ctx.Err(); err != nil {
			return err // nothing finds them, and the next one goes on
		}
		if err := x.begin(); err != nil {
			return err
		}
		left, err := x.db.number("SELECT count(*) FROM doc WHERE no = ?1", no)
		for _, q := range []string{
			fmt.Sprintf("DELETE FROM word WHERE rowid IN (SELECT id FROM doc WHERE no = ?1 ORDER BY id LIMIT %d)", sweepTexts),
			fmt.Sprintf("DELETE FROM doc WHERE id IN (SELECT id FROM doc WHERE no = ?1 ORDER BY id LIMIT %d)", sweepTexts),
		} {
			if err == nil {
				err = x.db.exec(q, no)
			}
		}
		if err == nil && left <= sweepTexts {
			err = x.db.exec("DELETE FROM source WHERE no = ?1", no)
		}
		if err == nil {
			err = x.commit()
		}
		if err != nil {
			_ = x.db.script("ROLLBACK")
			x.open = false
			return err
		}
	}
}

// purge rewrites the index if texts were taken out of which no word may be left: FTS5 only notes what is deleted, and
// older versions of rows stay in pages.
func (x *index) purge() error {
	due, err := x.db.number("SELECT count(*) FROM pending")
	if err != nil || due == 0 || x.place == nil {
		return err
	}
	x.step("purge")
	if err := x.db.script("INSERT INTO word (word) VALUES ('optimize')"); err != nil {
		return err
	}
	x.step("merged")
	if err := x.db.script("VACUUM"); err != nil {
		return err
	}
	x.step("vacuumed")
	return x.db.exec("DELETE FROM pending")
}
