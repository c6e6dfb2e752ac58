package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// journalTitle is the first line of a journal.
const journalTitle = "# Project Journal"

// Bounds of the journal.
const (
	maxItem      = 4 << 10  // bytes of one item
	maxJournal   = 64 << 20 // bytes of the file that are read; of a longer one, the newest
	maxRelocks   = 100      // times that the file was replaced while its lock was waited for
	journalBlock = 16 << 10 // bytes at the end that are looked at for the newest heading
)

// Journal is a project's history, append-only: one heading for each day, in the order of time. Writers wait for each
// other by a lock of the file, and write what they add in one piece.
type Journal struct{ s *Scope }

// Journal is that of the memory's project.
func (m *Memory) Journal() Journal { return Journal{m.Project} }

// File is where it lies.
func (j Journal) File() string { return filepath.Join(j.s.Dir(), journalName) }

// Day is one day's items, in the order in which they were written.
type Day struct {
	Date  string   `json:"date"` // 2026-04-08; empty: before the first heading
	Items []string `json:"items"`
}

// Add appends an item under its day's heading and returns when it is durable. repaired tells that the last line was torn
// by a crash: it was closed as it stands.
func (j Journal) Add(ctx context.Context, text string, day time.Time) (repaired bool, err error) {
	repaired, err = j.add(ctx, text, day)
	return repaired, j.s.placed(err)
}

func (j Journal) add(ctx context.Context, text string, day time.Time) (repaired bool, err error) {
	item, err := journalItem(text)
	if err != nil {
		return false, err
	}
	dirPerm, perm := j.s.modes()
	base, err := openAt(j.s.anchor, j.s.path, true, dirPerm)
	if err != nil {
		return false, err
	}
	defer base.Close()
	file, err := lockJournal(ctx, base, perm)
	if err != nil {
		return false, fmt.Errorf("journal %s: %w", j.File(), err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	from := max(0, info.Size()-journalBlock)
	end := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(end, from); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	add, repaired := addition(string(end), info.Size(), item, day.Format(time.DateOnly))
	if err := j.s.step("journal"); err != nil {
		return false, err
	}
	if _, err := file.WriteString(add); err != nil {
		return repaired, fmt.Errorf("journal %s: %w", j.File(), err)
	}
	if err := file.Sync(); err != nil {
		return repaired, fmt.Errorf("journal %s: %w", j.File(), err)
	}
	if info.Size() == 0 {
		err = syncDir(base, ".")
	}
	return repaired, err
}

// addition is what is appended to a journal of size bytes that ends with end.
func addition(end string, size int64, item, date string) (add string, repaired bool) {
	switch {
	case size == 0:
		add = journalTitle + "\n"
	case !strings.HasSuffix(end, "\n"):
		add, repaired = "\n", true
	}
	last := ""
	for _, l := range slices.Backward(lines(end)) {
		if d, ok := heading(l); ok {
			last = d
			break
		}
	}
	if last != date {
		add += "\n## " + date + "\n"
	}
	return add + item, repaired
}

// journalItem is a text as one item: what follows its first line is indented, so that nothing of it is a heading.
func journalItem(text string) (string, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "- ")
	switch {
	case text == "":
		return "", refuse("there is nothing to note")
	case len(text) > maxItem:
		return "", refuse("an item has at most %d bytes, this one has %d: the journal says what happened, files have the rest", maxItem, len(text))
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", refuse("an item must be text")
	}
	all := lines(strings.ReplaceAll(text, "\r", ""))
	for i, l := range all {
		if l = strings.TrimRight(l, " \t"); l != "" {
			all[i] = "  " + l
		} else {
			all[i] = ""
		}
	}
	return "- " + strings.TrimSpace(strings.Join(slices.DeleteFunc(all, func(l string) bool { return l == "" }), "\n")) + "\n", nil
}

// heading reads a day's heading.
func heading(l string) (date string, ok bool) {
	date, ok = strings.CutPrefix(strings.TrimRight(l, " \t\r"), "## ")
	if _, err := time.Parse(time.DateOnly, date); !ok || err != nil {
		return "", false
	}
	return date, true
}

// lockJournal opens the journal and takes its lock. If somebody replaced the file meanwhile, the new one is taken.
func lockJournal(ctx context.Context, base *os.Root, perm fs.FileMode) (*os.File, error) {
	for range maxRelocks {
		file, err := openFile(base, journalName, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm)
		if err != nil {
			return nil, err
		}
		err = lockFile(ctx, file)
		if err == nil {
			mine, mineErr := file.Stat()
			now, nowErr := base.Lstat(journalName)
			if mineErr == nil && nowErr == nil && os.SameFile(mine, now) {
				return file, nil
			}
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, ErrBusy
}

// Days gives the newest n days, the newest first; n <= 0: all. A date that stands twice in the file is one day.
func (j Journal) Days(n int) ([]Day, error) {
	text, err := j.read(maxJournal)
	if err != nil {
		return nil, err
	}
	days := parseJournal(text)
	slices.SortStableFunc(days, func(a, b Day) int { return strings.Compare(b.Date, a.Date) })
	if n > 0 {
		days = days[:min(n, len(days))]
	}
	return days, nil
}

// read gives the end of the journal, at most so many bytes, from the beginning of a line.
func (j Journal) read(most int64) (string, error) {
	base, err := openAt(j.s.anchor, j.s.path, false, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer base.Close()
	file, err := openFile(base, journalName, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("journal %s: %w", j.File(), err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-most)
	b, err := io.ReadAll(io.NewSectionReader(file, from, most))
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	if from > 0 {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text, err
}

// parseJournal reads the days of a journal in the order in which they first stand in it. What is no heading and no item
// belongs to the item before it.
func parseJournal(text string) []Day {
	var days []Day
	at := -1
	for _, l := range lines(text) {
		l = strings.TrimRight(l, " \t\r")
		if date, ok := heading(l); ok {
			if at = slices.IndexFunc(days, func(d Day) bool { return d.Date == date }); at < 0 {
				days, at = append(days, Day{Date: date}), len(days)
			}
			continue
		}
		if l == "" || l == journalTitle {
			continue
		}
		if at < 0 {
			days, at = append(days, Day{}), len(days)
		}
		d := &days[at]
		if item, ok := strings.CutPrefix(l, "- "); ok || len(d.Items) == 0 {
			d.Items = append(d.Items, item)
		} else {
			d.Items[len(d.Items)-1] += "\n" + strings.TrimSpace(l)
		}
	}
	return days
}

// String shows a day as it stands in the file.
func (d Day) String() string {
	var b strings.Builder
	if d.Date != "" {
		b.WriteString("## " + d.Date + "\n")
	}
	for _, item := range d.Items {
		b.WriteString("- " + strings.ReplaceAll(item, "\n", "\n  ") + "\n")
	}
	return b.String()
}
