package permission

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A batch runs many allowed lines in one real bash, and says which programs with which words it would have executed.
// There is nothing on the PATH and nearly every builtin is off, so each command ends in the handler below, which writes
// its words down. Only eval and enable are left: what they run ends there too.

const batchDriver = `
nl=$'\n' no=$'\x01' # bash writes line by line, and records must not mix
exec 250>>"$1"
command_not_found_handle() { enable set printf; set -- "${@//$nl/$no}"; printf '%s\0' "$n" "$#" "$@" >&250; [[ $(( (RANDOM + n) % 3 )) != 0 ]]; }
for b in $(compgen -b); do case $b in eval|enable) ;; *) off+=" $b";; esac; done
n=0
while IFS= read -r -d '' line <&251; do
  ( enable -n $off; eval "$line" ) </dev/null >/dev/null
  n=$((n + 1))
done 251<"$2"
`

// allowedLine is a line that was allowed, and the commands that it was allowed for.
type allowedLine struct {
	text   string
	pieces [][]word
}

// fits reports that the shell may have made these arguments of the words: a pattern stands for one file or more.
func fits(words []word, argv []string) bool {
	if len(words) == 0 || len(argv) == 0 {
		return len(words) == len(argv)
	}
	w := words[0]
	if !w.glob {
		return w.text == argv[0] && fits(words[1:], argv[1:])
	}
	if w.text != argv[0] && !overlap(formTokens(w.form, false), literalTokens(argv[0])) {
		return false
	}
	return fits(words[1:], argv[1:]) || fits(words, argv[1:])
}

type batchBash struct{ bash, dir, root string }

func newBatchBash(t *testing.T) *batchBash {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatalf("the differential tests need bash: %v", err)
	}
	b := &batchBash{bash: bash, root: t.TempDir()}
	b.dir = filepath.Join(b.root, "empty")
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// foreign runs the lines and says what they did beyond their pieces, at most ten things.
func (b *batchBash) foreign(t *testing.T, locale string, lines []allowedLine) (found []string) {
	t.Helper()
	var input bytes.Buffer
	for _, l := range lines {
		input.WriteString(l.text + "\x00")
	}
	logFile, in := filepath.Join(b.root, "log"), filepath.Join(b.root, "lines")
	for path, text := range map[string][]byte{logFile: nil, in: input.Bytes()} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bash, "--noprofile", "--norc", "-c", batchDriver, "bash", logFile, in)
	cmd.Dir, cmd.Env = b.dir, []string{"PATH=/nonexistent", "HOME=" + b.dir, "LC_ALL=" + locale}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); ctx.Err() != nil {
		t.Fatalf("%d lines did not end: %v", len(lines), err)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "No such file") || strings.Contains(line, "ermission denied") || strings.Contains(line, "s a directory") || strings.Contains(line, "syntax error") {
			found = append(found, "an error of bash: "+line)
		}
	}
	if files, err := os.ReadDir(b.dir); err != nil || len(files) > 0 {
		found = append(found, fmt.Sprintf("files were left behind: %v", files))
		os.RemoveAll(b.dir)
		os.Mkdir(b.dir, 0o700)
	}
	log, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	fields, ran := strings.Split(strings.ReplaceAll(string(log), "\x01", "\n"), "\x00"), 0
	for len(fields) > 2 && len(found) < 10 {
		n, err1 := strconv.Atoi(fields[0])
		argc, err2 := strconv.Atoi(fields[1])
		if err1 != nil || err2 != nil || n >= len(lines) || len(fields) < 2+argc {
			return append(found, "the log cannot be read")
		}
		argv := fields[2 : 2+argc]
		if !slices.ContainsFunc(lines[n].pieces, func(p []word) bool { return fits(p, argv) }) {
			found = append(found, fmt.Sprintf("%q executed %q, which is none of its commands", lines[n].text, argv))
		}
		fields, ran = fields[2+argc:], ran+1
	}
	if ran == 0 && len(lines) > 0 {
		found = append(found, "nothing was executed")
	}
	return found
}

// lineParts are what random lines are made of.
type lineParts struct{ commands, words, redirects, joins, bytes []string }

func parts() lineParts {
	return lineParts{
		commands:  []string{"git status", "git log", "git diff", "ls", "echo", "cat", "grep x", "make test", "go test", "go vet", "head -5", "wc", "printf %s", "uniq", "npm run lint"},
		words:     strings.Split(`a|b|x|-n|-l|--oneline|--stat|.|..|./x|a/b|src/*.go|*.txt|?|[ab]|[!a]*|*|'a b'|"a b"|a\ b|'$(x)'|"\$(x)"|'\`+"`"+`x\`+"`"+`'|\$x|\;|\&|\||\>|\<|\(|\)|';'|'&&'|"|"|">f"|'`+"\n"+`'|""|''|a''b|"a"'b'c|a"b"c|--|-|@{u}|HEAD~3|HEAD^|a^b|a~|~|~/x|a=~|a=b|{a,b}|{a|a}|{}|{1..3}|a{b,c}|a,b|$x|"$x"|${x}|$1|$@|$?|$$|$(x)|"$(x)"|`+"`x`"+`|"`+"`x`"+`"|$((1+1))|$'a'|$'\x41'|$"a"|<(x)|>(x)|#|a#b|#a|\#|'#'|!|!x|a!b|[[|]]|((|))|[|]|if|then|fi|for|do|done|in|{|}|time|coproc|function|case|esac|é|☃|日本|表|　|é\;|☃\||表\\|%|%s|^|+|:|@|@(a)|+(a)|a\`+"\n"+`b|\`+"\n"+`|'a\`+"\n"+`b'|"a\`+"\n"+`b"|\\|'\'|"\\"|"\a"|\a|2|12|x=1|x+=1|a[0]=1|-v|-x|\-|'-'|0x|=|==|/|//|/dev/null|-e|"!"|'"'|"'"|\'|\"|&x|x&|x;|;x|x\||(x)|()|x()|a'|b"|'|"|\`, "|"),
		redirects: strings.Split(`2>&1|>/dev/null|2>/dev/null|&>/dev/null|</dev/null|>&2|2>&-|<&-|>&-|1>&2|>>/dev/null|2>>/dev/null|>&1|<&0|0<&-|>f|>>f|2>f|&>f|<f|<>f|>\|f|<<E|<<<x|<<<$(x)|>&f|2>&1x|>&-''|<&-""|2>&''1|>&"1"|>/dev/null/../x|>/dev/nul\l|>"/dev/null"|>'/dev/null'|>/dev/null''|{fd}>f|{fd}>&1|99>&1|100>&1|2>&$x|>$x|>(x)|<(x)|>&|2>|<|3>&1|1>&2-|>&2-|2>&1-|<<'E'|<<-E|&>>/dev/null|>& /dev/null|> /dev/null|2> /dev/null|>\`+"\n"+`/dev/null|>/dev/nul?|>/dev/{null,x}|>#|2>#x|>&!|>&\1|<&\-`, "|"),
		joins:     []string{" && ", " || ", "; ", " | ", "\n", ";", "&&", "||", "|", " \n ", ";\n", " && \n", " |\n", "\n\n", " & ", "&", " |& ", ";;", " ; ; ", "& &", "|&", " #c\n", "#c\n", " # '\n", " \\\n", "\\\n", ") ", " (", " { ", " }", " ! ", "\n#x\n", " #\\\n", "||\\\n", "&&#c\n", "|#c\n", " <<E\nx\nE\n", "\nE\n", " 'a\nb' ", "\t", "\t\n", " \t&& ", "; time ", " | ! ", ";coproc "},
		bytes:     []string{"'", "\"", "\\", "`", "$", ";", "&", "|", "\n", "(", ")", "{", "}", "<", ">", "#", " ", "\t", "!", "=", "~", "[", "]", "*", "?", "a", "-", "1", "é", "☃"},
	}
}

// line composes one line: commands with words and redirects, joined, and now and then a byte edited.
func (p lineParts) line(rnd *rand.Rand) string {
	pick := func(list []string) string { return list[rnd.IntN(len(list))] }
	// Most parts are harmless: a line of nothing but odd ones is seldom allowed, and proves nothing.
	tame := func(list []string, n int) string {
		if rnd.IntN(4) > 0 {
			return list[rnd.IntN(n)]
		}
		return pick(list)
	}
	var b strings.Builder
	for i := range 1 + rnd.IntN(4) {
		if i > 0 {
			b.WriteString(tame(p.joins, 14))
		}
		b.WriteString(pick(p.commands))
		for range rnd.IntN(4) {
			b.WriteString(" " + tame(p.words, 56))
		}
		if rnd.IntN(3) == 0 {
			b.WriteString(" " + tame(p.redirects, 15))
		}
	}
	s := b.String()
	for range rnd.IntN(8) / 5 {
		at := rnd.IntN(len(s) + 1)
		switch rnd.IntN(3) {
		case 0:
			s = s[:at] + pick(p.bytes) + s[at:]
		case 1:
			s = s[:at] + s[min(len(s), at+1):]
		default:
			s = s[:at] + pick(p.bytes) + s[min(len(s), at+1):]
		}
	}
	return s
}

// piecesOf are the commands that a line was judged by.
func piecesOf(line string) (pieces [][]word) {
	for _, c := range analyse(bash(line)).top {
		pieces = append(pieces, c.argv)
	}
	return pieces
}

func batchPolicy(dir string) Policy {
	p := testPolicy(ModeDefault, "Bash(git:*)", "Bash(ls:*)", "Bash(echo:*)", "Bash(cat:*)", "Bash(grep:*)", "Bash(make test)", "Bash(go test:*)", "Bash(go vet:*)", "Bash(head:*)", "Bash(wc:*)", "Bash(printf:*)",
		"Bash(npm run lint)", "Bash(make test a)")
	p.Root, p.Cwd, p.Env = dir, dir, map[string]string{"LC_ALL": "C.UTF-8"}
	return p
}

// Goal: of lines made at random, whatever the rules allow executes in a real bash exactly the commands that were
// compared with the rules, and leaves no file.
func TestAllowedLinesRunWhatWasJudged(t *testing.T) {
	b := newBatchBash(t)
	p := batchPolicy(b.dir)
	seed, judged := uint64(4), 100_000
	switch {
	case os.Getenv("PERDURE_SOAK") != "":
		seed, judged = rand.Uint64(), 1_000_000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	ps := parts()
	var batch []allowedLine
	ran, odd := 0, 0
	flush := func() {
		locale := []string{"C.UTF-8", "C"}[ran/500%2]
		for _, f := range b.foreign(t, locale, batch) {
			t.Errorf("in %s: %s", locale, f)
		}
		ran, batch = ran+len(batch), nil
	}
	for range judged {
		line := ps.line(rnd)
		if Decide(p, bash(line)).Effect != Allow {
			odd++
			continue
		}
		if batch = append(batch, allowedLine{line, piecesOf(line)}); len(batch) == 500 {
			flush()
		}
		if t.Failed() {
			break
		}
	}
	flush()
	if ran < judged/50 || odd < judged/10 {
		t.Errorf("of %d lines %d were allowed and run: they prove little", judged, ran)
	}
	t.Logf("%d lines judged, %d allowed and run", judged, ran)
}

func control(pieces string) (words []word) {
	for _, f := range strings.Split(pieces, " ") {
		words = append(words, literal(f))
	}
	return words
}

// Goal: the harness notices. Each control allows what it should not, or misreads it, and must be caught.
func TestAllowedLinesControls(t *testing.T) {
	b := newBatchBash(t)
	for text, pieces := range map[string]string{
		"make test <&-''": "make test", "echo a; x": "echo a", "echo a | b": "echo a", "echo $(x)": "echo \x00", "echo a{b,c}": "echo a{b,c}", "echo 'a b'": "echo a b", "echo a\\\nb": "echo a", "echo a # b\nx": "echo a",
		"echo a > f": "echo a", "(x)": "ls", "echo a & x": "echo a", "if ls; then x; else x; fi": "ls", "f() { x; }; f": "f", "./x": "x", "echo 'a": "echo a", "time x": "time x", "x=y; $x": "x", "echo \"a\\b\"": "echo ab", "ls\nx": "ls x", "eval x y": "eval x y", "echo $'a'": "echo $a",
	} {
		if found := b.foreign(t, "C.UTF-8", []allowedLine{{text, [][]word{control(pieces)}}}); len(found) == 0 {
			t.Errorf("%q passed for %q", text, pieces)
		}
	}
	// The matcher without one of its reasons to ask.
	ps := parts()
	names := []string{"git", "ls", "echo", "cat", "grep", "make", "go", "head", "wc", "printf", "uniq", "npm"}
	for _, ignored := range []string{"it redirects", "it uses shell syntax", "the word", "the command does not parse", "it continues a line"} {
		rnd := rand.New(rand.NewPCG(5, 0))
		var batch []allowedLine
		for range 40_000 {
			line := ps.line(rnd)
			if s := analyse(bash(line)); refusedBytes(bash(line)) == "" && strings.HasPrefix(s.why, ignored) &&
				!strings.ContainsAny(line, "/~") && // such a line may write somewhere else
				!slices.ContainsFunc(s.top, func(c command) bool { return len(c.argv) == 0 || !slices.Contains(names, c.argv[0].text) }) {
				if batch = append(batch, allowedLine{line, piecesOf(line)}); len(batch) == 100 {
					break
				}
			}
		}
		if len(batch) == 0 || len(b.foreign(t, "C.UTF-8", batch)) == 0 {
			t.Errorf("without the reason %q nothing was noticed in %d lines", ignored, len(batch))
		}
	}
}
