package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/learn"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
)

// The targets of what a session leaves.
const (
	maxEndGrowth  = 2.0 // a later end that found nothing out, of 20,000 events to that of 2,000
	maxEndRead    = 3.0 // any end, beyond that, to reading the log once
	maxNoteGrowth = 3.0 // a step with a note to one with a read, both late in a long session
)

// ends are what the first end of a session took, and the later ones, and reading its log once.
type ends struct {
	first, later, read time.Duration
	events             int64
}

// endsOf makes a session of about n events and ends it four times. Between the ends it finds something out, or nothing.
func endsOf(t *testing.T, n int, found bool) ends {
	t.Helper()
	var again []scripted.Turn
	for i := range 3 {
		text := "I look once more."
		if found {
			text = fmt.Sprintf("[GOTCHA] The tool number %d of the linter must be built before the tests of package %d run.", i, i)
		}
		again = append(again, says(fmt.Sprintf("end-it-%d", i), calls("Read", `{"file_path": "file1.go"}`, text)))
	}
	h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, append(again, says("begin-it", looks(n/6)...))...)
	id := worker(t, h, project(t), 60_000)
	e := ends{first: goOn(t, h, c, id, "begin-it")}
	var later []time.Duration
	for i := range again {
		later = append(later, goOn(t, h, c, id, fmt.Sprintf("end-it-%d", i)))
	}
	e.later, e.events = median(later), eventsOf(t, h, id)
	e.read = medianOf(t, 3, func() {
		for one, err := range learn.Log(t.Context(), h.Store(), id) {
			if err == nil {
				_, err = session.Decode(one.Event)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Logf("%s: %d events, found %v: the first end %v, later ends %v; the log read once %v", load(), e.events, found, e.first, e.later, e.read)
	return e
}

// Goal: what the end of a session costs does not grow with its log, but where something was found out: then it is less than
// reading the log a few times.
func TestEndFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	long, short, found := endsOf(t, 20_000, false), endsOf(t, 2_000, false), endsOf(t, 20_000, true)
	growth := float64(long.later) / float64(short.later)
	reads := max(float64(long.first-short.later)/float64(long.read), float64(found.later-short.later)/float64(found.read))
	t.Logf("a later end of %d events to one of %d: %.2f; of one that reads the log, to reading it: %.2f", long.events, short.events, growth, reads)
	if growth > maxEndGrowth || reads > maxEndRead {
		t.Errorf("targets: %.1f, %.1f", maxEndGrowth, maxEndRead)
	}
}

// Goal: what a note costs does not grow with the session.
func TestNoteFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const steps, every = 3_000, 10
	all := looks(steps)
	for i := every - 1; i < steps; i += every {
		all[i] = calls("Note", fmt.Sprintf(`{"kind": "finding", "text": "the parser number %d of the compiler reads its input twice"}`, i), "I note that.")
	}
	h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, says("begin-it", all...))
	id := worker(t, h, project(t), 60_000)
	goOn(t, h, c, id, "begin-it")
	noted, looked := map[int][]time.Duration{}, map[int][]time.Duration{}
	for i, d := range c.ordinary()[:steps] {
		tenth := i * 10 / steps
		if i%every == every-1 {
			noted[tenth] = append(noted[tenth], d)
		} else {
			looked[tenth] = append(looked[tenth], d)
		}
	}
	ratio := float64(median(noted[9])) / float64(median(looked[9]))
	t.Logf("%s: %d events; a step with a note: of the first tenth %v (a read %v), of the last tenth %v (a read %v), ratio %.2f",
		load(), eventsOf(t, h, id), median(noted[0]), median(looked[0]), median(noted[9]), median(looked[9]), ratio)
	if ratio > maxNoteGrowth {
		t.Errorf("target: %.1f", maxNoteGrowth)
	}
}
