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

// Goal: what the end of a session costs grows with its log no faster than the log itself.
func TestEndFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	for _, found := range []bool{false, true} {
		per := map[int]time.Duration{}
		for _, n := range []int{2_000, 20_000} {
			var more []scripted.Turn
			for i := range 3 {
				text := "I look once more."
				if found {
					text = fmt.Sprintf("[GOTCHA] The tool number %d of the linter must be built before the tests of package %d run.", i, i)
				}
				more = append(more, says(fmt.Sprintf("more %d", i), calls("Read", `{"file_path": "file1.go"}`, text)))
			}
			dir := project(t)
			h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, append(more, says("first", looks(n/6)...))...)
			id := worker(t, h, dir)
			first := goOn(t, h, c, id, "first")
			var ends []time.Duration
			for i := range more {
				ends = append(ends, goOn(t, h, c, id, fmt.Sprintf("more %d", i)))
			}
			read := medianOf(t, 3, func() {
				for e, err := range learn.Log(t.Context(), h.Store(), id) {
					if err != nil {
						t.Fatal(err)
					}
					if _, err := session.Decode(e.Event); err != nil {
						t.Fatal(err)
					}
				}
			})
			per[n] = median(ends)
			t.Logf("%s: %d events, found %v: the first end %v, later ends %v (%v); the log read once %v", load(), eventsOf(t, h, id), found, first, median(ends), ends, read)
		}
	}
}

// Goal: what a note costs does not grow with the session.
func TestNoteFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const steps, every = 2_000, 10
	all := looks(steps)
	for i := every - 1; i < steps; i += every {
		all[i] = calls("Note", fmt.Sprintf(`{"kind": "finding", "text": "the parser number %d of the compiler reads its input twice"}`, i), "I note that.")
	}
	dir := project(t)
	h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, says("first", all...))
	id := worker(t, h, dir)
	goOn(t, h, c, id, "first")
	var early, late, plain []time.Duration
	for i, d := range c.steps[:steps] {
		switch {
		case i%every != every-1:
			plain = append(plain, d)
		case i < steps/10:
			early = append(early, d)
		case i >= steps*9/10:
			late = append(late, d)
		}
	}
	t.Logf("%s: %d events; a step with a note: of the first tenth %v, of the last tenth %v; a read %v", load(), eventsOf(t, h, id), median(early), median(late), median(plain))
}
