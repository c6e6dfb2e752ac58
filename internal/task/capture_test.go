//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// deltaText prints a delta in a fixed order: "A=1 -B".
func deltaText(delta command.EnvDelta) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(delta)) {
		if v := delta[k]; v != nil {
			parts = append(parts, fmt.Sprintf("%s=%q", k, *v))
		} else {
			parts = append(parts, "-"+k)
		}
	}
	return strings.Join(parts, " ")
}

// captureCase is a script and what has to be known after it.
type captureCase struct {
	script      string
	code        int
	output      string
	cwd         string // relative to the first one; "-" when nothing may be reported
	env         string
	stderrOther bool // the output is not compared

	fileCode   int    // when the script is a file, if that differs
	fileOutput string // the same
}

var captureCases = map[string]captureCase{
	"nothing":      {script: "true"},
	"cd":           {script: "mkdir -p d && cd d", cwd: "/d"},
	"cdnewline":    {script: "mkdir -p $'d\\ne' && cd $'d\\ne'", cwd: "/d\ne"},
	"cdgone":       {script: "mkdir x && cd x && rmdir ../x && export A=1", cwd: "-", env: `A="1"`},
	"export":       {script: "export A=1 B='x y'; C=3", env: `A="1" B="x y"`},
	"unset":        {script: "unset OLD; export NEW=", env: `NEW="" -OLD`},
	"unexport":     {script: "export -n OLD", env: `-OLD`},
	"values":       {script: `export A=$'a\nb\t"\'\\$x` + "`" + `' B=é C=$'\x01\x7f' D='declare -x E="1"' F=$'\xff'`, env: `A="a\nb\t\"'\\$x` + "`" + `" B="é" C="\x01\x7f" D="declare -x E=\"1\""`},
	"array":        {script: `declare -ax L=(a "b)"); export A=1`, env: `A="1"`},
	"novalue":      {script: `export N; export A=1`, env: `A="1"`},
	"attributes":   {script: `declare -irx I=5; declare -lx S=ABC`, env: `I="5" S="abc"`},
	"functions":    {script: `f() { echo hi; }; export -f f; f`, output: "hi\n"},
	"percommand":   {script: `export TMPDIR=/x PERDURE_X=1 SHLVL=9 PWD=/ OLDPWD=/ A=1`, env: `A="1"`},
	"exit":         {script: "export A=1; exit 7; export A=2", code: 7, env: `A="1"`},
	"errexit":      {script: "set -e; export A=1; false; export A=2", code: 1, env: `A="1"`},
	"nounset":      {script: "set -u; export A=1; echo $nope 2>/dev/null", code: 127, fileCode: 1, env: `A="1"`, stderrOther: true},
	"xtrace":       {script: "set -x; export A=1", output: "+ export A=1\n+ A=1\n", env: `A="1"`},
	"noclobber":    {script: "set -C; umask 777; export A=1", env: `A="1"`},
	"allexport":    {script: "set -a; A=1", env: `A="1"`},
	"posix":        {script: "set -o posix; export A='x \"y'", env: `A="x \"y"`},
	"nopath":       {script: "unset PATH; export A=1", env: `A="1" -PATH`},
	"closed":       {script: "export A=1; exec >&- 2>&- <&-", env: `A="1"`},
	"exec":         {script: "export A=1; exec printf done", output: "done", cwd: "-"},
	"execfd":       {script: "exec 3>&1; export A=1; echo x >&3", output: "x\n", env: `A="1"`},
	"kill":         {script: "export A=1; kill -9 $$", code: -1, cwd: "-"},
	"parse":        {script: "export A=1\nif then (", code: 2, env: `A="1"`, stderrOther: true},
	"subshell":     {script: "(cd /; export A=1); echo $(cd /; pwd)", output: "/\n"},
	"trap":         {script: "trap 'echo bye $?' EXIT; export A=1; exit 3", code: 3, output: "bye 3\n", env: `A="1"`},
	"traperrexit":  {script: "set -e; trap 'echo bye $?; false; echo not' EXIT; false", code: 1, output: "bye 1\n"},
	"trapok":       {script: "set -eu; trap 'echo bye $?' 0; export A=1", output: "bye 0\n", env: `A="1"`},
	"trapexit":     {script: "trap 'exit 9' EXIT; export A=1", code: 9, env: `A="1"`},
	"trapx":        {script: "set -x; trap 'echo bye' EXIT; exit 2", code: 2, output: "+ trap 'echo bye' EXIT\n+ exit 2\n+ echo bye\nbye\n"},
	"trapreset":    {script: "trap 'echo bye' EXIT; trap - EXIT; export A=1", env: `A="1"`},
	"trapone":      {script: "trap 'echo bye' EXIT; trap EXIT; export A=1", env: `A="1"`},
	"trapignore":   {script: "trap '' EXIT; export A=1", env: `A="1"`},
	"trapmore":     {script: "trap 'echo got' EXIT USR1; kill -USR1 $$; export A=1", output: "got\ngot\n", env: `A="1"`},
	"trapother":    {script: "trap 'echo usr' USR1; kill -USR1 $$; trap -p USR1; export A=1", output: "usr\ntrap -- 'echo usr' SIGUSR1\n", env: `A="1"`},
	"trapsub":      {script: "(trap 'echo sub' EXIT); export A=1", output: "sub\n", env: `A="1"`},
	"trapsave":     {script: `old=$(trap -p EXIT); trap 'echo bye' EXIT; eval "$old"; export A=1`, env: `A="1"`},
	"traperr":      {script: "trap 'echo err' ERR; false; export A=1", output: "err\n", env: `A="1"`},
	"trapquote":    {script: `x="it's"; trap 'echo "$x" # c' EXIT; export A=1`, output: "it's\n", env: `A="1"`},
	"trapdashes":   {script: "trap -- 'echo bye' EXIT; export A=1", output: "bye\n", env: `A="1"`},
	"trapfunction": {script: "f() { trap 'echo bye' EXIT; }; f; export A=1", output: "bye\n", env: `A="1"`},
	"trapterm":     {script: "trap 'echo term; exit 4' TERM; kill -TERM $$; sleep 5", code: 4, output: "term\n"},
	"term":         {script: "export A=1; kill -TERM $$", code: -1, cwd: "-"},
	"zero":         {script: `echo "${0##*/} $# ${BASH_SOURCE##*/} $LINENO" ; return 2>/dev/null; echo on`, output: "bash 0  1\non\n", fileOutput: "script 0 script 1\non\n"},
	"bashenv":      {script: `echo "[$BASH_ENV]"; bash -c 'echo "[$BASH_ENV]"; trap "echo in" EXIT'`, output: "[]\n[]\nin\n"},
	"imported":     {script: `evil; export A=1`, output: "good\n", env: `A="1"`},
	"noeol":        {script: "export A=1 # no newline", env: `A="1"`},
	"background":   {script: "trap 'echo bye' EXIT; { true & wait; }; export A=1", output: "bye\n", env: `A="1"`},
}

// Working directory and exported environment survive the shell, whatever the script does on its way out; and the
// script behaves, prints and exits as without the report.
func TestCapture(t *testing.T) {
	for name, c := range captureCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, name)
		})
		t.Run(name+"/file", func(t *testing.T) {
			t.Parallel()
			c.script += "\n#" + strings.Repeat("x", maxInline)
			if c.fileOutput != "" {
				c.output = c.fileOutput
			}
			if c.fileCode != 0 {
				c.code = c.fileCode
			}
			c.check(t, name)
		})
	}
}

func (c captureCase) check(t *testing.T, name string) {
	b := newBench(t)
	spec := b.script("a", c.script)
	spec.Capture = true
	spec.Env = append(spec.Env, "OLD=was", "BASH_FUNC_evil%%=() { echo evil; }", "ODD.NAME=1", "BASH_ENV=/no/such", "PERDURE_SESSION_ID=s")
	if name == "imported" {
		good := b.cwd + "/evil"
		if err := os.WriteFile(good, []byte("#!/bin/sh\necho good\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		spec.Env = append(spec.Env, "PATH="+b.cwd+":"+os.Getenv("PATH"))
	}
	b.start(spec)
	st := b.wait("a")
	if got := -1; c.code != got && (st.ExitCode == nil || *st.ExitCode != c.code) {
		t.Errorf("state %s, want exit code %d\n%s", code(st), c.code, b.output("a"))
	}
	if out := b.output("a"); out != c.output && !c.stderrOther {
		t.Errorf("output %q, want %q", out, c.output)
	}
	want := b.cwd + c.cwd
	if c.cwd == "-" {
		want = ""
	}
	if st.Cwd != want {
		t.Errorf("cwd %q, want %q", st.Cwd, want)
	}
	if got := deltaText(st.Env); got != c.env {
		t.Errorf("delta %s, want %s\nlog: %s", got, c.env, b.log("a"))
	}
}

// Under another shell the script runs as it is and nothing is reported.
func TestOtherShell(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "cd /; export A=1; echo $0; exit 5")
	spec.Argv, spec.Capture = []string{"sh"}, true
	b.start(spec)
	st := b.wait("a")
	if code(st) != "exited 5" || st.Cwd != "" || st.Env != nil || !strings.HasSuffix(b.output("a"), "/a/script\n") {
		t.Errorf("%s, cwd %q, output %q", code(st), st.Cwd, b.output("a"))
	}
}

// A value that is torn is an error, wherever it ends.
func TestTornExports(t *testing.T) {
	for _, value := range []string{`$'`, `$'a`, `$'\`, `$'\1`, `$'\12`, `$'\001`, `$'\n`, `$'\9'`, `$'\400'`, `"`, `"a`, `"\`, `"\"`, `(`, `([0]="a"`, `([0]="a")`} {
		if vars, err := parseExports("declare -x A=" + value); !errors.Is(err, errExports) {
			t.Errorf("%s: %q, %v", value, vars, err)
		}
	}
	if vars, err := parseExports("declare -x "); err != nil || len(vars) != 0 {
		t.Errorf("without a name: %q, %v", vars, err)
	}
}

// What bash prints for any bytes is read back as the same bytes.
func FuzzExports(f *testing.F) {
	for _, s := range []string{"", "a", "declare -x A=\"1\"\n", "export A=$'\\n'\n", "declare -ax L=([0]=\"a\")\n", "declare -x A\n", "declare -x A=\"", "declare", `declare -x A=$'\1`, `declare -x A=$'\`, `export A=$'\12`, `export A="\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		vars, err := parseExports(s)
		if err == nil {
			for k := range vars {
				if !shellName(k) {
					t.Errorf("name %q", k)
				}
			}
		}
	})
}

// A plan survives its encoding, and no bytes make the decoder panic.
func FuzzPlan(f *testing.F) {
	p := execPlan{BootID: "b", KeepBytes: 1, TimeoutMS: 2, Capture: true, Cwd: "/\xff", Argv: []string{"a", ""}, Env: []string{"A=1"}}
	f.Add(p.encode())
	f.Add([]byte("1\x00b\x000\x000\x00true\x00/\x0099999999\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePlan(b)
		if err != nil {
			return
		}
		q, err := decodePlan(p.encode())
		if err != nil || fmt.Sprint(p) != fmt.Sprint(q) {
			t.Errorf("%v became %v, %v", p, q, err)
		}
	})
}

// The names that a shell can export are letters, digits and underscores, and begin with no digit.
func TestShellName(t *testing.T) {
	for _, name := range []string{"a", "z", "A", "Z", "_", "a0", "_9", "aZ_z"} {
		if !shellName(name) {
			t.Errorf("%q is none", name)
		}
	}
	for _, name := range []string{"", "0", "9a", "a`", "a{", "a@", "a[", "a/", "a:", "a-b", "é"} {
		if shellName(name) {
			t.Errorf("%q is one", name)
		}
	}
}
