package asks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// Whatever is typed, drawn and changed in whatever order: an answer is about a call that is on the screen at that moment,
// every line of which was drawn before it if it allows, and after which no key came for the quiet time at least once.
func TestNoOrderOfThingsAnswersUnread(t *testing.T) {
	keys := []string{"y", "s", "p", "u", "n", "w", "N", "r", "enter", "esc", "tab", "right", "left", "down", "up", "space", "1", "2", "x", "pgdown", "?", "o"}
	rapid.Check(t, func(t *rapid.T) {
		page := rapid.Bool().Draw(t, "page")
		f := source(3)
		for i := range f.asks {
			d := f.details[f.asks[i].ID]
			d.Rows = nil
			for n := range rapid.IntRange(1, 15).Draw(t, "rows") {
				d.Rows = append(d.Rows, Row{Text, fmt.Sprintf("<%s.%d>", f.asks[i].ID, n)})
			}
			f.details[f.asks[i].ID] = d
		}
		f.add(question("q", "<q.0>", "red", "green"))
		m := paged(f, 60, 14, page)
		drawn := map[string]bool{} // rows of the ask that is on the screen, by its text
		on, quiet := "", time.Time{}
		was := f.clock
		draw := func() {
			text := ansi.Strip(m.View())
			if on != m.shown.ask.ID+m.shown.ask.Bound {
				on, drawn, quiet = m.shown.ask.ID+m.shown.ask.Bound, map[string]bool{}, time.Time{}
			}
			for n := range 15 {
				row := fmt.Sprintf("<%s.%d>", m.shown.ask.ID, n)
				if strings.Contains(text, row) && !drawn[row] {
					drawn[row] = true
					if quiet.IsZero() {
						quiet = f.clock
					}
				}
			}
		}
		armed := false // the reader's own account of whether there was a pause
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				draw()
			case 2:
				f.clock = f.clock.Add(time.Duration(rapid.SampledFrom([]int{1, 100, 424, 425, 1000}).Draw(t, "ms")) * time.Millisecond)
			case 3:
				if len(f.asks) > 0 && rapid.Bool().Draw(t, "changes") {
					i := rapid.IntRange(0, len(f.asks)-1).Draw(t, "which")
					if rapid.Bool().Draw(t, "goes") {
						f.asks = append(f.asks[:i:i], f.asks[i+1:]...)
					} else {
						f.asks[i].Bound += "'"
					}
				}
				f.do(m, m.Refresh())
			default:
				if !m.Focused() {
					f.do(m, m.Focus())
					continue
				}
				shown, n := m.shown.ask, len(f.did)
				same := on == shown.ID+shown.Bound && !quiet.IsZero()
				since := quiet
				if was.After(since) {
					since = was
				}
				armed = same && (armed || f.clock.Sub(since) >= 425*time.Millisecond)
				rows := len(f.details[shown.ID].Rows)
				seen := len(drawn)
				f.press(m, rapid.SampledFrom(keys).Draw(t, "key"))
				was = f.clock
				for _, did := range f.did[n:] {
					allows := strings.HasPrefix(shown.ID, "a") && !strings.Contains(did, "Verdict:0")
					switch {
					case !strings.HasPrefix(did, shown.ID+"@"+shown.Bound+" "):
						t.Fatalf("%s, and %s was on the screen", did, shown.ID)
					case !armed:
						t.Fatalf("%s, which was not left alone for long enough", did)
					case allows && (!same || seen < rows):
						t.Fatalf("%s, of which %d of %d rows were drawn", did, seen, rows)
					}
				}
				if m.shown.ask.ID+m.shown.ask.Bound != on {
					armed = false
				}
			}
		}
	})
}
