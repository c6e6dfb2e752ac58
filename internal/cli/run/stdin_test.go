package run_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// repeats is a scripted model that says which of the markers it was asked with: each has a turn.
const repeats = `{"turns":[
 {"match":"DATA-MARK","steps":[{"text":"data"}]},
 {"match":"PROMPT-MARK","steps":[{"text":"prompt"}]},
 {"match":"","steps":[{"text":"first"},{"text":"second"},{"text":"third"}]}]}`

// Goal: what is piped into a new session goes with its prompt, one blank line after it, with its indentation; without a
// prompt it is the prompt.
func TestStdinJoinsPrompt(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(repeats)
	for _, c := range []struct{ name, stdin, prompt, want string }{
		{"both", "  DATA-MARK\n\tindented\n\n", "explain this", "explain this\n\n  DATA-MARK\n\tindented"},
		{"alone", "\n DATA-MARK \n", "", "DATA-MARK"},
		{"empty", "", "PROMPT-MARK", "PROMPT-MARK"},
		{"blank", " \n\n", "PROMPT-MARK", "PROMPT-MARK"},
		{"latin1", "DATA-MARK caf\xe9\n", "x", "x\n\nDATA-MARK caf\uFFFD"},
	} {
		w.App.Stdin = strings.NewReader(c.stdin)
		args := []string{"-p", "--session-id", c.name, "--model", m}
		if c.prompt != "" {
			args = append(args, c.prompt)
		}
		o := w.Run(args...)
		if got := w.Prompts(c.name); o.Code != 0 || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: exit %d, prompts %q, want %q\n%s", c.name, o.Code, got, c.want, o.Stderr)
		}
		if strings.Contains(o.Stderr, "of stdin") != (strings.TrimSpace(c.stdin) != "") {
			t.Errorf("%s: %s", c.name, o.Stderr)
		}
	}
	for what, stdin := range map[string]string{"zero byte at 3 B": "abc\x00def", "more than 8.0 MiB": strings.Repeat("line\n", 2<<20)} {
		w.App.Stdin = strings.NewReader(stdin)
		w.Fails(app.ExitUsage, what, "-p", "--session-id", "no", "--model", m, "explain")
	}
	w.Fails(app.ExitMissing, "no session", "show", "no")
	w.App.Stdin = strings.NewReader("")
	w.Fails(app.ExitUsage, "a prompt is needed", "-p", "--model", m)
	w.Fails(app.ExitUsage, "the prompt is blank", "-p", "--model", m, "  ")
}

// Goal: a session that goes on takes a piped prompt, and what is piped goes with a prompt in the arguments. The rest of a
// file that a loop around the command reads is left alone, and that is said; - reads it all the same.
func TestStdinOfResume(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(repeats)
	w.OK("-p", "--session-id", "s", "--model", m, "begin")
	w.App.Stdin = strings.NewReader("DATA-MARK\n")
	if out := w.OK("-p", "-c"); out != "data\n" {
		t.Errorf("-c: %q", out)
	}
	w.App.Stdin = strings.NewReader("DATA-MARK\n")
	if out := w.OK("-p", "-r", "s"); out != "data\n" {
		t.Errorf("-r: %q", out)
	}
	w.App.Stdin = strings.NewReader("")
	if o := w.Run("-p", "-r", "s"); o.Code != 0 || !strings.Contains(o.Stderr, "no interrupted turn") {
		t.Errorf("empty: %+v", o)
	}
	path := filepath.Join(w.Dir, "list")
	if err := os.WriteFile(path, []byte("DATA-MARK\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w.App.Stdin = f
	rewind := func(to int64) {
		if _, err := f.Seek(to, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i, args := range [][]string{{"-p", "-r", "s"}, {"-p", "--session-id", "new", "--model", m}} {
		rewind(10)
		o := w.Run(append(args, "PROMPT-MARK")...)
		if at, _ := f.Seek(0, 1); o.Stdout != "prompt\n" || at != 10 || !strings.Contains(o.Stderr, "stdin was not read") {
			t.Errorf("%d: a loop's stdin, read up to %d: %+v", i, at, o)
		}
	}
	for _, c := range []struct {
		from       int64
		last, want string
	}{
		{0, "", "look at\n\nDATA-MARK\nmore"}, {5, "-", "look at\n\nMARK\nmore"}, {15, "", "look at"},
	} {
		rewind(c.from)
		w.Run(slices.DeleteFunc([]string{"-p", "-r", "s", "look at", c.last}, func(a string) bool { return a == "" })...)
		if got := w.Prompts("s"); got[len(got)-1] != c.want {
			t.Errorf("from byte %d, %q: prompts: %q", c.from, c.last, got)
		}
	}
	w.Fails(app.ExitUsage, "the prompt is blank", "-p", "-r", "s", "")
}

// Goal: an open pipe in which nothing comes keeps no session from going on; where it is waited for, that is said, and
// a signal ends it.
func TestStdinThatNeverComes(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(repeats)
	w.OK("-p", "--session-id", "s", "--model", m, "begin")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = in.Close(), out.Close() }()
	w.App.Stdin = in
	if o := w.Run("-p", "-r", "s", "PROMPT-MARK"); o.Stdout != "prompt\n" || !strings.Contains(o.Stderr, "nothing came within 3s") {
		t.Errorf("with a prompt: %+v", o)
	}
	if o := w.Run("-p", "-r", "s"); o.Code != 0 || !strings.Contains(o.Stderr, "nothing came within 3s") {
		t.Errorf("without: %+v", o)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket, peer := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "peer")
	defer func() { _, _ = socket.Close(), peer.Close() }()
	w.App.Stdin = socket
	if o := w.Run("-p", "--session-id", "spawned", "--model", m, "PROMPT-MARK"); o.Stdout != "prompt\n" || !strings.Contains(o.Stderr, "nothing came within 3s") {
		t.Errorf("a socket: %+v", o)
	}
	if _, err := peer.WriteString("DATA-MARK"); err != nil {
		t.Fatal(err)
	}
	_ = peer.Close()
	if o := w.Run("-p", "--session-id", "fed", "--model", m, "x"); o.Stdout != "data\n" {
		t.Errorf("a socket with data: %+v", o)
	}
	w.App.Stdin = in
	r, wait := w.Start("-p", "--session-id", "new", "--model", m, "explain")
	clitest.Until(t, "it says what it waits for", func() bool { return strings.Contains(r.Read().Stderr, "waiting for stdin") })
	w.Signals <- syscall.SIGINT
	wait()
	if o := r.Read(); o.Code != 130 {
		t.Errorf("%+v", o)
	}
	if _, err := out.WriteString("late\n"); err != nil { // the reader of before is still there
		t.Fatal(err)
	}
}
