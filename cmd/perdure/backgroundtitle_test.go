package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session that runs without a terminal gets a title from its model, once, when its first turn has ended, by start and
// by -p
// --detach; titles = false in the configuration has none asked for, and a run that somebody waits for asks for none.
func TestABackgroundSessionGetsATitle(t *testing.T) {
	d := newDesk(t)
	model := d.model(`{"turns":[{"match":"go","steps":[{"text":"Gone."},{"text":"Again."}]}],"title":{"text":"A Walk in the Park"}}`)
	asked := func(id string) int { return strings.Count(d.ok("log", id, "--json"), "title.requested") }
	for _, args := range [][]string{{"start", "--model", model, "go"}, {"-p", "--detach", "--model", model, "go"}} {
		id := strings.TrimSpace(d.ok(args...))
		d.until("its title is there", func() bool { return strings.Contains(d.ok("show", id), "A Walk in the Park") })
		d.until("it is given back", func() bool { return d.session(id).Holder == nil })
		if n := asked(id); n != 1 {
			t.Errorf("%q: asked for %d times", args, n)
		}
		d.ok("-p", "-r", id, "go")
		if n := asked(id); n != 1 {
			t.Errorf("%q: asked for %d times", args, n)
		}
	}
	d.ok("-p", "--session-id", "waited", "--model", model, "go")
	config := filepath.Join(filepath.Dir(d.dir), ".config", "perdure")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte("[ui]\ntitles = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	off := strings.TrimSpace(d.ok("start", "--model", model, "go"))
	d.until("it has ended", func() bool {
		return strings.Contains(d.ok("show", off, "--messages"), "Gone.") && d.session(off).Holder == nil
	})
	for _, id := range []string{"waited", off} {
		if n := asked(id); n != 0 {
			t.Errorf("%s: asked for %d times", id, n)
		}
	}
}
