package permission

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// realBash runs commands in a real bash whose PATH holds only traps, and reports
// what it executed.
type realBash struct {
	bash, dir, traps, log string
}

func newRealBash(t *testing.T) *realBash {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("the differential tests need bash: %v", err)
	}
	root := t.TempDir()
	b := &realBash{bash: bash, dir: filepath.Join(root, "work"), traps: filepath.Join(root, "traps"), log: filepath.Join(root, "log")}
	for _, dir := range []string{b.dir, b.traps} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	trap := "#!/bin/sh\necho \"${0##*/}\" >> '" + b.log + "'\n"
	for _, name := range []string{"git", "rm", "sh", "x", "y", "a", "b", "env", "sudo", "touch"} {
		if err := os.WriteFile(filepath.Join(b.traps, name), []byte(trap), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	show := "#!/bin/sh\nfor a; do printf '%s\\000' \"$a\"; done\n"
	if err := os.WriteFile(filepath.Join(b.traps, "argv"), []byte(show), 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// run executes the command and returns its standard output and the lines of the
// shell's own trace.
func (b *realBash) run(t *testing.T, command string) (stdout []byte, trace []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	traceFile, err := os.CreateTemp(filepath.Dir(b.dir), "trace")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(traceFile.Name())
	defer traceFile.Close()
	cmd := exec.CommandContext(ctx, b.bash, "--noprofile", "--norc", "-x", "-c", command)
	cmd.Dir = b.dir
	cmd.Env = []string{"PATH=" + b.traps, "HOME=/nonexistent", "BASH_XTRACEFD=3", "LC_ALL=C.UTF-8"}
	cmd.ExtraFiles = []*os.File{traceFile}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil && ctx.Err() != nil {
		t.Fatalf("%q did not end: %v", command, err)
	}
	text, err := os.ReadFile(traceFile.Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		trace = append(trace, strings.TrimSuffix(line, "\n"))
	}
	return out.Bytes(), trace
}

// onlyEcho reports what a run did besides echo.
func (b *realBash) onlyEcho(t *testing.T, command string) string {
	t.Helper()
	_, trace := b.run(t, command)
	if log, err := os.ReadFile(b.log); err == nil {
		os.Remove(b.log)
		return "it executed " + string(log)
	}
	if files, err := os.ReadDir(b.dir); err != nil || len(files) > 0 {
		os.RemoveAll(b.dir)
		os.Mkdir(b.dir, 0o700)
		return "it left files behind"
	}
	if len(trace) == 0 {
		return "it executed nothing"
	}
	for _, line := range trace {
		// A line that does not begin with the mark continues a quoted word; a
		// word that fakes the mark is left to the traps.
		mark := strings.HasPrefix(strings.TrimLeft(line, "+"), " ") && line[0] == '+' && !strings.Contains(command, "\n+")
		if mark && line != "+ echo" && !strings.HasPrefix(line, "+ echo ") {
			return "it executed " + line
		}
	}
	return ""
}

// The traps themselves must catch: without this the tests below prove nothing.
func TestRealBashCatches(t *testing.T) {
	b := newRealBash(t)
	for _, command := range []string{"git status", "echo $(git status)", "echo `rm x`", "x=1", "echo a > f", "echo a; x", "for i in a; do echo $i; done", "true", "[[ a ]]", "echo a & git x", "touch f", ":"} {
		if b.onlyEcho(t, command) == "" {
			t.Errorf("%q passed for a plain echo", command)
		}
	}
	for _, command := range []string{"echo", "echo a; echo b", "echo a | echo b", "echo 'x\ny' >/dev/null 2>&1"} {
		if got := b.onlyEcho(t, command); got != "" {
			t.Errorf("%q: %s", command, got)
		}
	}
}

// shellPieces are joined at random: most strings are nonsense, which is wanted.
func shellPieces() []string {
	return []string{
		"echo", "echo ", " ", " ", " ", "\t", "\n", ";", "&&", "||", "|", "&", "a", "b", "x", "git", "rm", "-n", "'", "\"", "\\", "`", "$", "$(", "${", ")", "}", "{", "(", "((", "))", "[", "]", "[[", "]]",
		"*", "?", "~", "!", "#", "=", "x=1", "a[0]=b", ",", "..", ":", "%", "^", "@", "+", "@(", "$'", "$\"", "\\x67", "\\047", "$x", "$1", "$((", "$[", "<(", ">(", "<<E", "<<<", ">", "<", ">>", ">&", "2>&1", ">/dev/null",
		"&>/dev/null", "</dev/null", ">&-", "|&", "\\\n", "\nE\n", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "function", "time", "coproc", "eval", "é", "☃", "　", "{a,b}", "''", "\"\"", "\\'", "\\\"", "$$", "-", "--", "1", "2",
	}
}

func randomCommand(rnd *rand.Rand, first string, pieces []string) string {
	var s strings.Builder
	s.WriteString(first)
	for range 1 + rnd.IntN(9) {
		s.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	return s.String()
}

// Whatever is allowed under Bash(echo:*) alone runs nothing but echo in a real
// bash: the corpus of attacks, and generated strings.
func TestAllowedEchoRunsOnlyEcho(t *testing.T) {
	b := newRealBash(t)
	p := Policy{Root: b.dir, Cwd: b.dir, Rules: []Rule{{Effect: Allow, Text: "Bash(echo:*)"}}}
	ran := 0
	try := func(command string) {
		if Decide(p, bash(command)).Effect != Allow {
			return
		}
		ran++
		if got := b.onlyEcho(t, command); got != "" {
			t.Errorf("%q is allowed, but %s", command, got)
		}
	}
	for _, command := range []string{
		"echo", "echo a", "echo 'a;b' \"c|d\" e\\;f", "echo a # ; git x", "echo a\necho b", "echo a && echo b || echo c; echo d | echo e", "echo \\\n a", "echo a2>&1", "echo 2>&1", "echo a>/dev/null",
		"echo \"a$\"", "echo {", "echo }", "echo a{b", "echo [", "echo * ?", "echo a=b", "echo \"\\$(git x)\"", "echo '$(git x)' \"\\`git x\\`\"", "echo a\\\nb", "echo \"a\\\nb\"", "echo -e '\\x41'",
	} {
		before := ran
		if try(command); ran == before && !strings.Contains(command, "a{b,") {
			t.Errorf("%q is not allowed: the test would prove nothing about it", command)
		}
	}
	seed, want := uint64(1), 250
	if os.Getenv("PERDURE_SOAK") != "" {
		seed, want = rand.Uint64(), 20000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	pieces := shellPieces()
	tries := 0
	for ; ran < want && tries < want*200; tries++ {
		try(randomCommand(rnd, "echo ", pieces))
	}
	if ran < want {
		t.Errorf("only %d of %d generated commands were allowed and run", ran, want)
	}
	t.Logf("%d strings judged, %d allowed and run", tries, ran)
}

// The words that rules are compared with are the words that bash passes on.
func TestWordsEqualRealBash(t *testing.T) {
	b := newRealBash(t)
	seed, want := uint64(2), 250
	if os.Getenv("PERDURE_SOAK") != "" {
		seed, want = rand.Uint64(), 20000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{
		"a", "b", " ", " ", "'", "'", "\"", "\"", "\\", "\\", "\\\n", "$", "$'", "\\n", "\\x41", "\\101", "\\u00e9", "\\'", "\\\"", "\\\\", "\\$", "\\`", "é", "{", "}", ",", "=", "#", "!", "[", "]", "~", ":", "-", "\t", "''", "\"\"", "%", "^", ".", "..", "@", "+", "\\e", "\\0", "\\cA", "\\U41", "\\x",
	}
	ran := 0
	for tries := 0; ran < want && tries < want*100; tries++ {
		command := randomCommand(rnd, "argv ", pieces)
		s := analyse(bash(command))
		if s.broken || len(s.all) != 1 || len(s.top) != 1 {
			continue
		}
		var expect strings.Builder
		known := true
		for _, w := range s.all[0].argv[1:] {
			known = known && w.known
			expect.WriteString(w.text + "\x00")
		}
		if !known || len(s.all[0].argv) == 1 {
			continue
		}
		ran++
		if out, _ := b.run(t, command); string(out) != expect.String() {
			t.Errorf("%q: bash passes %q, the matcher reads %q", command, out, expect.String())
		}
	}
	if ran < want {
		t.Errorf("only %d of %d generated commands could be compared", ran, want)
	}
}

// What a deny rule does not stop in mode bypassPermissions does not run the
// denied program in a real bash either, with real wrappers on the PATH.
func TestUndeniedNeverRunsDenied(t *testing.T) {
	b := newRealBash(t)
	for _, name := range []string{"env", "timeout", "nice", "nohup", "xargs", "sh", "find", "setsid", "stdbuf"} {
		real, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		os.Remove(filepath.Join(b.traps, name))
		if err := os.Symlink(real, filepath.Join(b.traps, name)); err != nil {
			t.Fatal(err)
		}
	}
	ranDenied := func(command string) bool {
		b.run(t, command)
		log, _ := os.ReadFile(b.log)
		os.Remove(b.log)
		os.RemoveAll(b.dir)
		os.Mkdir(b.dir, 0o700)
		return strings.Contains("\n"+string(log), "\nrm\n")
	}
	// Negative control: with the wrappers the traps are reached.
	for _, command := range []string{"rm", "env rm", "timeout 5 rm", "sh -c rm", "echo a | xargs rm", "eval rm", "X=rm; $X"} {
		if !ranDenied(command) {
			t.Fatalf("%q did not reach the trap", command)
		}
	}
	seed, want := uint64(3), 200
	if os.Getenv("PERDURE_SOAK") != "" {
		seed, want = rand.Uint64(), 20000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{
		"rm", "rm", "rm ", " rm ", "'rm'", "$'rm'", "r\\m", "r", "m", " ", " ", ";", "\n", "|", "&&", "||", "&", "$(", ")", "`", "'", "\"", "\\", "(", "{ ", ";}", "eval ", "exec ", "command ", "builtin ", "env ", "env -i ", "env -S ",
		"env a=b ", "timeout 5 ", "timeout -s 9 5 ", "nice ", "nice -n 1 ", "nohup ", "xargs ", "echo rm | ", "sh -c ", "sh -c '", "find -exec ", " ;", " \\;", "setsid ", "stdbuf -o0 ", "x=", "x=rm;", "$x", "${x:-", "}", "<(", "<<E\n", "\nE\n", "<<<",
		"#", "\\\n", "!", "if ", "then ", "fi", "for i in ", "do ", "done", "case a in a) ", ";;", "esac", "f()", "f", "time ", "coproc ", "trap ", " EXIT", "echo ", "a", "-", "--", "-c ", "[[ ", " ]]", "((", "))", "a[", "]", "=", "$[", "$((", "{rm,", "r?", "alias ", "source ", ". ", "&>f", ">f", "2>&1", "~", "@(", "declare ", "export ", "let ",
	}
	p := Policy{Mode: ModeBypass, Root: b.dir, Cwd: b.dir, Rules: []Rule{{Effect: Deny, Text: "Bash(rm:*)"}}}
	ran, tries, before := 0, 0, []string{}
	for ; ran < want && tries < want*300; tries++ {
		command := randomCommand(rnd, pieces[rnd.IntN(len(pieces))], pieces)
		if !strings.Contains(command, "m") || Decide(p, bash(command)).Effect != Allow {
			continue
		}
		ran++
		if ranDenied(command) {
			t.Errorf("%q is not stopped, but it, or one left behind by %q, runs rm", command, before)
		}
		before = append(before[max(0, len(before)-4):], command)
	}
	if ran < want {
		t.Errorf("only %d of %d generated commands were run", ran, want)
	}
	t.Logf("%d strings judged, %d run", tries, ran)
}
