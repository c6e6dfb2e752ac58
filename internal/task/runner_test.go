//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// The exit code or signal is the command's own, and its output is complete.
func TestOutcomes(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct{ script, want, output string }{
		"ok":         {"echo hi; echo err >&2", "exited 0", "hi\nerr\n"},
		"one":        {"exit 1", "exited 1", ""},
		"notfound":   {"no_such_command_xyz 2>/dev/null", "exited 127", ""},
		"c255":       {"exit 255", "exited 255", ""},
		"noeol":      {"printf abc", "exited 0", "abc"},
		"binary":     {`printf '\000\377\n\001'`, "exited 0", "\x00\xff\n\x01"},
		"closed":     {"exec >&- 2>&-; exit 3", "exited 3", ""},
		"suicide":    {"kill -KILL $$", "killed SIGKILL by unknown", ""},
		"abort":      {"kill -ABRT $$", "killed SIGABRT by unknown", ""},
		"truncate":   {"echo a; echo b > /dev/stdout; : > /dev/stderr; echo c", "exited 0", "a\nb\nc\n"},
		"stdin":      {"cat; echo done", "exited 0", "done\n"},
		"background": {"echo a & wait; echo b", "exited 0", "a\nb\n"},
		"unparsable": {"echo before\nif then (", "exited 2", "before\n"},
	} {
		t.Run(name, func(t *testing.T) {
			st := b.run(name, c.script)
			if got := code(st); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			out := b.output(name)
			if name == "unparsable" {
				out, _, _ = strings.Cut(out, "bash:")
			}
			if out != c.output {
				t.Errorf("output %q, want %q", out, c.output)
			}
			if name != "unparsable" && st.Output != int64(len(c.output)) {
				t.Errorf("state counts %d bytes, want %d", st.Output, len(c.output))
			}
			if st.Stragglers != 0 || st.PID == 0 || st.Started == 0 || st.Ended < st.Started {
				t.Errorf("state %+v", st)
			}
		})
	}
}

// A script's messages name no file, its last command is the process itself, and neither a leading dash nor its length
// changes what runs.
func TestScript(t *testing.T) {
	b := newBench(t)
	long := "echo " + strings.Repeat("x", maxInline) + "; nosuch"
	for act, c := range map[string]struct{ script, want, output string }{
		"message": {"\n nosuch", "exited 127", "bash: line 2: nosuch: command not found\n"},
		"dash":    {"-x", "exited 127", "bash: line 1: -x: command not found\n"},
		"plus":    {"+x; exit 4", "exited 4", "bash: line 1: +x: command not found\n"},
		"at":      {long[:maxInline], "exited 0", long[len("echo "):maxInline] + "\n"},
		"over": {long, "exited 127", long[len("echo "):len("echo ")+maxInline] + "\n" +
			b.Dir + "/" + testSession + "/over/script: line 1: nosuch: command not found\n"},
	} {
		st := b.run(act, c.script)
		if out := b.output(act); code(st) != c.want || out != c.output {
			t.Errorf("%s: %s, output %.200q, want %s, %.200q", act, code(st), out, c.want, c.output)
		}
	}
	b.start(b.script("pid", "echo up; sleep 60"))
	eventually(t, "the command replaces the shell", func() bool {
		return strings.HasPrefix(procFile(b.state("pid").PID, "cmdline"), "sleep\x00")
	})
}

// Without a shell the argument vector arrives byte by byte, and what cannot be executed fails as in a shell.
func TestArgv(t *testing.T) {
	b := newBench(t)
	for act, c := range map[string]struct {
		argv         []string
		want, output string
	}{
		"bytes":   {[]string{"printf", "%s|", "a b", "", "\xff\xfe", "$HOME", "line\nbreak"}, "exited 0", "a b||\xff\xfe|$HOME|line\nbreak|"},
		"nofile":  {[]string{"/no/such/file"}, "exited 127", "perdure: /no/such/file: no such file or directory\n"},
		"nocmd":   {[]string{"nosuchcommand"}, "exited 127", "perdure: nosuchcommand: command not found\n"},
		"notexec": {[]string{"/etc/passwd"}, "exited 126", "perdure: /etc/passwd: permission denied\n"},
	} {
		spec := b.script(act, "")
		spec.Argv = c.argv
		b.start(spec)
		if got := code(b.wait(act)); got != c.want {
			t.Errorf("%s: %s, want %s", act, got, c.want)
		}
		if got := b.output(act); got != c.output {
			t.Errorf("%s: output %q, want %q", act, got, c.output)
		}
	}
}

// A start that fails is final and leaves an absent act; a spec that cannot run as given is refused.
func TestNotStarted(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	gone := b.script("gone", "echo hi")
	gone.Cwd = b.cwd + "/missing"
	if err := b.Start(ctx, gone); !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("missing directory: %v", err)
	}
	if st := b.state("gone"); st.Status != command.Absent {
		t.Errorf("missing directory leaves %s", st.Status)
	}
	broken := *b.Runner
	broken.Exe = []string{"/no/such/binary"}
	if err := broken.Start(ctx, b.script("noexe", "echo hi")); !errors.Is(err, ErrNotStarted) {
		t.Errorf("missing binary: %v", err)
	}
	broken.Exe = []string{"/bin/true"} // does not know what is asked of it
	if err := broken.Start(ctx, b.script("foreign", "echo hi")); !errors.Is(err, ErrNotStarted) {
		t.Errorf("foreign binary: %v", err)
	}
	if err := b.Start(ctx, b.script("noexe", "echo hi")); !errors.Is(err, ErrClaimed) {
		t.Errorf("second start: %v", err)
	}
	for name, spec := range map[string]command.Spec{
		"nul":      b.script("a", "echo a\x00b"),
		"nul only": b.script("a", "\x00"),
		"nul argv": {Session: testSession, Act: "a", Argv: []string{"true", "\x00"}, Cwd: "/"},
		"nul env":  {Session: testSession, Act: "a", Script: "x", Env: []string{"\x00A=1"}, Cwd: "/"},
		"relative": {Session: testSession, Act: "a", Script: "x", Cwd: "here"},
		"empty":    {Session: testSession, Act: "a", Cwd: "/"},
		"id":       {Session: "..", Act: "a", Script: "x", Cwd: "/"},
		"act":      {Session: testSession, Act: "a/b", Script: "x", Cwd: "/"},
	} {
		if err := b.Start(ctx, spec); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The second start of an act is refused, whatever the first one has come to.
func TestStartTwice(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "sleep 30"))
	if err := b.Start(context.Background(), b.script("a", "echo again")); !errors.Is(err, ErrClaimed) {
		t.Errorf("while running: %v", err)
	}
	if err := b.Remove(testSession, "a"); !errors.Is(err, ErrRunning) {
		t.Errorf("remove while running: %v", err)
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(context.Background(), b.script("a", "echo again")); !errors.Is(err, ErrClaimed) {
		t.Errorf("after the end: %v", err)
	}
	if err := b.Remove(testSession, "a"); err != nil {
		t.Fatal(err)
	}
	if acts, err := b.List(testSession); err != nil || len(acts) != 0 {
		t.Errorf("after remove: %v, %v", acts, err)
	}
	if _, err := os.Stat(b.Dir + "/" + testSession); !os.IsNotExist(err) {
		t.Errorf("session directory stays: %v", err)
	}
}

// The path of the home may contain anything that a shell would like to interpret.
func TestOddDirectory(t *testing.T) {
	b := newBench(t)
	b.Dir += "/a $HOME `id` 'x' \"y\" \\ é\n*"
	spec := b.script("a", "export A=1; cd /; echo hi")
	spec.Capture = true
	b.start(spec)
	if st := b.wait("a"); code(st) != "exited 0" || st.Cwd != "/" || deltaText(st.Env) != `A="1"` || b.output("a") != "hi\n" {
		t.Errorf("%s, cwd %q, delta %s, output %q", code(st), st.Cwd, deltaText(st.Env), b.output("a"))
	}
}

// A program that cannot be its own shim needs another one that can.
func TestCheck(t *testing.T) {
	reexecReady.Store(false)
	defer reexecReady.Store(true)
	dir := t.TempDir()
	if err := (&Runner{Dir: dir}).Check(); !errors.Is(err, ErrNoShim) {
		t.Errorf("without a shim: %v", err)
	}
	if err := (&Runner{Dir: dir, Exe: []string{"shim"}}).Check(); err != nil {
		t.Errorf("with a shim: %v", err)
	}
}
