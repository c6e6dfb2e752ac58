package knowledge

import (
	"errors"
	"fmt"
	"testing"
)

// Goal: up to where a session was read is remembered with what it proposed, or not at all, of the newest sessions.
func TestSeenIsKeptWithTheProposals(t *testing.T) {
	cfg := Config{Home: t.TempDir(), Dir: t.TempDir()}
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	seen := func(id string, want int64) {
		t.Helper()
		if n, err := m.Inbox().Seen(id); n != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", id, n, err, want)
		}
	}
	seen("s0", 0)
	broken := cfg
	broken.Fault = func(string) error { return errors.New("killed") }
	k, err := Open(broken)
	if err != nil {
		t.Fatal(err)
	}
	list := []Proposal{{Text: "the linker must be built first", Source: SourceModel}}
	if _, err := k.Inbox().ProposeAll(t.Context(), list, Seen{"s0", 7}); err == nil {
		t.Fatal("the fault did not strike")
	}
	seen("s0", 0)
	for i := range maxSeen + 2 {
		if _, err := m.Inbox().ProposeAll(t.Context(), list, Seen{fmt.Sprint("s", i), int64(i + 7)}); err != nil {
			t.Fatal(err)
		}
	}
	seen("s1", 0)
	seen("s2", 9)
	if _, err := m.Inbox().ProposeAll(t.Context(), nil, Seen{"s2", 30}); err != nil {
		t.Fatal(err)
	}
	seen("s2", 30)
	if all, err := m.Inbox().List(); err != nil || len(all.List) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
