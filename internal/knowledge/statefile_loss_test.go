package knowledge

import (
	"os"
	"path/filepath"
	"testing"
)

// Goal: what a power loss leaves of a state file that was just replaced is not taken for a person's change. The file itself
// is not synced, only the copy beside it: any of these may be there at the next start.
func TestStateFileAfterPowerLoss(t *testing.T) {
	const before, after = `{"a": 1}`, `{"a": 2}`
	for name, left := range map[string]struct{ now, next, last string }{
		"nothing arrived":              {before, "", before},
		"only the copy":                {before, after, before},
		"all but the last rename":      {after, after, before},
		"a file without its words":     {"", after, before},
		"a file of zeroes":             {"\x00\x00\x00\x00", after, before},
		"without its words, all names": {"", "", after},
	} {
		m, err := Open(Config{Home: t.TempDir(), Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		dir := m.Project.Dir()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"state.json": left.now, nextName("state.json"): left.next, lastName("state.json"): left.last} {
			if text == "" && file != "state.json" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		desk, err := m.Project.Desk(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now, last, err := desk.Read("state.json")
		if err != nil || now != nil && string(now) != string(last) {
			t.Errorf("%s: %q, of which Perdure wrote %q, %v", name, now, last, err)
		}
		if err := desk.Put("state.json", now, []byte(`{"a": 3}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if now, last, err = desk.Read("state.json"); err != nil || string(now) != `{"a": 3}` || string(last) != string(now) {
			t.Errorf("%s: afterwards %q and %q, %v", name, now, last, err)
		}
		desk.Close()
	}
}
