package permission

import (
	"path"
	"slices"
	"strings"
)

// gitRemote says why words of a subcommand that talks to a remote must not be allowed by a prefix rule, or "". A path
// or an address runs what is configured there; only the bare name of a remote passes.
func gitRemote(sub string, args []word) string {
	_, why := gitRemotes(sub, args)
	return why
}

// gitRemotes gives the words that name the remotes, all of them bare names, or says why they must not be allowed.
func gitRemotes(sub string, args []word) (names []string, why string) {
	for _, w := range args {
		if strings.Contains(w.text, "::") {
			return nil, "git's remote " + clip(w.text) + " runs a helper program"
		}
	}
	every, ended := false, false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch t := w.text; {
		case !ended && t == "--":
			ended = true
		case !ended && strings.HasPrefix(t, "-") && t != "-":
			name, val, attached := strings.Cut(t, "=")
			if !strings.HasPrefix(t, "--") {
				name, attached = t, false // = is a letter of its cluster
			}
			takes, known := gitTakesValue(sub, name)
			if !known {
				return nil, "git's option " + clip(t) + " is not known here, so the word that names the remote is not certain"
			}
			every = every || name == "--multiple"
			repo := literal(val)
			if takes = takes && !attached; takes {
				if i++; i < len(args) {
					repo = args[i]
				}
			}
			if name != "--repo" {
				continue
			}
			if !bareRemote(repo) {
				return nil, "git's option " + clip(t) + " names a repository that is no configured remote"
			}
			names = append(names, repo.text)
		case !bareRemote(w):
			return nil, "git " + sub + " of " + clip(t) + " may run what is configured in that repository; only the name of a remote passes"
		default:
			if names = append(names, w.text); !every {
				return names, ""
			}
		}
	}
	return names, ""
}

// bareRemote reports a word that is the name of a remote at most.
func bareRemote(w word) bool {
	return w.known && w.text != "" && strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// gitFlags are the long options without a separate value of the subcommands that talk to a remote, between blanks. Git
// also takes any beginning of an option that is certain to it; which one it means depends on its version, so it asks.
const gitFlags = " --all --append --atomic --auto-gc --auto-maintenance --autostash --branches --commit --delete --dry-run --edit --exit-code --ff --ff-only --follow-tags --force --force-if-includes " +
	"--force-with-lease --get-url --gpg-sign --heads --ipv4 --ipv6 --keep --log --mirror --multiple --negotiate-only --no-all --no-atomic --no-auto-gc --no-auto-maintenance --no-autostash --no-commit --no-edit " +
	"--no-ff --no-follow-tags --no-force-if-includes --no-force-with-lease --no-gpg-sign --no-log --no-progress --no-prune --no-rebase --no-recurse-submodules --no-show-forced-updates --no-signed --no-signoff " +
	"--no-squash --no-stat --no-tags --no-thin --no-verify --no-verify-signatures --no-write-commit-graph --no-write-fetch-head --porcelain --prefetch --progress --prune --prune-tags --quiet --rebase " +
	"--refetch --refs --set-upstream --show-forced-updates --signed --signoff --squash --stat --stdin --symref --tags --thin --unshallow --update-head-ok --update-shallow --verbose --verify " +
	"--verify-signatures --allow-unrelated-histories --write-commit-graph --write-fetch-head "

// gitValues are those whose value may be the next word. --recurse-submodules and --jobs are two options each, by
// subcommand.
const gitValues = " --cleanup --deepen --depth --filter --negotiation-tip --push-option --refmap --repo --server-option --shallow-exclude --shallow-since --sort "

// gitTakesValue reports whether the value of an option is the next word. known: what the option is, is certain.
func gitTakesValue(sub, name string) (takes, known bool) {
	item := " " + name + " "
	switch {
	case name == "--recurse-submodules":
		return sub == "push", true
	case name == "--jobs":
		return sub == "fetch", true
	case strings.HasPrefix(name, "--"):
		takes = strings.Contains(gitValues, item)
		return takes, takes || strings.Contains(gitFlags, item)
	}
	for i := 1; i < len(name); i++ {
		last := i == len(name)-1
		switch c := name[i]; {
		case c == 'o', c == 'j' && sub == "fetch":
			return last, true // else the value stands behind its letter
		case c == 'j', c == 'r', c == 'S':
			return false, last // a value may stand behind it
		case strings.IndexByte("46adefhkmnpPqtuv", c) < 0:
			return false, false
		}
	}
	return false, true
}

// remoteAsPath says why what git would take for the name of a remote may be a directory, or "". Git takes a name that it
// has no remote for as a path, from the top of the repository, and tries NAME.git too.
func (j *judge) remoteAsPath(c command) string {
	if name, _ := c.name(); name != "git" || j.p.Look == nil {
		return ""
	}
	for _, remote := range remotesOf(c.argv) {
		why := "git would take " + clip(remote) + " for a path if it has no remote of that name, and run what is configured there"
		for _, dir := range j.s.here() {
			if !strings.HasPrefix(dir, "/") || isPattern(dir) || !j.nothingNamed(remote, path.Clean(dir)) {
				return why
			}
		}
	}
	return ""
}

// nothingNamed reports that neither NAME nor NAME.git is in the directory or in one above it, as far up as the repository.
func (j *judge) nothingNamed(name, dir string) bool {
	for ; ; dir = path.Dir(dir) {
		for _, p := range []string{name, name + ".git"} {
			if at, ok := j.p.Look(path.Join(dir, p), false); !ok || slices.ContainsFunc(at, func(p Place) bool { return !p.Missing }) {
				return false
			}
		}
		top, ok := j.p.Look(path.Join(dir, ".git"), false)
		if dir == "/" || ok && len(top) == 1 && !top[0].Missing {
			return true
		}
	}
}

// remotesOf gives the bare names of the remotes that a git command talks to.
func remotesOf(argv []word) []string {
	i := 1
	for i < len(argv) && plainGitGlobal(argv[i].text) {
		i++
	}
	if i == len(argv) {
		return nil
	}
	sub, args := argv[i].text, argv[i+1:]
	switch sub {
	case "push", "pull", "fetch", "ls-remote":
		names, _ := gitRemotes(sub, args)
		return names
	case "remote":
		for k, w := range args {
			if w.text == "show" {
				names, _ := gitRemotes("remote show", args[k+1:])
				return names
			}
		}
	}
	return nil
}
