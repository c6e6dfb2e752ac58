package tools

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
)

// Goal: the input is read as the model meant it, within its bounds.
func TestBashCommand(t *testing.T) {
	for _, c := range []struct {
		input string
		want  Command
	}{
		{`{"command":"ls"}`, Command{Script: "ls", TimeoutMS: 120_000}},
		{`{"command":"ls","timeout":5000,"description":"List"}`, Command{Script: "ls", TimeoutMS: 5000, Description: "List"}},
		{`{"command":"ls","timeout":"900000"}`, Command{Script: "ls", TimeoutMS: 600_000}},
		{`{"command":"srv","timeout":5000,"run_in_background":"true"}`, Command{Script: "srv", Background: true}},
	} {
		got, refusal := bash{}.Command(Call{Name: "Bash", Input: []byte(c.input)})
		if refusal != nil || *got != c.want {
			t.Errorf("%s: %+v, %+v", c.input, got, refusal)
		}
	}
	for _, input := range []string{
		`{"command":""}`, `{"command":" \n"}`, `{"command":"a\u0000b"}`, `{"command":"ls","timeout":0}`, `{"command":["ls"]}`,
		`{"command":"` + strings.Repeat("x", maxScript+1) + `"}`,
	} {
		if _, refusal := (bash{}).Command(Call{Name: "Bash", Input: []byte(input)}); refusal == nil || !refusal.IsError {
			t.Errorf("accepted: %s", clipText(input, 80))
		}
	}
}

// Goal: each end of a command is worded once and for all, and only a real exit code is ever named.
func TestBashResult(t *testing.T) {
	cmd := Command{Script: "x", TimeoutMS: 120_000}
	killed := func(by string) command.State {
		return command.State{Status: command.Killed, Signal: "SIGKILL", By: by}
	}
	lost := func(reason string) command.State {
		return command.State{Status: command.Lost, Reason: reason}
	}
	straggling := code(0)
	straggling.Stragglers = 2
	for _, c := range []struct {
		name    string
		cmd     Command
		st      command.State
		out     string
		isError bool
		want    string
	}{
		{"success", cmd, code(0), "a\nb\n", false, "a\nb"},
		{"silent", cmd, code(0), "", false, "(no output)"},
		{"failure", cmd, code(3), "oops\n", true, "oops\nexit code 3"},
		{"silent failure", cmd, code(1), "", true, "(no output)\nexit code 1"},
		{"no status", cmd, command.State{Status: command.Exited}, "a", true, "a\nended, but its exit status is unknown"},
		{"timeout", cmd, killed("timeout"), "a\n", true, "a\ntimed out after 120 s; the whole process tree was killed"},
		{"short timeout", Command{TimeoutMS: 1500}, killed("timeout"), "", true, "timed out after 1.5 s; the whole process tree was killed"},
		{"user", cmd, killed("user"), "", true, "killed by SIGKILL, sent by the user"},
		{"stranger", cmd, killed("unknown"), "", true, "killed by SIGKILL; who sent it is unknown"},
		{"reboot", cmd, lost("reboot"), "a", true, "a\noutcome unknown: the command may have run, but its end was not seen " +
			"(the machine was restarted). Check what it did before running it again"},
		{"absent", cmd, command.State{Status: command.Absent}, "", true, "the command did not run"},
		{"running", cmd, command.State{Status: command.Running}, "a", false, "a\nthe command is still running"},
		{"stragglers", cmd, straggling, "a", false, "a\n2 processes that it started are still running"},
		{"named stragglers", Command{Task: "bash_3"}, straggling, "a", false, "a\n2 processes that it started are still running as bash_3"},
	} {
		r := bash{}.Result(c.cmd, c.st, Output{Head: []byte(c.out), Total: int64(len(c.out))})
		if got := model.Text(r.Content); got != c.want || r.IsError != c.isError {
			t.Errorf("%s (error %v):\n%s\nwant:\n%s", c.name, r.IsError, got, c.want)
		}
		text := model.Text(r.Content)
		if strings.Contains(text, "exit code") != (c.st.ExitCode != nil && *c.st.ExitCode != 0) {
			t.Errorf("%s: names an exit code or does not:\n%s", c.name, text)
		}
	}
	w := newWorld(t)
	w.golden(BackgroundResult("bash_1", 42), false, "running in background as bash_1 (pid 42); read its output with BashOutput, end it with KillBash")
}

// Goal: what is not shown of a long output is counted to the byte, named with its path, and cut between lines.
func TestBashLongOutput(t *testing.T) {
	var all strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&all, "line %d ü\n", i)
	}
	whole := all.String()
	for _, out := range []Output{
		{Head: []byte(whole), Total: int64(len(whole)), Path: "/out"},
		{Head: []byte(whole[:20_003]), Tail: []byte(whole[len(whole)-20_005:]), Omitted: int64(len(whole) - 40_008), Total: int64(len(whole)), Path: "/out"},
	} {
		text := model.Text(bash{}.Result(Command{}, code(0), out).Content)
		m := regexp.MustCompile(`(?m)^\[(\d+) bytes omitted; the whole output: /out\]\n`).FindStringSubmatchIndex(text)
		if m == nil || !utf8.ValidString(text) || len(text) > maxOutput+100 || len(text) < maxOutput*3/4 {
			t.Fatalf("%d bytes, mark at %v", len(text), m)
		}
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		head, tail := text[:m[0]], text[m[1]:]
		if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail+"\n") || len(head)+n+len(tail)+1 != len(whole) {
			t.Errorf("%d + %d + %d bytes of %d", len(head), n, len(tail), len(whole))
		}
		if !strings.HasSuffix(head, "\n") || !strings.HasPrefix(tail, "line ") {
			t.Errorf("not cut between lines: %q … %q", head[len(head)-20:], tail[:20])
		}
	}
	torn := bash{}.Result(Command{}, code(0), Output{Head: []byte("gr\xc3"), Tail: []byte("\xbcn\n"), Omitted: 10, Total: 16, Path: "/out"})
	if got := model.Text(torn.Content); got != "gr\n[12 bytes omitted; the whole output: /out]\nn" {
		t.Errorf("torn characters: %q", got)
	}
	exact := strings.Repeat("x", maxOutput)
	if got := model.Text(bash{}.Result(Command{}, code(0), Output{Head: []byte(exact)}).Content); got != exact {
		t.Error("output at the cap is cut")
	}
	r := bash{}.Result(Command{}, code(0), Output{Head: []byte(whole)})
	if string(r.Full) != whole {
		t.Error("an output without a path is cut and not kept")
	}
	one := strings.Repeat("ü", 100_000) // one line: cut between characters
	text := model.Text(bash{}.Result(Command{}, code(0), Output{Head: []byte("a" + one)}).Content)
	if !utf8.ValidString(text) || strings.Contains(text, "\uFFFD") || !strings.Contains(text, " bytes omitted]") {
		t.Errorf("one long line is cut badly: %q", text[len(text)/2-60:len(text)/2+60])
	}
}

// Goal: output is readable: progress bars collapse, escapes and controls go, invalid bytes are marked.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":        "plain\ttext\n",
		"10%\r20%\r100%\ndone": "100%\ndone",
		"10%\r20%\r":           "20%",
		"dos\r\nfile\r\n":      "dos\nfile\n",
		"\x1b[31mred\x1b[0m \x1b[1;32mok\x1b[m\n":                        "red ok\n",
		"\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n": "textlink\n",
		"\x1b(B\x1b[?25l\x1b[2K\rhello\x1b=\n":                           "hello\n",
		"N\bNA\bAME x\b\by":                                              "NAMEy",
		"a\x00b\x07c\x7f\n":                                              "abc\n",
		"bad \xff\xfe byte\n":                                            "bad \uFFFD byte\n",
		"\xc3\xbcber\n":                                                  "über\n",
		"end \x1b":                                                       "end ",
		"\x1b[31":                                                        "",
		"\x1b]52;c;ZXZpbA==\nnext":                                       "\nnext",
	} {
		for _, step := range []int{1, 2, 7, 1000} {
			var got strings.Builder
			c := &cleaner{emit: func(b []byte) { got.Write(b) }}
			for at := 0; at < len(in); at += step {
				c.write([]byte(in[at:min(len(in), at+step)]))
			}
			c.flush()
			if got.String() != want {
				t.Errorf("%q by %d: %q, want %q", in, step, got.String(), want)
			}
		}
	}
	// A progress bar of hours, and a line without end, need bounded memory and lose nothing that shows.
	var got strings.Builder
	c := &cleaner{emit: func(b []byte) { got.Write(b) }}
	for i := range 200_000 {
		c.write([]byte("\rprogress " + strconv.Itoa(i)))
	}
	c.write([]byte("\n"))
	if got.String() != "progress 199999\n" || cap(c.carry) > 4*maxLine {
		t.Errorf("progress: %q, %d bytes held", clipText(got.String(), 100), cap(c.carry))
	}
	got.Reset()
	long := strings.Repeat("ü", 3*maxLine)
	c.write([]byte(long))
	c.flush()
	if got.String() != long {
		t.Errorf("a long line came as %d bytes of %d", got.Len(), len(long))
	}
}

// Goal: cleaning and clipping never panic, give valid UTF-8, keep the bound and account for every byte.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\r\x1b[3\xc3\nb"), 7, 20)
	f.Fuzz(func(t *testing.T, b []byte, cut, limit int) {
		cut, limit = max(1, cut%64), 10+max(0, limit%1000)
		k := &clip{max: limit}
		var clean int64
		c := &cleaner{emit: func(p []byte) { clean += int64(len(p)); k.write(p) }}
		for at := 0; at < len(b); at += cut {
			c.write(b[at:min(len(b), at+cut)])
		}
		c.flush()
		text := k.text("")
		if !utf8.ValidString(text) {
			t.Errorf("invalid UTF-8: %q", text)
		}
		if int64(len(k.head)+len(k.tail))+k.omitted != clean || len(k.head)+len(k.tail) > limit {
			t.Errorf("%d + %d shown, %d omitted, %d in all, bound %d", len(k.head), len(k.tail), k.omitted, clean, limit)
		}
	})
}

// Goal: output that nobody could hold is told, in a result, in BashOutput once it is passed and at the end, and never
// where nothing is missing.
func TestMissingOutput(t *testing.T) {
	const told = "what it printed after byte 4 may be missing: nobody was reading"
	from := int64(4)
	st := code(3)
	st.MissingAfter = &from
	w := newWorld(t)
	w.golden(bash{}.Result(Command{}, st, Output{}), true, "(no output)\n"+told+"\nexit code 3")
	w.golden(bash{}.Result(Command{}, st, Output{Head: []byte("one\n"), Total: 4}), true, "one\n"+told+"\nexit code 3")

	look := obj{"bash_id": "bash_1"}
	alive := running
	alive.MissingAfter = &from
	w, task := newTask(t, "one\n", alive)
	w.golden(w.call("BashOutput", look), false, "one\n"+told+"\nbash_1 is running")
	task.out += "five\n"
	w.golden(w.call("BashOutput", look), false, "five\n"+told+"\nbash_1 is running")
	w.golden(w.call("BashOutput", look), false, "(no new output)\nbash_1 is running")
	task.st = st
	w.golden(w.call("BashOutput", look), false, "(no new output)\n"+told+"\nbash_1 has ended\nexit code 3")
}
