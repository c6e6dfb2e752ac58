package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// slowKeeper is a keeper that knows how far it is.
type slowKeeper struct{ *keeper }

func (slowKeeper) Progress(dir string) string { return "looking at files: " + dir }

// Of a capture that takes long those who watch are told how far it is, each half second from the first second on; of
// others nothing, and nothing after its end.
func TestLongCapturesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := twoWrites(t)
		k := s.kept()
		long := 0
		k.fail = func(engine.CaptureRequest) error {
			if long++; long == 1 {
				time.Sleep(2200 * time.Millisecond) //nolint:forbidigo // of a bubble's clock
			} else {
				time.Sleep(900 * time.Millisecond) //nolint:forbidigo // of a bubble's clock
			}
			return nil
		}
		var told []string
		s.config = func(c *engine.Config) {
			c.Captures = slowKeeper{k}
			c.Observe = func(u engine.Update) {
				if u.Event == nil && u.Kind == session.FilesUpdate {
					told = append(told, u.Text)
				}
			}
		}
		_, se := s.start("go")
		run(t, se)
		if len(told) != 3 || slices.ContainsFunc(told, func(text string) bool { return !strings.HasPrefix(text, "looking at files: /") }) || long < 4 {
			t.Errorf("of %d captures told %q", long, told)
		}
	})
}
