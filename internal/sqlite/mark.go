package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The mark is a small file outside of the database that says what was acknowledged last. SQLite takes a write-ahead log
// that is damaged, cut or gone for one that ends earlier, as after a crash, and forgets what it held without a word: the
// mark does not.
//
// It is written after the sync of what it names, and not synced itself. So it never names more than the database has,
// whatever a power loss does to either, and what it costs is one short write. It may name less: what was acknowledged
// after it can be lost unnoticed then, and so can the last change of one process where two wrote at the same moment.
const (
	markName = "perdure.mark"
	lostName = "perdure.lost" // losses that were noticed, one a line
	maxMark  = 8 << 10        // bytes
	maxLost  = 64 << 10       // bytes of perdure.lost
)

// acknowledged is one change: an event, or an item of an inbox.
type acknowledged struct {
	Session     string
	SNo, Seq, N int64
	PID         int
	Time        int64 // ms UTC
}

// encodeMark gives a line: a checksum, five numbers, and the session's id as JSON has it. What an older, longer line
// leaves behind it is not read.
func encodeMark(to []byte, a acknowledged) []byte {
	id, err := json.Marshal(a.Session)
	if err != nil {
		return nil
	}
	to = append(to[:0], "00000000"...)
	for _, n := range []int64{a.SNo, a.Seq, a.N, int64(a.PID), a.Time} {
		to = strconv.AppendInt(append(to, ' '), n, 10)
	}
	to = append(append(to, ' '), id...)
	sum := crc32.ChecksumIEEE(to[8:])
	const digits = "0123456789abcdef"
	for i := range 8 {
		to[i] = digits[sum>>(28-4*i)&15]
	}
	return append(to, '\n')
}

// decodeMark reads a mark. One that was torn by a power loss says nothing.
func decodeMark(b []byte) (a acknowledged, ok bool) {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	if len(line) < 8 || string(line[:8]) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(line[8:])) {
		return a, false
	}
	fields := strings.SplitN(string(line), " ", 7)
	if len(fields) != 7 || json.Unmarshal([]byte(fields[6]), &a.Session) != nil {
		return a, false
	}
	_, err := fmt.Sscan(strings.Join(fields[1:6], " "), &a.SNo, &a.Seq, &a.N, &a.PID, &a.Time)
	return a, err == nil && a.Session != "" && a.SNo > 0
}

// acknowledge writes what a group changed last. That it fails is no reason to fail what is durable.
func (w *writer) acknowledge() {
	a := w.acked
	if a.Session == "" || w.mark == nil {
		return
	}
	w.acked = acknowledged{}
	a.PID, a.Time = w.store.cfg.identity.pid, w.store.cfg.Now().UnixMilli()
	w.marked = encodeMark(w.marked, a)
	_, _ = w.mark.WriteAt(w.marked, 0)
}

// Lost says what was acknowledged in this home and is not there; see [store.Witness].
func (s *Store) Lost(ctx context.Context) ([]string, error) {
	now, err := s.lostNow(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for losses in %s: %w", s.home, err)
	}
	b, err := readBounded(filepath.Join(s.home, lostName), maxLost)
	if err != nil {
		return nil, fmt.Errorf("look for losses in %s: %w", s.home, err)
	}
	lost := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
	if now != "" && !slices.Contains(lost, now) {
		lost = append(lost, now)
	}
	return lost, nil
}

// lostNow compares the mark with the database. The mark is read first: what it names was in the database by then.
func (s *Store) lostNow(ctx context.Context) (string, error) {
	b, err := readBounded(filepath.Join(s.home, markName), maxMark)
	if err != nil {
		return "", err
	}
	a, ok := decodeMark(b)
	if !ok {
		return "", nil
	}
	missing := ""
	err = s.read(ctx, func(c *conn) error {
		missing, err = a.missing(c)
		return err
	})
	if err != nil || missing == "" {
		return "", err
	}
	return fmt.Sprintf("%s, acknowledged by pid %d at %s, and maybe more before it: %s-wal was removed, cut or damaged, or files of different times were put together",
		missing, a.PID, time.UnixMilli(a.Time).UTC().Format(time.RFC3339), databaseName), nil
}

// missing says what of an acknowledged change is gone. A session that was deleted has left its number behind.
func (a acknowledged) missing(c *conn) (string, error) {
	id, head, n := "", int64(0), int64(0)
	found, err := c.one(`SELECT id, head_seq, max(mark, (SELECT ifnull(max(n), 0) FROM inbox WHERE session_no = ?1)) FROM session WHERE sno = ?1`,
		[]any{a.SNo}, func(v []driver.Value) error {
			if v[0] != nil {
				id, head, n = text(v[0]), number(v[1]), number(v[2])
			}
			return nil
		})
	if err != nil {
		return "", err
	}
	newest := int64(0)
	if _, err := c.one("SELECT seq FROM sqlite_sequence WHERE name = 'session'", nil, func(v []driver.Value) error {
		newest = number(v[0])
		return nil
	}); err != nil {
		return "", err
	}
	found = found && id != ""
	switch {
	case found && id != a.Session, !found && a.SNo > newest:
		return fmt.Sprintf("session %s is gone", a.Session), nil
	case found && head < a.Seq:
		return fmt.Sprintf("session %s has %d events and had %d", id, head, a.Seq), nil
	case found && n < a.N:
		return fmt.Sprintf("session %s has lost message %d of its inbox", id, a.N), nil
	}
	return "", nil
}

// recordLoss keeps a loss that was noticed, before the mark moves on.
func (s *Store) recordLoss(lost string) error {
	path := filepath.Join(s.home, lostName)
	b, err := readBounded(path, maxLost)
	if err != nil || len(b)+len(lost) >= maxLost || strings.Contains(string(b), lost+"\n") {
		return err
	}
	f, err := openOwn(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.WriteString(lost + "\n")
	return errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
}

// readBounded reads the beginning of a file; one that is not there is empty.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // It was only read.
	return io.ReadAll(io.LimitReader(f, limit))
}
