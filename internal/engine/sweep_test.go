package engine_test

import (
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/engine"
)

// hoarder are shims that keep what they are told to remove, as if each removal were the moment of a kill, and that note
// which sessions are swept.
type hoarder struct {
	*shims
	keeps bool
	swept []string
}

func (h *hoarder) Remove(id, act string) error {
	if h.keeps {
		return nil
	}
	return h.shims.Remove(id, act)
}

func (h *hoarder) Sweep(id string) error {
	h.swept = append(h.swept, id)
	return nil
}

// Goal: an agent that dies between a command's outcome and the removal of its directory leaves nothing for ever: the next
// opening takes the directory away, and has the shims remove what was never finished.
func TestOpeningSweepsWhatACrashLeft(t *testing.T) {
	s, cmds := shell(t, use("a", "Bash", `{"command":"print 16"}`))
	h := &hoarder{shims: cmds, keeps: true}
	config := s.config
	s.config = func(c *engine.Config) { config(c); c.Commands = h }
	p, se := s.start("go")
	se = restart(t, p, se)
	run(t, se)
	if len(cmds.cmds) != 1 {
		t.Fatalf("%d directories of commands before the opening, want that of the one command", len(cmds.cmds))
	}
	h.keeps, h.swept = false, nil
	se = restart(t, p, se)
	if len(cmds.cmds) > 0 || !slices.Equal(h.swept, []string{"s"}) {
		t.Errorf("after the opening %d directories stay, swept were %q", len(cmds.cmds), h.swept)
	}
	if err := se.Close(t.Context(), ""); err != nil {
		t.Error(err)
	}
}
