package permission

import (
	"path"
	"slices"
	"strings"
)

// The options of git's commands that only look, as reader.long has them. A
// repository's own .git/config may still name programs for them (core.fsmonitor,
// diff drivers): it is the user's. A repository that lies in a subdirectory as
// plain files is not, and git is kept from finding it by the environment of every
// command, safe.bareRepository=explicit, which git knows since version 2.38.
const (
	gitDiffLong = " --stat=? --shortstat --numstat --summary --name-only --name-status --patch --no-patch --patch-with-stat --raw --cached --staged --merge-base --color=? --no-color --color-words=? " +
		"--word-diff=? --word-diff-regex= --diff-filter= --find-renames=? --find-copies=? --no-renames --ignore-all-space --ignore-space-change --ignore-space-at-eol --ignore-blank-lines " +
		"--function-context --unified= --inter-hunk-context= --check --exit-code --quiet --minimal --patience --histogram --diff-algorithm= --abbrev=? --full-index --binary --relative=? " +
		"--dirstat=? --compact-summary --text --no-prefix --cc --no-ext-diff --no-textconv --ignore-submodules=? --pickaxe-all --pickaxe-regex --rename-empty --indent-heuristic --anchored= --reverse "
	gitLogLong = gitDiffLong + "--oneline --graph --all --branches=? --tags=? --remotes=? --glob= --exclude= --decorate=? --no-decorate --pretty=? --format= --abbrev-commit --no-abbrev-commit --since: --after: " +
		"--until: --before: --author: --committer: --grep: --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --first-parent " +
		"--max-count: --skip: --date= --relative-date --follow --left-right --left-only --right-only --cherry --cherry-pick --cherry-mark --simplify-by-decoration --full-history --dense " +
		"--topo-order --date-order --author-date-order --reverse --boundary --ancestry-path --no-walk=? --no-mailmap --use-mailmap --mailmap --source --no-notes --notes=? --log-size " +
		"--min-parents= --max-parents= --walk-reflogs --show-pulls --parents --children --diff-merges= --decorate-refs= --decorate-refs-exclude= --encoding= --expand-tabs=? "
	gitListLong = " --list --all --remotes --verbose --show-current --contains --no-contains --merged --no-merged --points-at --contains= --no-contains= --merged= --no-merged= --points-at= " +
		"--sort= --format= --column=? --no-column --color=? --no-color --abbrev= --no-abbrev --ignore-case "
)

// gitReader gives the options under which a subcommand only looks.
func gitReader(sub string) (reader, bool) {
	switch sub {
	case "status":
		return reader{
			flags: "sbvz", some: "u",
			long:    " --short --branch --porcelain=? --long --verbose --untracked-files=? --ignored=? --ignore-submodules=? --no-renames --ahead-behind --no-ahead-behind --column=? --no-column --show-stash --null ",
			unnamed: func(o options) bool { return o.has("-v") || o.has("--verbose") }, // what is staged, as a diff
		}, true
	case "show":
		spec, _ := gitReader("log")
		spec.unnamed = func(o options) bool { return gitShowsContent(o) || !showsCommits(o) }
		return spec, true
	case "log":
		return reader{flags: "pusziwbacmgtRWEFPi", texts: "nSGL", some: "MCBUl", number: true, long: gitLogLong, unnamed: gitShowsContent}, true
	case "diff":
		return reader{flags: "puszwbaRWc", texts: "SG", some: "MCBUl", number: true, long: gitDiffLong, unnamed: gitShowsContent}, true
	case "branch":
		return reader{flags: "arvil", long: gitListLong}, true
	case "tag":
		return reader{flags: "li", some: "n", long: gitListLong}, true
	case "rev-parse":
		return reader{flags: "q", long: " --verify --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir " +
			"--is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --show-object-format --revs-only --no-revs --all --branches=? --tags=? --remotes=? "}, true
	case "ls-files":
		return reader{flags: "cdmokszutvf", long: " --cached --deleted --modified --others --ignored --stage --unmerged --killed --exclude-standard --directory --no-empty-directory --full-name --error-unmatch --eol --deduplicate --abbrev=? --recurse-submodules "}, true
	case "blame", "annotate":
		return reader{flags: "wesltfnpcb", texts: "L", some: "MC", long: " --porcelain --line-porcelain --root --show-stats --show-name --show-number --show-email --date= --since= --abbrev= --color-lines --color-by-age --minimal "}, true
	case "describe":
		return reader{long: " --tags --always --dirty=? --broken=? --all --long --abbrev= --exact-match --match= --exclude= --candidates= --contains --first-parent --debug "}, true
	case "shortlog":
		return reader{flags: "sne", some: "w", long: " --summary --numbered --email --all --no-merges --merges --since= --until= --after= --before= --group= --format= --author= "}, true
	}
	return reader{}, false
}

// gitShowsContent reports that log, show or diff print what is in files.
func gitShowsContent(o options) bool {
	for _, opt := range []string{"-p", "-u", "--patch", "--patch-with-stat", "-S", "-G", "-L", "-U", "--unified", "--cc", "-c", "-m", "-W", "--function-context", "--word-diff", "--color-words", "--binary", "--check", "--diff-merges", "-g"} {
		if o.has(opt) {
			return true
		}
	}
	for _, opt := range []string{"log", "--name-only", "--name-status", "--stat", "--shortstat", "--numstat", "--summary", "-s", "--no-patch", "--raw", "--dirstat", "--compact-summary"} {
		if o.has(opt) {
			return false
		}
	}
	return true
}

// showsCommits reports that git show is only given commits. Of a file's content,
// which HEAD:name and a bare hash can be, it shows all, with --stat as well.
func showsCommits(o options) bool {
	for _, w := range o.words {
		back, ok := strings.CutPrefix(w.text, "HEAD")
		if !ok || strings.Trim(back, "~^0123456789") != "" {
			return false
		}
	}
	return true
}

// notGit says why a git command does more than look at the repository around the
// working directory, or "".
func (j *judge) notGit(c command) string {
	i := 1
	for i < len(c.argv) && plainGitGlobal(c.argv[i].text) {
		i++
	}
	if i == len(c.argv) {
		return ""
	}
	sub, args := c.argv[i].text, c.argv[i+1:]
	if sub != "rev-parse" { // its --git-dir only prints
		if why := gitProfile(c.argv); why != "" {
			return why
		}
	}
	switch sub {
	case "version":
		return ""
	case "remote":
		return notGitRemote(args)
	case "stash":
		if len(args) == 0 || args[0].text != "list" {
			return "git stash changes files, but for git stash list"
		}
		sub, args = "log", args[1:]
	}
	spec, ok := gitReader(sub)
	if !ok {
		return "git " + clip(sub) + " is not known to only look"
	}
	spec.permutes = true
	o, why := spec.read("git "+sub, args)
	if why != "" {
		return why
	}
	for _, v := range append(o.vals, o.seen...) {
		if strings.Contains(v, "%G") || strings.Contains(v, "signature") || strings.Contains(v, "trailers") {
			return "git " + sub + " with signatures runs another program"
		}
	}
	if sub == "branch" || sub == "tag" {
		if slices.ContainsFunc(o.vals, func(v string) bool { return strings.Contains(v, "raw)") }) {
			return "git " + sub + " with %(raw) shows what a name stands for, which may be a file's content"
		}
		return j.notGitList(sub, o)
	}
	if sub == "log" {
		o.seen = append(o.seen, "log") // it shows content only when asked to
	}
	if spec.unnamed != nil && spec.unnamed(o) {
		if why := j.hidingFrom(c); why != "" {
			return "git " + sub + " may show files that it does not name, and " + why
		}
		if !j.repositoryInside() {
			return "git " + sub + " may show files of a repository that begins outside of the session's directories"
		}
	}
	return j.outsideAny("git "+sub, spec, o)
}

// repositoryInside reports whether the repository around the working directory
// begins in the session's directories. Where it begins above them, git shows files
// that are outside, whatever path it is given: git show HEAD:name counts from its top.
func (j *judge) repositoryInside() bool {
	for dir := j.here; inside(j.p, dir); dir = path.Dir(dir) {
		at, ok := j.p.Look(path.Join(dir, ".git"), false)
		if ok && len(at) == 1 && !at[0].Missing {
			return true
		}
		if dir == "/" {
			break
		}
	}
	return false
}

func notGitRemote(args []word) string {
	for i, w := range args {
		if w.text == "get-url" && i == 0 && len(args) == 2 && !strings.HasPrefix(args[1].text, "-") {
			return ""
		}
		if w.text != "-v" && w.text != "--verbose" {
			return "git remote " + clip(w.text) + " is not known to only look"
		}
	}
	return ""
}

// notGitList says why git branch or git tag may make something, or "". A name
// without an option that means a listing is the name of a new one.
func (j *judge) notGitList(sub string, o options) string {
	listing := o.has("--list") || sub == "tag" && o.has("-l")
	for _, opt := range []string{"--contains", "--no-contains", "--merged", "--no-merged", "--points-at"} {
		listing = listing || o.has(opt)
	}
	if len(o.words) > 0 && !listing {
		return "git " + sub + " with a name makes one"
	}
	return j.outsideAny("git "+sub, reader{}, o)
}
