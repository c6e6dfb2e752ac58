package tasks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// gated starts a task that prints a text, and another one each time the returned function is called.
func gated(w *clitest.World, id, name string, texts ...string) (next func()) {
	w.T.Helper()
	gate := w.Dir + "/gate-" + name
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		w.T.Fatal(err)
	}
	var script strings.Builder
	for i, text := range texts {
		if i > 0 {
			fmt.Fprintf(&script, "read x < %s; ", gate)
		}
		fmt.Fprintf(&script, "printf %%b %q; ", text)
	}
	w.Task(id, name, script.String(), 0)
	return func() {
		w.T.Helper()
		if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
			w.T.Fatal(err)
		}
	}
}

// printed waits until a task has printed that much.
func printed(w *clitest.World, id, name string, n int) {
	w.T.Helper()
	clitest.Until(w.T, fmt.Sprintf("%d bytes are printed", n), func() bool { return w.TaskLine(id, name)["output_bytes"] == float64(n) })
}

// Goal: each reader is shown what it has not seen, once, and none moves another's place or the model's.
func TestTaskOutputNew(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	next := gated(w, "s1", "bash_1", "one\n", "two\n")
	printed(w, "s1", "bash_1", 4)
	for _, who := range []string{"", "bob"} {
		args := []string{"task", "output", "s1", "bash_1", "--new"}
		if who != "" {
			args = append(args, "--reader", who)
		}
		if first, second := w.OK(args...), w.OK(args...); first != "one\n" || second != "" {
			t.Errorf("reader %q: %q, then %q", who, first, second)
		}
	}
	next()
	w.AwaitTask("s1", "bash_1", "exited")
	w.App.TTY = "pts/7"
	for who, want := range map[string]string{"bob": "two\n", "cli": "two\n", "tty:pts/7": "one\ntwo\n"} {
		if got := w.OK("task", "output", "s1", "bash_1", "--reader", who); got != want {
			t.Errorf("reader %q: %q", who, got)
		}
	}
	if got := w.OK("task", "output", "bash_1", "--new"); got != "" {
		t.Errorf("the terminal's own place is elsewhere: %q", got)
	}
	if got := w.OK("task", "output", "s1", "bash_1"); got != "one\ntwo\n" {
		t.Errorf("all of it: %q", got)
	}
	if l := w.TaskLine("s1", "bash_1"); l["output_position"] != 0.0 {
		t.Errorf("the model's place moved: %v", l["output_position"])
	}
	w.Fails(app.ExitUsage, "--reader was given is empty", "task", "output", "s1", "bash_1", "--reader", "")
	w.Fails(app.ExitFailed, "bad reader", "task", "output", "s1", "bash_1", "--reader", "a\nb")
	w.Fails(app.ExitUsage, "leave out", "task", "output", "s1", "bash_1", "--new", "--attempt", "1")
}

// broken takes some bytes and no more.
type broken struct {
	room int
	io.Writer
}

func (b *broken) Write(p []byte) (int, error) {
	n := min(len(p), b.room)
	b.room -= n
	_, _ = b.Writer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("no room")
	}
	return n, nil
}

// Goal: what could not be written counts as unseen.
func TestTaskOutputNewFails(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Task("s1", "bash_1", "echo one", 0)
	w.AwaitTask("s1", "bash_1", "exited")
	a := *w.App
	a.Stdout, a.Stderr = &broken{room: 2, Writer: io.Discard}, io.Discard
	if code := cli.Main(t.Context(), &a, []string{"task", "output", "s1", "bash_1", "--new"}); code != app.ExitFailed {
		t.Errorf("exit %d", code)
	}
	if got := w.OK("task", "output", "s1", "bash_1", "--new"); got != "one\n" {
		t.Errorf("%q", got)
	}
}

// Goal: the end of an output, and lines of it, for people and for programs.
func TestTaskOutputTailAndFilter(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Task("s1", "bash_1", `i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo "line $i"; done; printf end`, 64<<10)
	w.AwaitTask("s1", "bash_1", "exited")
	for n, want := range map[string]string{"0": "", "1": "end", "2": "line 30000\nend", "3": "line 29999\nline 30000\nend"} {
		if got := w.OK("task", "output", "s1", "bash_1", "--tail", n); got != want {
			t.Errorf("tail %s: %q", n, got)
		}
	}
	// More lines than are kept in one piece: the gap is told with its size, the same as without --tail.
	all, tail := w.OK("task", "output", "s1", "bash_1"), w.OK("task", "output", "s1", "bash_1", "--tail", "20000")
	_, wantTail, _ := strings.Cut(all, "\n[")
	if wantTail == "" || "["+wantTail != tail {
		t.Errorf("tail: %.80q, want %.80q", tail, "["+wantTail)
	}
	if got := w.OK("task", "output", "s1", "bash_1", "--tail", "5000", "--filter", `^line 2999[78]$|^e`); got != "line 29997\nline 29998\nend" {
		t.Errorf("filter: %q", got)
	}
	var piece struct {
		Offset, Omitted int64
		Text            string
	}
	line := w.OK("task", "output", "s1", "bash_1", "--tail", "1", "--json")
	if err := json.Unmarshal([]byte(line), &piece); err != nil || piece.Text != "end" || piece.Offset == 0 || piece.Omitted != 0 {
		t.Errorf("%q: %v", line, err)
	}
	w.Fails(app.ExitUsage, "want a number", "task", "output", "s1", "bash_1", "--tail", "-3")
	w.Fails(app.ExitUsage, "--filter", "task", "output", "s1", "bash_1", "--filter", "(")
}

// Goal: a filtered reader loses no line whose end has not come yet.
func TestTaskOutputNewFiltered(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	next := gated(w, "s1", "bash_1", "error 1\nother\nerr", "or 2\n")
	printed(w, "s1", "bash_1", 17)
	read := func() string { return w.OK("task", "output", "s1", "bash_1", "--new", "--filter", "^error") }
	if got := read(); got != "error 1\n" {
		t.Errorf("%q", got)
	}
	if got := read(); got != "" {
		t.Errorf("%q", got)
	}
	next()
	w.AwaitTask("s1", "bash_1", "exited")
	if got := read(); got != "error 2\n" {
		t.Errorf("%q", got)
	}
}

// Goal: a task cannot steer the terminal of whoever looks at its output, and a file or a pipe get every byte.
func TestTaskOutputOnATerminal(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	const printed = "\x1b]52;c;ZXZpbA==\a\x1b[31mred\x1b[0m\x1b[6n 10%\r20%\n"
	w.Task("s1", "bash_1", `printf '\033]52;c;ZXZpbA==\007\033[31mred\033[0m\033[6n 10%%\r20%%\n'`, 0)
	w.AwaitTask("s1", "bash_1", "exited")
	w.App.Screen = true
	if got := w.OK("task", "output", "s1", "bash_1"); got != "\x1b[31mred\x1b[0m 10%\r20%\n\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := w.OK("task", "output", "s1", "bash_1", "--raw"); got != printed {
		t.Errorf("raw: %q", got)
	}
	w.App.Screen = false
	if got := w.OK("task", "output", "s1", "bash_1"); got != printed {
		t.Errorf("in a pipe: %q", got)
	}
}
