package permission

import "strings"

// inner is what a command runs in turn.
type inner struct {
	commands [][]word // commands given as words
	texts    []string // commands given as shell text
	unknown  bool     // something runs that the words do not say
	program  bool     // the words hold a program in some language
}

// wrapperFlags describes a program that runs the words after its own flags:
// the short flags that take a value, and how many words stand before the command.
// Long flags are understood only as --name=value or when listed.
type wrapperFlags struct {
	value  string // short flags with a value
	bare   string // short flags without one
	long   string // long flags without a value, between blanks
	before int    // positional words before the command
}

// wrapper knows the flags of the programs that run their words; ok is false for
// any other program.
func wrapper(name string) (f wrapperFlags, ok bool) {
	switch name {
	case "timeout", "gtimeout":
		return wrapperFlags{value: "sk", bare: "v", long: " --preserve-status --foreground --verbose ", before: 1}, true
	case "nice":
		return wrapperFlags{value: "n"}, true
	case "nohup", "setsid", "builtin":
		return wrapperFlags{bare: "cfw"}, true
	case "command":
		return wrapperFlags{bare: "pvV"}, true
	case "exec":
		return wrapperFlags{value: "a", bare: "cl"}, true
	case "time", "gtime":
		return wrapperFlags{value: "fo", bare: "pvaq"}, true
	case "sudo", "doas":
		return wrapperFlags{value: "ugpChDRTtr", bare: "AbEeHiKklnPSs", long: " --non-interactive --preserve-env --login --set-home "}, true
	case "env":
		return wrapperFlags{value: "uC", bare: "i0v", long: " --ignore-environment "}, true
	case "ionice":
		return wrapperFlags{value: "cn", bare: "t"}, true
	case "stdbuf":
		return wrapperFlags{value: "ioe"}, true
	case "xargs":
		return wrapperFlags{value: "IELnPsdaJ", bare: "0rtxpo", long: " --null --no-run-if-empty --verbose "}, true
	case "chroot", "taskset", "chrt", "flock", "su", "runuser", "ssh", "watch", "parallel", "strace", "ltrace", "busybox",
		"toybox", "unshare", "nsenter", "systemd-run", "systemd-inhibit", "script", "setarch", "setpriv", "pkexec", "fd", "fdfind",
		"caffeinate", "dbus-run-session", "xvfb-run", "firejail", "bwrap", "proot", "fakeroot", "torsocks", "proxychains",
		"trap", "unbuffer", "expect", "start-stop-daemon", "capsh", "prlimit", "numactl", "perf", "gdb", "valgrind",
		"docker", "podman", "kubectl", "tmux", "screen", "at", "batch", "crontab", "entr", "direnv", "mise", "nix", "coproc":
		// Their own flags are not modelled: any tail of the words may run.
		return wrapperFlags{before: -1}, true
	}
	return wrapperFlags{}, false
}

// unwrap says what a command named name runs in turn, erring on the side of more.
func unwrap(name string, argv []word) inner {
	args := argv[1:]
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish":
		return unwrapShell(args)
	case "eval":
		return shellText(args)
	case "source", ".":
		in := inner{program: true}
		in.unknown = len(args) == 0 || !args[0].known || strings.HasPrefix(args[0].text, "/dev/") || strings.HasPrefix(args[0].text, "/proc/")
		return in
	case "find", "gfind":
		return unwrapFind(args)
	case "git":
		return unwrapGit(args)
	}
	f, ok := wrapper(name)
	if !ok {
		prog := interpreter(name) || name == "go" && len(args) > 0 && args[0].text == "run"
		return inner{program: prog, unknown: prog && !builder(name) && readsProgram(args)}
	}
	if name == "command" && len(args) > 0 && strings.HasPrefix(args[0].text, "-") && strings.ContainsAny(args[0].text, "vV") {
		return inner{} // it only looks a name up
	}
	if f.before < 0 {
		return tails(args)
	}
	return unwrapFlags(name, f, args)
}

// unwrapFlags skips a wrapper's own flags. A flag it does not know makes every
// tail of the words a possible command.
func unwrapFlags(name string, f wrapperFlags, args []word) inner {
	i, before := 0, f.before
	for ; i < len(args); i++ {
		a := args[i]
		if !a.known {
			in := tails(args[i:])
			in.unknown = true
			return in
		}
		switch {
		case a.text == "--":
			i++
		case strings.HasPrefix(a.text, "--"):
			if name == "env" && strings.HasPrefix(a.text, "--s") || !strings.Contains(a.text, "=") && !strings.Contains(f.long, " "+a.text+" ") {
				return tails(args[i:])
			}
			continue
		case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
			skip, ok := f.short(a.text[1:])
			if !ok {
				return tails(args[i:])
			}
			i += skip
			continue
		case (name == "env" || name == "sudo" || name == "doas") && strings.Contains(a.text, "="):
			continue
		case before > 0:
			before--
			continue
		}
		break
	}
	if i < 0 || i >= len(args) {
		return inner{unknown: name == "sudo" && len(args) > 0}
	}
	return inner{commands: [][]word{args[i:]}}
}

// short reads one cluster of short flags: skip is 1 when its value is the next
// word; ok is false for a flag that is not known.
func (f wrapperFlags) short(cluster string) (skip int, ok bool) {
	for j := range len(cluster) {
		switch {
		case strings.IndexByte(f.value, cluster[j]) >= 0:
			if j == len(cluster)-1 {
				return 1, true
			}
			return 0, true
		case strings.IndexByte(f.bare, cluster[j]) < 0:
			return 0, false
		}
	}
	return 0, true
}

// maxTails bounds the tails that are tried of one command.
const maxTails = 64

// tails takes every tail of the words as a command, and every word that looks
// like shell text as such.
func tails(args []word) inner {
	in := inner{program: true, unknown: len(args) > maxTails}
	for i, a := range args[:min(len(args), maxTails)] {
		if !a.known && !a.glob {
			in.unknown = true
		}
		if a.known && strings.HasPrefix(a.text, "-") {
			if _, val, ok := strings.Cut(a.text, "="); ok && strings.ContainsAny(val, " \t\n;|&") {
				in.texts = append(in.texts, val)
			} else if len(a.text) > 2 && strings.ContainsAny(a.text, " \t\n;|&") {
				in.texts = append(in.texts, a.text[2:]) // env -S'rm -rf x'
			}
			continue
		}
		if strings.ContainsAny(a.text, " \t\n;|&") {
			in.texts = append(in.texts, a.text)
			continue
		}
		// A tail that a wrapper would skip to holds the rest of the tails.
		in.commands = append(in.commands, args[i:])
	}
	return in
}

// shellText joins words as eval does.
func shellText(args []word) inner {
	in := inner{}
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.text
		if !a.known {
			in.unknown, in.program = true, true
			parts[i] = "$_"
		}
	}
	in.texts = []string{strings.Join(parts, " ")}
	return in
}

// unwrapShell finds the text of sh -c. Without it a script file runs, which is a
// program like any other; with neither, standard input does.
func unwrapShell(args []word) inner {
	text := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		flag := strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "+")
		switch {
		case !a.known:
			return inner{unknown: true, program: true}
		case a.text == "-o" || a.text == "+o" || a.text == "-O" || a.text == "+O" || a.text == "--rcfile" || a.text == "--init-file":
			i++
		case a.text == "--" || a.text == "-":
		case flag:
			text = text || a.text[0] == '-' && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c")
		case text:
			return inner{texts: []string{a.text}}
		default:
			odd := strings.HasPrefix(a.text, "/dev/") || strings.HasPrefix(a.text, "/proc/")
			return inner{program: true, unknown: odd}
		}
	}
	return inner{unknown: true, program: true}
}

// readsProgram reports that an interpreter gets its program from standard input.
func readsProgram(args []word) bool {
	for _, a := range args {
		if a.text == "-" || strings.HasPrefix(a.text, "/dev/") {
			return true
		}
	}
	return len(args) == 0
}

// unwrapFind finds the commands of find's actions.
func unwrapFind(args []word) inner {
	in := inner{}
	for i := 0; i < len(args); i++ {
		if !args[i].known && !args[i].glob {
			in.unknown = true
		}
		switch args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && args[end].text != "+" {
				end++
			}
			if i+1 < end {
				in.commands = append(in.commands, args[i+1:end])
			}
			i = end
		}
	}
	return in
}

// unwrapGit finds the commands that git runs for the user (bisect run, rebase
// --exec, submodule foreach, aliases and configuration given with -c), and the
// command as it is without the options before its subcommand.
func unwrapGit(args []word) inner {
	in := inner{}
	sub := 0
	for sub < len(args) && strings.HasPrefix(args[sub].text, "-") {
		switch args[sub].text {
		case "-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source":
			sub++
		}
		sub++
	}
	if sub > 0 && sub < len(args) {
		in.commands = append(in.commands, append([]word{literal("git")}, args[sub:]...))
	}
	if !gitRuns(args) {
		return in
	}
	for i, a := range args {
		if !a.known {
			continue
		}
		if strings.ContainsAny(a.text, " \t\n;|&") {
			in.texts = append(in.texts, strings.TrimPrefix(a.text, "!"))
		} else if i > 0 && !strings.HasPrefix(a.text, "-") && a.text != "git" {
			in.commands = append(in.commands, args[i:])
		}
		if _, val, ok := strings.Cut(a.text, "="); ok {
			in.texts = append(in.texts, strings.TrimPrefix(val, "!"))
		}
		if len(in.commands) > maxTails {
			in.unknown = true
			break
		}
	}
	return in
}

func gitRuns(args []word) bool {
	for _, a := range args {
		switch t := a.text; {
		case t == "bisect", t == "submodule", t == "filter-branch", t == "-c", t == "--exec", strings.HasPrefix(t, "--exec="),
			t == "rebase", t == "difftool", t == "mergetool", t == "config":
			return true
		}
	}
	return false
}
