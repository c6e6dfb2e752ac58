package permission

import "strings"

// gitProfile says why a prefix rule must not allow this git command, or "". Git
// runs programs by many options, and by every alias: only known subcommands with
// no such option pass. What a repository's own configuration executes is out of
// its sight; see the package's warning.
func gitProfile(argv []word) string {
	i := 1
	for i < len(argv) && argv[i].known && plainGitGlobal(argv[i].text) {
		i++
	}
	if i == len(argv) {
		return ""
	}
	sub := argv[i]
	switch {
	case !sub.known:
		return "the subcommand of git is not literal"
	case strings.HasPrefix(sub.text, "-"):
		return "git's option " + clip(sub.text) + " before the subcommand can change what git runs"
	case !gitSubcommand(sub.text):
		return "git " + clip(sub.text) + " can run programs, change git's configuration or write elsewhere, or is an alias"
	}
	for k, w := range argv[i+1:] {
		// After -- there are no options, unless the -- is itself the value of one.
		if w.known && w.text == "--" && !strings.HasPrefix(argv[i+k].text, "-") && !argv[i+k].glob {
			return gitPositional(sub.text, argv[i+1:])
		}
		if why := gitArgument(sub.text, w); why != "" {
			return why
		}
	}
	return gitPositional(sub.text, argv[i+1:])
}

// plainGitGlobal lists options before the subcommand that run and write nothing.
func plainGitGlobal(opt string) bool {
	switch opt {
	case "--no-pager", "-P", "--version", "-v", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-advice":
		return true
	}
	return false
}

// gitSubcommand lists builtin subcommands, which no alias can replace, that run
// nothing of the caller's choice without an option.
func gitSubcommand(sub string) bool {
	switch sub {
	case "status", "log", "diff", "show", "branch", "add", "commit", "push", "pull", "fetch", "checkout", "switch", "restore",
		"merge", "rebase", "reset", "rm", "mv", "stash", "tag", "blame", "annotate", "grep", "ls-files", "ls-tree", "ls-remote",
		"cat-file", "rev-parse", "rev-list", "describe", "shortlog", "reflog", "cherry-pick", "revert", "clean", "merge-base",
		"name-rev", "for-each-ref", "show-ref", "show-branch", "whatchanged", "cherry", "count-objects", "diff-tree", "diff-index",
		"diff-files", "check-ignore", "check-attr", "version", "range-diff", "remote", "fsck", "merge-tree":
		return true
	}
	return false
}

// gitArgument says why one argument asks.
func gitArgument(sub string, w word) string {
	t := w.text
	if leadingGlob(w) {
		return "a file pattern may turn into an option of git"
	}
	if !strings.HasPrefix(t, "-") || t == "-" || t == "--" {
		return ""
	}
	why := "git's option " + clip(t) + " can run a program or write a file"
	if strings.HasPrefix(t, "--") {
		name, value, attached := strings.Cut(t, "=")
		if name == "--diff-merges" && (!attached || !plainMerges(value)) {
			return why
		}
		for _, bad := range []string{
			"--exec", "--exec-path", "--upload-pack", "--receive-pack", "--output", "--output-directory", "--ext-diff", "--textconv",
			"--open-files-in-pager", "--interactive", "--strategy", "--strategy-option", "--template", "--config", "--config-env",
			"--git-dir", "--work-tree", "--separate-git-dir", "--no-index", "--help", "--edit-description", "--filters", "--run",
			"--remerge-diff",
		} {
			// Git takes any unambiguous beginning of a long option.
			if strings.HasPrefix(bad, name) {
				return why
			}
		}
		return ""
	}
	cluster := t[1:]
	switch sub {
	case "grep":
		if strings.Contains(cluster, "O") {
			return why
		}
	case "rebase":
		if strings.ContainsAny(cluster, "xisX") {
			return why
		}
	case "merge", "pull":
		if end := strings.IndexAny(cluster, "mFS"); end >= 0 {
			cluster = cluster[:end+1] // a value stands behind it
		}
		if strings.ContainsAny(cluster, "sX") {
			return why
		}
	case "cherry-pick", "revert":
		if cluster[0] == 'X' {
			return why
		}
	}
	if cluster[0] == 'O' {
		return why
	}
	return ""
}

// plainMerges lists the ways to show a merge that do not merge again, which writes objects and runs merge drivers.
func plainMerges(value string) bool {
	switch value {
	case "off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "dense-combined", "cc":
		return true
	}
	return false
}

// gitPositional judges words by their subcommand: remotes that name a helper
// program, and changes of what git will run later.
func gitPositional(sub string, args []word) string {
	switch sub {
	case "push", "pull", "fetch", "ls-remote":
		return gitRemote(sub, args)
	case "remote":
	default:
		return ""
	}
	for i, w := range args {
		switch w.text {
		case "-v", "--verbose":
			continue
		case "get-url":
			return ""
		case "show":
			return gitRemote("remote show", args[i+1:])
		}
		return "git remote " + clip(w.text) + " changes the repository's configuration"
	}
	return ""
}

// gitWarning says what a prefix rule for git lets the repository run.
func gitWarning(pat pattern) string {
	i := 1
	for i < len(pat.argv) && plainGitGlobal(pat.argv[i].text) {
		i++
	}
	if i == len(pat.argv) {
		return pat.Text + " is broad: it commits, pushes and runs the repository's hooks; to look only, " +
			"allow Bash(git status:*), Bash(git diff:*), Bash(git log:*), Bash(git show:*). " +
			"Even these run what the repository configures as core.fsmonitor or a diff driver"
	}
	switch pat.argv[i].text {
	case "rev-parse", "rev-list", "ls-tree", "merge-base", "name-rev", "for-each-ref", "show-ref", "count-objects", "version",
		"check-attr", "check-ignore", "cherry", "show-branch", "shortlog":
		return ""
	case "status", "diff", "show", "log", "blame", "annotate", "grep", "ls-files", "cat-file", "describe", "reflog", "whatchanged",
		"diff-tree", "diff-index", "diff-files", "range-diff", "ls-remote", "remote", "fsck", "merge-tree", "add", "rm", "mv", "clean":
		return pat.Text + " also runs programs that the repository's own .git/config configures, as core.fsmonitor, filters or diff drivers"
	}
	return pat.Text + " also runs the repository's hooks, and programs that its own .git/config configures"
}
