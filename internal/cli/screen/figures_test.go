package screen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// slower is how much slower than its target a figure may be on a machine that does other things.
const slower = 10

// figure demands that the median of what was measured is near its target, and tells it.
func figure(t *testing.T, what string, target time.Duration, all []time.Duration) {
	t.Helper()
	slices.Sort(all)
	median := all[len(all)/2]
	t.Logf("%s: %v of %v (%v to %v)", what, median, target, all[0], all[len(all)-1])
	if median > slower*target {
		t.Errorf("%s takes %v, the target is %v", what, median, target)
	}
}

// painted opens a screen over a session and draws it once, with what it shows.
func painted(t *testing.T, w *clitest.World, h *homes.Home, set func(*screen.Config)) (took time.Duration, view string) {
	t.Helper()
	began := time.Now()
	d := sits(t, w, h, set)
	m, err := d.Screen(d.began)
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	view = m.View().Content
	took = time.Since(began)
	d.leaves()
	return took, view
}

// A session of 10,000 messages is on the screen within 100 ms, with its newest words, whether it is held or looked at; and
// what is read of it does not grow with it.
func TestFirstPaintOfALongSession(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	w.Create("long")
	turns(t, h, "long", 1, 5000)
	for name, set := range map[string]func(*screen.Config){"held": held("long"), "looked at": attached("long")} {
		var all []time.Duration
		for range 5 {
			took, view := painted(t, w, h, set)
			if all = append(all, took); !strings.Contains(view, "reply 5000") {
				t.Fatal(view)
			}
		}
		figure(t, "first paint of 10,000 messages, "+name, 100*time.Millisecond, all)
	}
}

// A session whose process was killed in the middle of a reply can be used within 200 ms: another process holds it, shows
// what was said, and takes a message.
func TestUsableAfterAKill(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	slow := words("go", `{"text":"`+strings.Repeat("many words ", 400)+`","delay_ms":50}`)
	model := w.Scripted(slow)
	var all []time.Duration
	for i := range 5 {
		id := fmt.Sprint("s", i)
		cmd := killable(t, w, "-p", "--session-id", id, "--model", model, "go")
		look := w.Open("{}")
		clitest.Until(t, "it runs", func() bool {
			st, err := look.State(t.Context(), id)
			return err == nil && st.Turn != nil && st.NewestCall() != nil
		})
		w.Close(look)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		began := time.Now()
		h := w.Open(words("go", `{"text":"Here I am."}`))
		d := sits(t, w, h, held(id))
		d.sees("> go\n", "[halted: the turn was left open: enter goes on with it, esc ends it]")
		d.says("k", "after it")
		all = append(all, time.Since(began))
		d.leaves()
		w.Close(h)
	}
	figure(t, "usable after a kill", 200*time.Millisecond, all)
}

// What another process writes is on the screen of whoever looks at the session within 100 ms.
func TestWhatIsWrittenElsewhereIsSeenSoon(t *testing.T) {
	w := clitest.New(t)
	w.App.Now = time.Now
	w.Create("s")
	there, here := w.Open("{}"), w.Open("{}")
	defer w.Close(there)
	defer w.Close(here)
	r, err := there.Record(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := sits(t, w, here, attached("s"))
	defer d.leaves()
	var all []time.Duration
	for i := range 15 {
		began := time.Now()
		note := fmt.Sprintf("rule %d", i)
		if _, err := r.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: note, Scope: "session"}); err != nil {
			t.Fatal(err)
		}
		d.sees(note + "\n")
		all = append(all, time.Since(began))
	}
	figure(t, "from another process's event to the screen", 100*time.Millisecond, all)
}
