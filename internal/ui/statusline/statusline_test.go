package statusline_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/statusline"
	"github.com/perdure/perdure/internal/ui/theme"
)

var full = statusline.Data{
	Activity: "Bash", Elapsed: 83 * time.Second, Frame: 2, Waiting: 2, WaitKey: "ctrl-o", Queued: 1, Mode: "acceptEdits", Model: "anthropic/claude-opus-4-5",
	Used: 68_000, Window: 200_000, Cost: "$1.23", Session: "fix the parser", Branch: "main",
}

// Goal: everything is there when there is room, and the least important goes first.
func TestTheLeastImportantGoesFirst(t *testing.T) {
	for width, want := range map[int]string{
		140: "2 wait for you (ctrl-o) · - Bash 1m23s · 1 queued               fix the parser · main · acceptEdits · $1.23 · 34 % of 200k · claude-opus-4-5",
		120: "2 wait for you (ctrl-o) · - Bash 1m23s · 1 queued  fix the parser · acceptEdits · $1.23 · 34 % of 200k · claude-opus-4-5",
		80:  "2 wait for you (ctrl-o) · - Bash 1m23s · 1 queued     acceptEdits · 34 % of 200k",
		40:  "2 wait for you (ctrl-o) · - Bash 1m23s  ",
		30:  "2 wait for you (ctrl-o)       ",
		10:  "2 wait fo…",
		0:   "",
	} {
		if got := statusline.View(full, width, theme.Plain()); got != want {
			t.Errorf("%d cells:\n%q\nwant\n%q", width, got, want)
		}
	}
}

// Goal: each part says what it knows, and nothing of what nobody knows.
func TestParts(t *testing.T) {
	for _, tc := range []struct {
		data statusline.Data
		want string
	}{
		{statusline.Data{}, ""},
		{statusline.Data{Used: 500}, "500 tokens"},
		{statusline.Data{Used: 500, Window: 200_000}, "1 % of 200k"},
		{statusline.Data{Used: 1_200_000, Window: 1_000_000}, "120 % of 1M"},
		{statusline.Data{Used: 10_000, Window: 1_050_000}, "1 % of 1.1M"},
		{statusline.Data{Waiting: 1}, "1 waits for you"},
		{statusline.Data{Model: "local"}, "local"},
		{statusline.Data{Activity: "thinking"}, "| thinking"},
		{statusline.Data{Activity: "thinking", Frame: -1, Elapsed: 3*time.Hour + 4*time.Minute}, `\ thinking 3h04m`},
		{statusline.Data{Detached: "pid 12 on host"}, "held by pid 12 on host"},
	} {
		if got := strings.TrimSpace(statusline.View(tc.data, 60, theme.Plain())); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.data, got, tc.want)
		}
	}
}

// Goal: whatever the texts, the line has exactly its width and nothing that a terminal obeys but colours.
func TestAlwaysFits(t *testing.T) {
	for _, text := range []string{"a", "日本語の題", "👩‍👩‍👧‍👦 family", "e\u0301te\u0301", "\x1b[2J\x1b]0;x\a", "a\tb\rc\n", "\u202eabc", "שלום", strings.Repeat("long ", 40), "\u009b1m\xff"} {
		d := full
		d.Activity, d.WaitKey, d.Mode, d.Model, d.Cost, d.Session, d.Branch, d.Detached = text, text, text, text, text, text, text, text
		for width := range 200 {
			got := statusline.View(d, width, theme.Colours())
			if n := ansi.StringWidth(got); n != width {
				t.Fatalf("%q at %d: %d cells: %q", text, width, n, got)
			}
			if strings.ContainsFunc(ansi.Strip(got), unicode.IsControl) {
				t.Fatalf("%q at %d: %q", text, width, got)
			}
		}
	}
}

// Goal: a window that is nearly full shows so.
func TestAFullWindowIsSeen(t *testing.T) {
	st := theme.Colours()
	for used, style := range map[int64]ansi.Style{10: st.Quiet, 70: st.Warn, 95: st.Bad} {
		d := statusline.Data{Used: used, Window: 100}
		if got := statusline.View(d, 30, st); !strings.Contains(got, style.Styled(strings.TrimSpace(statusline.View(d, 30, theme.Plain())))) {
			t.Errorf("%d: %q", used, got)
		}
	}
}

// Goal: how far long work is stands in the place of what the session does, and is there in the narrowest terminal.
func TestLongWorkIsShown(t *testing.T) {
	d := full
	d.Work = "restoring files: 12,300 of 50,000 · 1.2\x1b[31m GiB\n"
	for width, want := range map[int]string{
		120: "2 wait for you (ctrl-o) · restoring files: 12,300 of 50,000 · 1.2 GiB · 1 queued              acceptEdits · 34 % of 200k",
		80:  "2 wait for you (ctrl-o) · restoring files: 12,300 of 50,000 · 1.2 GiB · 1 queued",
		30:  "2 wait for you (ctrl-o)       ",
	} {
		if got := statusline.View(d, width, theme.Plain()); got != want {
			t.Errorf("%d cells:\n%q\nwant\n%q", width, got, want)
		}
	}
	d.Waiting = 0
	if got := statusline.View(d, 40, theme.Plain()); got != "restoring files: 12,300 of 50,000 · 1.2…" {
		t.Errorf("40 cells: %q", got)
	}
}
