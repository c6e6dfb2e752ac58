package permission

import "strings"

// gitRemote says why words of a subcommand that talks to a remote must not be allowed by a prefix rule, or "". A path
// or an address runs what is configured there; only the bare name of a remote passes.
func gitRemote(sub string, args []word) string {
	for _, w := range args {
		if strings.Contains(w.text, "::") {
			return "git's remote " + clip(w.text) + " runs a helper program"
		}
	}
	every, ended := false, false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch t := w.text; {
		case !ended && t == "--":
			ended = true
		case !ended && strings.HasPrefix(t, "-") && t != "-":
			name, val, has := strings.Cut(t, "=")
			every = every || len(name) > 2 && strings.HasPrefix("--multiple", name)
			takes := !has && gitTakesValue(name)
			if takes {
				i++
			}
			if !gitRepoOption(name) {
				continue
			}
			if has && !bareRemote(literal(val)) || takes && i < len(args) && !bareRemote(args[i]) {
				return "git's option " + clip(t) + " names a repository that is no configured remote"
			}
		case !bareRemote(w):
			return "git " + sub + " of " + clip(t) + " may run what is configured in that repository; only the name of a remote passes"
		case !every:
			return ""
		}
	}
	return ""
}

// bareRemote reports a word that is the name of a remote at most.
func bareRemote(w word) bool {
	return w.known && w.text != "" && strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

func gitRepoOption(name string) bool { return len(name) > 2 && strings.HasPrefix("--repo", name) }

// gitTakesValue reports an option of push, pull, fetch, ls-remote or remote show whose value is the next word. Git
// takes any beginning of a long option.
func gitTakesValue(name string) bool {
	if !strings.HasPrefix(name, "--") {
		return strings.IndexAny(name, "oj") == len(name)-1 // else the value stands behind its letter
	}
	for _, opt := range []string{
		"--repo", "--push-option", "--depth", "--deepen", "--shallow-since", "--shallow-exclude", "--jobs", "--refmap", "--server-option",
		"--negotiation-tip", "--filter", "--sort", "--recurse-submodules-default", "--submodule-prefix", "--cleanup", "--strategy", "--strategy-option",
	} {
		if strings.HasPrefix(opt, name) {
			return true
		}
	}
	return false
}
