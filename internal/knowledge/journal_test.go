package knowledge

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

func (w *world) note(text string, day time.Time) (repaired bool) {
	w.Helper()
	repaired, err := w.open().Journal().Add(context.Background(), text, day)
	if err != nil {
		w.Fatal(err)
	}
	return repaired
}

// Goal: the file grows at its end in the order of time, with one heading a day, and is shown with the newest day first.
func TestJournal(t *testing.T) {
	w := newWorld(t)
	day := testTime
	w.note("Started the migration", day)
	w.note("- Found: 47 breaking changes\n## 2020-01-01\n\n  with details", day)
	w.note("Completed: the schema", day.AddDate(0, 0, 1))
	want := "# Project Journal\n\n## 2026-04-08\n- Started the migration\n- Found: 47 breaking changes\n  ## 2020-01-01\n    with details\n\n## 2026-04-09\n- Completed: the schema\n"
	if got := fileText(w.open().Journal().File()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	days, err := w.open().Journal().Days(0)
	if err != nil || len(days) != 2 || days[0].Date != "2026-04-09" || len(days[1].Items) != 2 || !strings.Contains(days[1].Items[1], "## 2020") {
		t.Errorf("%+v, %v", days, err)
	}
	if days, err := w.open().Journal().Days(1); err != nil || len(days) != 1 {
		t.Errorf("%+v, %v", days, err)
	}
	for _, bad := range []string{"", " \n", strings.Repeat("x", maxItem+1), "a\x00b"} {
		if _, err := w.open().Journal().Add(context.Background(), bad, day); err == nil {
			t.Errorf("%q was taken", clip(bad))
		}
	}
}

// Goal: a line that a crash tore is closed by the next writer, who is told; nothing before or in it is lost.
func TestTornJournal(t *testing.T) {
	w := newWorld(t)
	w.note("Completed: one", testTime)
	file := w.open().Journal().File()
	whole := fileText(file)
	for cut := len(whole) - 1; cut > 0; cut-- {
		w.write(file, whole[:cut])
		repaired := w.note("Completed: two", testTime)
		if torn := whole[cut-1] != '\n'; repaired != torn {
			t.Errorf("cut at %d: repaired is %v", cut, repaired)
		}
		text := fileText(file)
		days, err := w.open().Journal().Days(0)
		if err != nil || !strings.HasPrefix(text, whole[:cut]) || !strings.HasSuffix(text, "\n- Completed: two\n") {
			t.Errorf("cut at %d: %q, %v", cut, text, err)
		}
		if last := days[0]; last.Date != "2026-04-08" || last.Items[len(last.Items)-1] != "Completed: two" {
			t.Errorf("cut at %d: %+v of %q", cut, days, text)
		}
		if strings.Count(text, "## 2026-04-08\n") != 1 {
			t.Errorf("cut at %d: %q", cut, text)
		}
	}
}

// Goal: killed before it wrote, an item is not there; nothing else is lost.
func TestJournalKilled(t *testing.T) {
	w := newWorld(t)
	w.note("Completed: one", testTime)
	if !w.job("journal", 0) || w.job("journal", -1) {
		t.Fatal("the kill did not come as planned")
	}
	if days, err := w.open().Journal().Days(0); err != nil || len(days) != 1 || len(days[0].Items) != 2 {
		t.Errorf("%+v, %v", days, err)
	}
}

// Goal: a session is given the newest items, within the bound, and is told what is left out of a day.
func TestJournalBrief(t *testing.T) {
	w := newWorld(t)
	for i := range 40 {
		w.note("item "+string(rune('A'+i))+" "+strings.Repeat("y", 100), testTime.AddDate(0, 0, i/30))
	}
	text := w.brief().Text
	if !strings.Contains(text, "### 2026-04-09\n") || !strings.Contains(text, "- item "+string(rune('A'+39))) || strings.Contains(text, "item A ") {
		t.Errorf("brief: %s", text)
	}
	if !strings.Contains(text, "earlier of that day are left out") || len(text) > MaxJournalBrief+len(briefWords)+100 {
		t.Errorf("brief: %d bytes: %s", len(text), text)
	}
	if err := os.Remove(w.open().Journal().File()); err != nil {
		t.Fatal(err)
	}
	w.note("again", testTime)
	if days, err := w.open().Journal().Days(0); err != nil || len(days) != 1 {
		t.Errorf("%+v, %v", days, err)
	}
}
