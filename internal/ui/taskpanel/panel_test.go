package taskpanel

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

var rewrite = flag.Bool("rewrite", false, "write the golden frames anew")

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fake is a source under the test's control.
type fake struct {
	tasks []Task
	tails map[string]string // by task id
	err   error
	did   []string
	asked []string // whose tails were asked for
	clock time.Time
	waits []time.Duration
}

func (f *fake) now() time.Time { return f.clock }

func (f *fake) List(context.Context) ([]Task, error) { return slices.Clone(f.tasks), f.err }

func (f *fake) Tail(_ context.Context, k Key, _ int64, _ int) (Tail, error) {
	f.asked = append(f.asked, k.ID)
	text := f.tails[k.ID]
	return Tail{Bytes: []byte(text), End: int64(len(text))}, nil
}

func (f *fake) Kill(_ context.Context, k Key) error {
	f.did = append(f.did, "kill "+k.ID)
	return f.err
}

func (f *fake) Restart(_ context.Context, k Key) error {
	f.did = append(f.did, "restart "+k.ID)
	return f.err
}

func (f *fake) Hints(t Task) []string { return []string{"attach " + t.ID} }

// someTasks are of every kind, with everything in them that is hard to show.
func someTasks() []Task {
	ago := func(d time.Duration) time.Time { return testNow.Add(-d) }
	task := func(n int, name, command string, st State, status string, age time.Duration) Task {
		return Task{
			Key: Key{"01a1ff68-d0db-700f-bb82-1a5bd217bfae", fmt.Sprint("bash_", n)}, Name: name, Command: command, Dir: "/home/me/shop",
			State: st, Status: status, Attempt: 1, PID: 1000 + n, Started: ago(age),
		}
	}
	web := task(1, "web", "npm run dev -- --host 0.0.0.0", Running, "running", 26*time.Hour)
	web.Processes, web.RSS, web.Ports, web.CPU, web.Printed, web.Unread = 3, 312<<20, []int{5173, 24678}, 90*time.Second, 81_000, 2048
	wide := task(12, "日本語のサーバー", "./構築 --全部 'ドキュメント' 🎉", Running, "running", 90*time.Second)
	wide.Processes, wide.RSS, wide.CPU = 1, 4<<20, time.Second
	evil := task(3, "\x1b[2Jclear", "printf '\x1b]0;title\a\x1b]52;c;ZXZpbA==\a\r\nnext\tline'", Straggling, "exited 0, 2 left", 40*time.Minute)
	evil.Processes, evil.RSS, evil.Printed, evil.Unread = 2, 900<<10, 300, 300
	ok := task(4, "", "go test ./...", Succeeded, "exited 0", 3*time.Minute)
	ok.Ended = ago(time.Minute)
	bad := task(5, "build", "make all", Failed, "exited 2", 5*time.Minute)
	bad.Ended, bad.Attempt = ago(2*time.Minute), 3
	killed := task(6, "", "sleep 1000", Killed, "killed by user", 72*time.Hour)
	killed.Ended = ago(time.Hour)
	lost := task(7, "", "tail -f /var/log/syslog", Lost, "lost (reboot)", 73*time.Hour)
	lost.Ended = ago(2 * time.Hour)
	return []Task{killed, ok, web, evil, lost, bad, wide}
}

func hostile() string {
	return "plain line\n\x1b[31mred\x1b[0m \x1b]0;title\a\x1b]52;c;ZXZpbA==\a\x1b[6nasked\nprogress 1%\rprogress 100%\r\n" +
		"tab\tstop\ta\n日本語の行 🎉 wide\nback\b\b\bspace\n" + strings.Repeat("long ", 60) + "\nbytes \xff\x9b31m \u009b6n\n\u202eright\nlast\n"
}

// panel is a panel of a size that has looked once.
func panel(f *fake, width, height int) *Model {
	if f.clock.IsZero() {
		f.clock = testNow
	}
	m := New(Config{Source: f, Now: f.now})
	m.later = func(d time.Duration, _ tea.Msg) tea.Cmd { // only the test lets time pass
		f.waits = append(f.waits, d)
		return nil
	}
	m.SetSize(width, height)
	look(m)
	return m
}

// look lets a panel look at its source, list and output.
func look(m *Model) {
	drain(m, m.look())
	drain(m, m.lookAtTail())
}

// drain runs a command and what follows from it.
func drain(m *Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			drain(m, c)
		}
	default:
		drain(m, m.Update(msg))
	}
}

func press(m *Model, keys ...string) {
	for _, k := range keys {
		drain(m, m.Update(keyPress(k)))
	}
}

func keyPress(k string) tea.KeyPressMsg {
	named := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "end": tea.KeyEnd, "home": tea.KeyHome,
	}
	if code, ok := named[k]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
}

// checkFrame wants a frame that cannot break its place: exactly so many lines, none too wide, and no byte in it that a
// terminal obeys but colours of the panel's own.
func checkFrame(t interface {
	Helper()
	Errorf(string, ...any)
}, m *Model, width, height int,
) string {
	t.Helper()
	frame := m.View()
	lines := strings.Split(frame, "\n")
	if len(lines) != height && height >= minHeight && width >= minWidth {
		t.Errorf("%dx%d: %d lines", width, height, len(lines))
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > width {
			t.Errorf("%dx%d: %d cells: %q", width, height, n, l)
		}
	}
	text := ansi.Strip(frame)
	for _, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') {
			t.Errorf("%dx%d: %q in %q", width, height, r, text)
			break
		}
	}
	for rest := frame; ; {
		i := strings.IndexByte(rest, 0x1b)
		if i < 0 {
			break
		}
		end := strings.IndexByte(rest[i:], 'm')
		if end < 0 || strings.Trim(rest[i:i+end], "\x1b[0123456789;") != "" {
			t.Errorf("a sequence that is no colour: %q", rest[i:min(len(rest), i+20)])
			break
		}
		rest = rest[i+end:]
	}
	return text
}

// Goal: how the panel looks, at the sizes that people have.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		keys          []string
		prepare       func(*fake)
	}{
		{"usual", 100, 30, nil, nil},
		{"narrow", 40, 12, nil, nil},
		{"wide", 200, 50, []string{"down", "down"}, nil},
		{"eighty", 80, 24, []string{"down"}, nil},
		{"ended", 80, 24, []string{"end", "up"}, nil},
		{"kill", 80, 24, []string{"down", "down", "x"}, nil},
		{"filter", 80, 24, []string{"/", "s", "l", "e"}, nil},
		{"large", 80, 24, []string{"enter", "w"}, nil},
		{"help", 80, 24, []string{"?"}, nil},
		{"empty", 80, 24, nil, func(f *fake) { f.tasks = nil }},
		{"failing", 80, 24, nil, func(f *fake) { f.err = errors.New("disk \x1b[31mon fire") }},
		{"small", 20, 5, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{tasks: someTasks(), tails: map[string]string{"bash_12": hostile(), "bash_1": "ready\n"}}
			if c.prepare != nil {
				c.prepare(f)
			}
			m := panel(f, c.width, c.height)
			f.clock = f.clock.Add(time.Second)
			for i := range f.tasks {
				f.tasks[i].CPU += time.Duration(i) * 100 * time.Millisecond
			}
			look(m)
			press(m, c.keys...)
			look(m)
			checkFrame(t, m, c.width, c.height)
			golden(t, c.name, m.View())
		})
	}
}

// golden compares a frame, blanks at the ends of lines and all colours included, with the one that is kept. Escape is
// written as ^ so that a kept frame can be read.
func golden(t *testing.T, name, frame string) {
	t.Helper()
	var text strings.Builder
	for line := range strings.SplitSeq(ansi.Strip(frame), "\n") {
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	text.WriteString("----\n" + strings.ReplaceAll(frame, "\x1b", "^") + "\n")
	path := filepath.Join("testdata", name+".txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the frame differs; -rewrite writes it anew:\n%s", text.String())
	}
}

// Goal: whatever commands print, whatever they are called, however small the room, a frame stays in its place and steers
// nothing.
func TestNothingBreaksTheFrame(t *testing.T) {
	pieces := []string{
		"\x1b", "[", "]", "P", "\a", "\\", "\u009b", "\u009d", "31", ";", "m", "x", "\n", "\t", "\r", "\b", "\x7f", "\xff", "\x9b",
		"\u202e", "ä", "漢", "🎉", "👩‍👩‍👧", "e\u0301", "\u200d", "\x00", "c", " ", "?1049h", "6n", "52;c;", strings.Repeat("w", 300),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30).Draw(t, name), "")
		}
		f := &fake{tails: map[string]string{"a": text("output")}}
		for range rapid.IntRange(0, 5).Draw(t, "tasks") {
			f.tasks = append(f.tasks, Task{
				Key: Key{text("session"), "a"}, Name: text("name"), Command: text("command"), Dir: text("dir"), Status: text("status"),
				State: State(rapid.IntRange(0, 5).Draw(t, "state")), Ports: []int{1, 65535}, Started: testNow, Incomplete: text("incomplete"),
			})
		}
		width, height := rapid.IntRange(minWidth, 130).Draw(t, "width"), rapid.IntRange(minHeight, 40).Draw(t, "height")
		m := panel(f, width, height)
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"down", "x", "r", "a", "/", "e", "w", "enter", "?", "pgup", "esc", "y", "漢"}), 0, 4).Draw(t, "keys") {
			drain(m, m.Update(keyPress(k)))
			checkFrame(t, m, width, height)
		}
		checkFrame(t, m, width, height)
	})
}
