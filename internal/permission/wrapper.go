package permission

import "strings"

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
	case "jobs":
		return wrapperFlags{bare: "lnprsx"}, true
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
		"docker", "podman", "kubectl", "tmux", "screen", "at", "batch", "crontab", "entr",
		"choom", "linux32", "linux64", "i386", "i486", "i586", "i686", "x86_64", "uname26", "sg", "newgrp", "ssh-agent", "logsave", "ld.so", "run-parts", "eatmydata", "rlwrap", "daemonize",
		"setlock", "chpst", "softlimit", "gosu", "su-exec", "tini", "dumb-init", "cpulimit", "faketime", "aa-exec", "cgexec", "hyperfine", "systemd-cat", "systemd-nspawn", "runcon", "run0",
		"watchexec", "nodemon", "sem", "mosh", "dbus-launch", "fakechroot", "ccache", "distcc", "machinectl", "lxc-attach", "direnv", "mise", "nix", "coproc":
		// Their own flags are not modelled: any tail of the words may run.
		return wrapperFlags{before: -1}, true
	}
	if strings.HasPrefix(name, "ld-") && strings.Contains(name, ".so") || strings.HasPrefix(name, "ld64.so") {
		return wrapperFlags{before: -1}, true // the loader runs the program that it is given
	}
	return wrapperFlags{}, false
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
	if name == "xargs" {
		return inner{commands: [][]word{append(args[i:len(args):len(args)], anyWord())}, unknown: replaces(args[:i])}
	}
	return inner{commands: [][]word{args[i:]}}
}

// replaces reports that xargs puts what it reads into the words of the command;
// it always adds words at their end.
func replaces(flags []word) bool {
	for _, a := range flags {
		if strings.HasPrefix(a.text, "-I") || strings.HasPrefix(a.text, "-i") || strings.HasPrefix(a.text, "-J") || strings.HasPrefix(a.text, "--r") {
			return true
		}
	}
	return false
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
