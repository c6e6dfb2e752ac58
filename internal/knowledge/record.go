package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// record is a closed change in the directory of changes.
type record struct {
	n    int64
	name string
	mark string
}

// history lists the closed changes, the oldest first.
func (f *files) history() ([]record, error) {
	if f.changes == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(f.changes.FS(), ".")
	if err != nil {
		return nil, err
	}
	var out []record
	for _, e := range entries { // by name, so by number
		num, rest, _ := strings.Cut(e.Name(), ".")
		n, err := strconv.ParseInt(num, 10, 64)
		if mark, ok := strings.CutSuffix(rest, ".json"); err == nil && ok {
			out = append(out, record{n: n, name: e.Name(), mark: mark})
		}
	}
	return out, nil
}

func (f *files) load(r record) (*Change, error) {
	b, err := f.changes.ReadFile(r.name)
	var c Change
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(b), &c)
	}
	if err != nil {
		return nil, fmt.Errorf("change %d: %w", r.n, err)
	}
	return &c, nil
}

// made is the change that was made for a key, or nil.
func (f *files) made(key string) (*Change, error) {
	list, err := f.history()
	if err != nil || key == "" {
		return nil, err
	}
	for _, r := range list {
		if r.mark != keyMark(key) {
			continue
		}
		if c, err := f.load(r); err != nil || c.By.Key == key {
			return c, err
		}
	}
	return nil, nil
}

// Bounds of what is kept for undo: changes, and bytes of all of them but the newest.
const (
	maxChanges     = 100
	maxChangeBytes = 64 << 20
)

// prune forgets old changes. What cannot be removed stays for the next time.
func (f *files) prune() {
	list, err := f.history()
	if err != nil {
		return
	}
	var total int64
	for i := len(list) - 1; i >= 0; i-- {
		if info, err := f.changes.Lstat(list[i].name); err == nil {
			total += info.Size()
		}
		if age := len(list) - i; age > maxChanges || age > 1 && total > maxChangeBytes {
			_ = f.changes.Remove(list[i].name)
		}
	}
}
