package permission

import (
	"path"
	"slices"
	"strings"
)

// This file finds the git commands that show, or copy, what is in files: it comes out of the repository under a rule
// that hides a file from being read.

// gitCall is a git command, apart into what stands before the subcommand, and behind it.
type gitCall struct {
	dirs      []word // -C
	elsewhere bool   // it names the repository itself, so which one is not known
	alias     bool   // it may set an alias, so what the subcommand does is not known
	sub       word
	args      []word
}

func parseGit(args []word) gitCall {
	var g gitCall
	for i := 0; i < len(args); i++ {
		w := args[i]
		if w.known && !strings.HasPrefix(w.text, "-") || !w.known {
			g.sub, g.args = w, args[i+1:]
			return g
		}
		name, _, attached := strings.Cut(w.text, "=")
		value := ""
		switch name {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source":
			if !attached && i+1 < len(args) {
				i++
				value = args[i].text
			}
		}
		switch {
		case name == "-C":
			g.dirs = append(g.dirs, args[i])
		case name == "--git-dir" || name == "--work-tree" || name == "--bare":
			g.elsewhere = true
		case name == "--config-env" || strings.HasPrefix(name, "-c") && strings.Contains(strings.ToLower(name+value), "alias."):
			g.alias = true
		}
	}
	return g
}

// gitShown says what a git command shows. It errs on the wide side.
type gitShown int

const (
	gitNothing gitShown = iota
	gitObjects          // only what it names as an object: HEAD:name, a hash
	gitNamed            // the files that are its paths, or else all
	gitAll              // all, whatever it names
)

// shown reads the subcommand and its options.
func (g gitCall) shown() gitShown {
	if !g.sub.known || g.alias {
		return gitAll
	}
	opts, words := gitOptions(g.args)
	patch, summary := slices.ContainsFunc(opts, gitPatchOption), g.onlySummary()
	when := func(shows bool, what gitShown) gitShown {
		if shows {
			return what
		}
		return gitNothing
	}
	switch sub := g.sub.text; sub {
	case "show":
		if !patch && summary {
			return gitObjects
		}
		return gitNamed
	case "diff", "range-diff":
		return when(patch || !summary, gitNamed)
	case "log", "whatchanged", "reflog", "diff-tree", "diff-index", "diff-files", "bisect":
		return when(patch, gitNamed)
	case "grep", "archive", "format-patch", "difftool", "fast-export":
		return gitNamed
	case "add", "checkout", "restore", "reset":
		return when(hasOption(opts, "pie", "--patch", "--interactive", "--edit"), gitNamed)
	case "commit", "status":
		return when(hasOption(opts, "vp", "--verbose", "--patch", "--interactive"), gitAll)
	case "stash":
		// Any option, and -- as well, makes a patch of the list of names, but for those that make another list.
		plain := len(words) == len(g.args) || !slices.ContainsFunc(opts, func(o string) bool { return !gitSummaryOption(o) }) && len(opts) > 0
		patch = slices.ContainsFunc(g.args, func(w word) bool { return strings.HasPrefix(w.text, "-") && gitPatchOption(w.text) }) // behind -- as well
		return when(patch || len(words) > 0 && words[0].text == "show" && !plain, gitAll)
	case "cat-file":
		return catFileShows(opts, words)
	case "merge-tree":
		return when(len(words) > 2 || hasOption(opts, "", "--trivial"), gitAll)
	case "rebase", "am":
		return when(hasOption(opts, "", "--show-current"), gitAll)
	case "for-each-ref", "branch", "tag":
		return when(slices.ContainsFunc(g.args, func(w word) bool { return strings.Contains(w.text, "(raw") || strings.Contains(w.text, "raw)") }), gitAll)
	case "checkout-index", "bundle", "unpack-file", "pack-objects":
		return gitAll
	case "worktree":
		return when(len(words) > 0 && words[0].text == "add", gitAll)
	}
	return gitNothing
}

// onlySummary reports an option with which show and diff show no content, and which is no other option's value.
func (g gitCall) onlySummary() bool {
	before, _, _ := gitSeparated(g.args)
	for i, w := range before {
		if gitSummaryOption(w.text) && (i == 0 || !gitMayTakeValue(before[i-1].text)) {
			return true
		}
	}
	return false
}

func catFileShows(opts []string, words []word) gitShown {
	batch := func(o string) bool { return strings.HasPrefix(o, "--batch") && !strings.HasPrefix(o, "--batch-check") }
	switch {
	case slices.ContainsFunc(opts, batch):
		return gitAll
	case slices.ContainsFunc(opts, func(o string) bool {
		return o == "-t" || o == "-s" || o == "-e" || strings.HasPrefix(o, "--batch-check")
	}):
		return gitNothing
	case len(words) > 0 && (words[0].text == "commit" || words[0].text == "tree" || words[0].text == "tag"):
		return gitNothing
	}
	return gitObjects
}

// gitOptions parts the words before -- into options and others.
func gitOptions(args []word) (opts []string, words []word) {
	before, _, _ := gitSeparated(args)
	for _, w := range before {
		if strings.HasPrefix(w.text, "-") && w.text != "-" {
			opts = append(opts, w.text)
		} else {
			words = append(words, w)
		}
	}
	return opts, words
}

// gitSeparated cuts the words at --, unless that may be the value of the option before it.
func gitSeparated(args []word) (before, behind []word, found bool) {
	for i, w := range args {
		if w.known && w.text == "--" {
			if i > 0 && gitMayTakeValue(args[i-1].text) {
				return args, nil, false
			}
			return args[:i], args[i+1:], true
		}
	}
	return args, nil, false
}

// gitMayTakeValue reports an option of which is not known that it takes no word behind it as its value.
func gitMayTakeValue(opt string) bool {
	if !strings.HasPrefix(opt, "-") || strings.Contains(opt, "=") || opt == "-" || opt == "--" {
		return false
	}
	switch opt {
	case "-p", "-u", "-w", "-b", "-s", "-r", "-W", "-c", "-i", "-v", "-E", "-F", "-P", "-l", "-q", "-z", "-h", "-a", "-t", "--patch", "--cached", "--staged", "--oneline", "--word-diff", "--color", "--no-color", "--no-ext-diff",
		"--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--follow", "--reverse", "--all", "--graph", "--decorate", "--cc", "--raw", "--no-merges", "--merges", "--first-parent", "--ignore-all-space",
		"--ignore-space-change", "--histogram", "--patience", "--minimal", "--stdout", "--no-patch", "--summary", "--function-context", "--full-index", "--ignore-case", "--line-number", "--exit-code", "--no-renames":
		return false
	}
	letters := strings.TrimLeft(opt, "-")
	if len(letters) > 1 && strings.IndexByte("UnMCGSL", letters[0]) >= 0 {
		return false // its value stands in the same word
	}
	return strings.Trim(letters, "0123456789") != ""
}

// gitPatchOption reports an option with which log and its like show what is in files, or answer whether something is.
func gitPatchOption(opt string) bool {
	if long, ok := strings.CutPrefix(opt, "--"); ok {
		name, _, _ := strings.Cut(long, "=")
		switch {
		case len(name) > 1 && strings.HasPrefix("patch", name) && name != "pa":
			return true
		case name == "pa", strings.HasPrefix(name, "patch-with"), strings.HasPrefix(name, "unified"), strings.HasPrefix(name, "word-diff"), strings.HasPrefix(name, "color-words"),
			name == "cc", name == "dd", name == "function-context", name == "binary", name == "check", strings.HasPrefix(name, "diff-merges"), name == "remerge-diff", name == "textconv":
			return true
		}
		return false
	}
	return opt != "-" && strings.ContainsAny(opt[1:], "puUcWSGL")
}

// gitSummaryOption reports an option with which show and diff show no content.
func gitSummaryOption(opt string) bool {
	name, _, _ := strings.Cut(opt, "=")
	switch name {
	case "--name-only", "--name-status", "--stat", "--shortstat", "--numstat", "--summary", "-s", "--no-patch", "--raw", "--dirstat", "--compact-summary", "--quiet":
		return true
	}
	return false
}

// hasOption reports a short option with one of the letters, perhaps among others, or a long one that begins so. A
// message stands behind the letter m.
func hasOption(opts []string, letters string, long ...string) bool {
	return slices.ContainsFunc(opts, func(o string) bool {
		if short, ok := strings.CutPrefix(o, "-"); ok && !strings.HasPrefix(short, "-") {
			short, _, _ = strings.Cut(short, "m")
			return letters != "" && strings.ContainsAny(short, letters)
		}
		name, _, _ := strings.Cut(o, "=")
		return slices.ContainsFunc(long, func(l string) bool {
			return len(name) > 3 && (strings.HasPrefix(l, name) || strings.HasPrefix(name, l))
		})
	})
}

// gitCommit reports a name that no file's content can have: HEAD and what counts from a commit. A hash, or a tag, may
// stand for a file.
func gitCommit(name string) bool {
	if strings.Contains(name, "..") || strings.HasSuffix(name, "^{commit}") || strings.HasSuffix(name, "^{tree}") {
		return true
	}
	if base, n, ok := strings.Cut(name, "@{"); ok && (base == "" || base == "HEAD" || base == "stash") && strings.HasSuffix(n, "}") {
		return true
	}
	at := strings.TrimRight(name, "0123456789")
	if strings.HasSuffix(at, "~") || strings.HasSuffix(at, "^") {
		return true
	}
	return slices.Contains([]string{"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "@", "stash"}, name)
}

// gitHash reports a name of digits that may be the hash of a file's content.
func gitHash(name string) bool {
	return len(name) >= 4 && strings.Trim(strings.ToLower(name), "0123456789abcdef") == "" || strings.Contains(name, "^{")
}

// gitTops are the directories that a repository around dir may begin in: what git shows is named from there.
func (j *judge) gitTops(g gitCall, dir string) []string {
	if g.elsewhere || j.p.Look == nil || !strings.HasPrefix(dir, "/") || isPattern(dir) {
		return []string{"/"}
	}
	for at := path.Clean(dir); ; at = path.Dir(at) {
		git, ok := j.p.Look(path.Join(at, ".git"), false)
		if !ok || len(git) != 1 {
			return []string{"/"}
		}
		if !git[0].Missing && git[0].Dir { // an empty directory of that name is none to git
			if head, ok := j.p.Look(path.Join(at, ".git", "HEAD"), false); ok && len(head) == 1 && head[0].Missing {
				git[0].Missing = true
			}
		}
		if !git[0].Missing {
			tops := []string{at}
			if real, ok := j.p.Look(at, false); ok && len(real) == 1 && real[0].Path != at {
				tops = append(tops, path.Clean(real[0].Path))
			}
			return tops
		}
		if at == "/" {
			return []string{dir} // no repository: what is shown lies here
		}
	}
}
