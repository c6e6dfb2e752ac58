package knowledge

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// Goal: a note that fails on a full disk says whether it will be there later: one that is written down already is finished
// by the next change, and the error has said so; one that is not stays away, and nothing is promised.
func TestAFailedNoteSaysWhatBecomesOfIt(t *testing.T) {
	for at, kept := range map[string]bool{"intent": false, "apply MEMORY.md": true, "close": true} {
		w := newWorld(t)
		met := false
		w.cfg.Fault = func(step string) error {
			if met = met || step == at; step == at {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err := w.open().User.Add(t.Context(), Addition{Text: "tea, not coffee", Key: "tea"}, By{Source: SourceUser})
		if !met || !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrUnfinished) != kept {
			t.Errorf("at %q (met: %v): %v; it says that it is kept: %v", at, met, err, !kept)
		}
		w.cfg.Fault = nil
		w.add(w.open().User, "another thing")
		list, err := w.open().User.List()
		if err != nil {
			t.Fatal(err)
		}
		there := false
		for _, l := range list {
			there = there || strings.Contains(l.Summary, "tea")
		}
		if there != kept {
			t.Errorf("at %q: it is there later: %v, said was %v", at, there, kept)
		}
	}
}
