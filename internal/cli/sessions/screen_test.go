package sessions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// nasty is a world with texts that break layouts, on a screen so wide.
func nasty(t *testing.T, columns int) *clitest.World {
	w := clitest.New(t)
	w.Eventful("one")
	user := store.Actor{Type: store.ActorUser}
	for i, text := range []string{
		strings.Repeat("日本語のとても長いプロンプト", 9), "\x1b[31mred\x1b]0;title\a \x1b[2J", "👩‍👩‍👧‍👦 🇩🇪 e\u0301 한국어", "a\tb\tc\rd", strings.Repeat("x", 300), "مرحبا بالعالم",
	} {
		id := fmt.Sprintf("s%d", i)
		w.Create(id)
		title := strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, ansi.Truncate(text, 190, ""))
		w.Append(id, user, &session.Labelled{Title: &title}, &session.MessageReceived{Content: []model.Part{model.TextPart(text)}})
		w.Append("one", user, &session.FactAdded{Fact: session.Fact{Kind: "finding", Text: text, Provenance: "tool"}}, &session.MessageReceived{Content: []model.Part{model.TextPart(text)}})
	}
	w.App.Screen, w.App.Size = true, func() (int, int) { return columns, 24 }
	w.App.Environ = append(w.App.Environ, "TERM=xterm", "PAGER=cat")
	return w
}

// On a screen no line is wider than it, whatever stands in it, and a terminal obeys nothing but colours.
func TestScreensFit(t *testing.T) {
	for _, columns := range []int{40, 80, 120} {
		w := nasty(t, columns)
		for _, args := range [][]string{{"list"}, {"show", "one", "--messages"}, {"show", "s4", "--messages"}, {"log", "one"}, {"log", "s0"}} {
			out := w.OK(args...)
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := ansi.StringWidth(line); n > columns {
					t.Errorf("%v at %d columns: %d cells: %q", args, columns, n, line)
				}
				if rest := ansi.Strip(line); strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.Contains(line, "\x1b]") || strings.Contains(line, "\x1b[2J") {
					t.Errorf("%v at %d columns: %q", args, columns, line)
				}
			}
			if !strings.Contains(out, "\x1b[") {
				t.Errorf("%v: no colours", args)
			}
		}
	}
}

// Without a screen, with NO_COLOR and on a dumb terminal there is no colour, and the words are the same.
func TestNoColour(t *testing.T) {
	w := nasty(t, 100)
	for _, args := range [][]string{{"list"}, {"show", "one"}, {"log", "one"}} {
		coloured := ansi.Strip(w.OK(args...))
		for _, setting := range []string{"NO_COLOR=1", "TERM=dumb"} {
			environ := w.App.Environ
			w.App.Environ = append([]string{setting}, environ...)
			if out := w.OK(args...); out != coloured {
				t.Errorf("%v with %s:\n%q\nwant\n%q", args, setting, out, coloured)
			}
			w.App.Environ = environ
		}
	}
	w.App.Screen = false
	for _, args := range [][]string{{"list"}, {"show", "one"}, {"log", "one"}} {
		if out := w.OK(args...); strings.Contains(out, "\x1b") {
			t.Errorf("%v off a screen: %q", args, out)
		}
	}
}

// Times are those of the day for whoever looks, and whole where the text may be read another day.
func TestTimesOnAScreen(t *testing.T) {
	w := nasty(t, 120)
	w.App.Zone = time.FixedZone("", 3600)
	if out := w.OK("list"); !strings.Contains(out, "today 04:04") {
		t.Error(out)
	}
	day := w.App.Now().Add(24 * time.Hour)
	w.App.Now = func() time.Time { return day }
	if out := w.OK("show", "one"); !strings.Contains(out, "yesterday 04:04") {
		t.Error(out)
	}
	if out := w.OK("log", "one"); !strings.HasPrefix(ansi.Strip(out), "Fri 2 Jan 2026, +01:00\n    1  04:04:05.678  ") {
		t.Error(out)
	}
	w.App.Screen = false
	if out := w.OK("show", "one"); !strings.Contains(out, "2026-01-02 04:04:05 +01:00") {
		t.Error(out)
	}
}

// What is longer than the screen goes through the pager, unless there is to be none.
func TestPagerOfListShowAndLog(t *testing.T) {
	w := nasty(t, 80)
	w.App.Size = func() (int, int) { return 80, 4 }
	seen := w.Dir + "/seen"
	w.App.Environ = append([]string{"PERDURE_PAGER=cat >" + seen}, w.App.Environ...)
	for _, args := range [][]string{{"list"}, {"show", "one"}, {"log", "one"}, {"export", "one"}} {
		if out := w.OK(args...); out != "" {
			t.Errorf("%v printed %q beside the pager", args, out)
		}
		if b, err := os.ReadFile(seen); err != nil || len(b) == 0 {
			t.Errorf("%v: the pager got nothing: %v", args, err)
		}
		_ = os.Remove(seen)
		if out := w.OK(append(args, "--no-pager")...); out == "" {
			t.Errorf("%v --no-pager printed nothing", args)
		}
	}
}
