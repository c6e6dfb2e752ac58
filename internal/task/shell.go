//go:build linux || darwin

package task

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// shells are tried in order for a script without a shell of its own. The system's bash comes before anything that a
// PATH could name: the text was judged as bash's. Without bash the script runs under sh, and nothing is captured.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"}

// maxInline is the largest script that is handed over as an argument, in bytes: systems bound a single one at 128 KiB.
const maxInline = 100 << 10

// planShell says how to run the spec's script. command.Spec.Argv names another shell, with its options. A script for
// plain bash is its argument, so that messages carry no path and the last simple command of a script without capture
// replaces the shell. A long script, and one for another shell, is a file whose path is appended: the shell reads it
// itself, so that text, line numbers and exit code are the script's either way.
func (d actDir) planShell(plan *execPlan, spec command.Spec) (asFile bool) {
	argv, inline := slices.Clone(spec.Argv), false
	if len(argv) == 0 {
		argv = []string{findShell(spec.Env)}
	}
	if isBash(argv[0]) {
		if len(argv) == 1 {
			argv = append(argv, "--noprofile", "--norc")
			inline = len(spec.Script) <= maxInline
		}
		plan.Env = shellEnv(plan.Env)
		if plan.Capture = spec.Capture; plan.Capture {
			// Bash expands the value of BASH_ENV; a path could contain anything.
			plan.Env = append(plan.Env, "BASH_ENV=$__perdure_init", "__perdure_init="+d.path(initName))
		}
	}
	if !inline {
		plan.Argv = append(argv, d.path(scriptName))
		return true
	}
	if argv = append(argv, "-c"); spec.Script[0] == '-' || spec.Script[0] == '+' {
		argv = append(argv, "--") // or it would be read as options
	}
	plan.Argv = append(argv, spec.Script, "bash")
	return false
}

func findShell(env []string) string {
	for _, path := range shells {
		if unix.Access(path, unix.X_OK) == nil {
			return path
		}
	}
	if path, err := findProgram("bash", env); err == nil {
		return path
	}
	return "/bin/sh"
}

func isBash(path string) bool { return filepath.Base(path) == "bash" }

// shellEnv leaves out what would make bash run something else than the script: start-up files, imported functions and
// options.
func shellEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return steersShell(key)
	})
}

func steersShell(key string) bool {
	switch key {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT":
		return true
	}
	return strings.HasPrefix(key, "BASH_FUNC_")
}

// initText is the start-up file that makes bash report its end.
func (d actDir) initText() []byte {
	return []byte(strings.ReplaceAll(initScript, "@FILE@", shellQuote(d.path(captureName))))
}

// shellQuote makes s one literal word of any shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// initScript is read by bash before the script (BASH_ENV). It sets an EXIT trap that writes the working directory and
// the exported variables, unless something else stands in the place of that file (a pipe would keep it waiting, a link
// lead elsewhere), and wraps the trap builtin so that a script's own EXIT trap runs as well, after the report
// and with the exit status it expects. The report goes through builtins only: PATH may be anything. What the shell
// prints about it under xtrace goes nowhere. A script that replaces its shell (exec), kills it, or takes the trap by
// "builtin trap" reports nothing, and then nothing changes. Bash before 5 keeps its own trap.
const initScript = `unset BASH_ENV __perdure_init
__perdure_report() {
	local __perdure_status=$?
	[[ ! -L @FILE@ && ( -f @FILE@ || ! -e @FILE@ ) ]] && {
		builtin printf 'perdure 1\0'
		builtin pwd
		builtin printf '\0'
		builtin export -p
		builtin printf '\0end'
	} >| @FILE@
	return "$__perdure_status"
}
if [[ ${BASH_VERSINFO[0]} -gt 4 ]]; then trap() {
	{
		local - __perdure_arg __perdure_rest=() __perdure_exit=0 __perdure_act
		set +xeu
		if [[ $BASHPID == "$$" && $# -gt 0 && $1 != -[lp]* ]]; then
			[[ $1 == -- ]] && shift
			if [[ $# -eq 1 ]]; then
				__perdure_act=-
			else
				__perdure_act=$1
				shift
			fi
			for __perdure_arg in "$@"; do
				case $__perdure_arg in
				0 | [Ee][Xx][Ii][Tt] | [Ss][Ii][Gg][Ee][Xx][Ii][Tt]) __perdure_exit=1 ;;
				*) __perdure_rest+=("$__perdure_arg") ;;
				esac
			done
			set -- "$__perdure_act" "$@"
		fi
	} 2>/dev/null
	if [[ $__perdure_exit -eq 0 ]]; then
		builtin trap "$@"
		return
	fi
	{
		case $__perdure_act in
		- | '' | *__perdure_report*) builtin trap '{ __perdure_report || :; } 2>/dev/null' EXIT ;;
		*)
			builtin trap "if { __perdure_report; } 2>/dev/null; then
$__perdure_act
else
$__perdure_act
fi" EXIT
			;;
		esac
	} 2>/dev/null
	if [[ ${#__perdure_rest[@]} -gt 0 ]]; then
		builtin trap -- "$__perdure_act" "${__perdure_rest[@]}"
	fi
}; fi
builtin trap '{ __perdure_report || :; } 2>/dev/null' EXIT
`
