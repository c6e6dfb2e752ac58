package permission

import (
	"slices"
	"strings"
)

// This file knows the files that run, or are obeyed, later, and that are read and handed on every day: what a service
// runs after a push, what an agent takes for instructions, what each start of a program loads. A change of them asks, in
// every mode; reading them does not.

// obeyedNames are files and directories, at any depth, in lower case.
var obeyedNames = []string{
	"agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules",
	".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".gitlab-ci.yml", ".travis.yml", "sitecustomize.py", "usercustomize.py",
	"lefthook.yml", "lefthook.yaml", "lefthook-local.yml", "lefthook-local.yaml", "lefthook.toml", "lefthook.json",
	".lefthook.yml", ".lefthook.yaml", ".lefthook.toml", ".lefthook-local.yml", ".lefthook-local.yaml", ".aider.conf.yml", ".overcommit.yml", ".lintstagedrc", ".lintstagedrc.json",
	".lintstagedrc.js", ".lintstagedrc.cjs", ".lintstagedrc.mjs", ".lintstagedrc.yml", ".lintstagedrc.yaml",
	"jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".buildkite", ".woodpecker.yml", ".woodpecker",
	"opencode.json", "opencode.jsonc", ".opencode", ".continue", ".lazy.lua", "mise.toml", ".mise.toml", ".tool-versions",
	".idea", ".dir-locals.el",
	".agent", // what sessions keep of a project beyond their conversations, for those that come after them
}

// obeyedPairs are the same within a directory of a certain name.
var obeyedPairs = []struct {
	dir   string
	names []string
}{
	{".github", []string{"workflows", "actions", "copilot-instructions.md", "instructions"}},
	{".circleci", []string{"config.yml"}},
	{".cursor", []string{"rules"}},
	{".gitea", []string{"workflows"}},
	{".forgejo", []string{"workflows"}},
	{".zed", []string{"tasks.json", "settings.json", "debug.json"}},
	{".helix", []string{"languages.toml", "config.toml"}},
	{".kiro", []string{"hooks", "steering", "settings"}},
	{".roo", []string{"rules", "mcp.json"}},
	{".windsurf", []string{"rules", "workflows", "hooks.json"}},
	{".trae", []string{"rules", "mcp.json"}},
	{".yarn", []string{"releases", "plugins"}},
}

// obeyedPath reports such a path. With glob its segments may be shell patterns; one whose first letter is not written
// means no name: *.md is not taken for AGENTS.md.
func obeyedPath(p Policy, abs string, glob bool) bool {
	if _, own := relative(p.TempDir, cleanForm(abs)); own && strings.HasPrefix(p.TempDir, "/") {
		return false
	}
	segs := strings.Split(fold(cleanForm(abs)), "/")
	for i, seg := range segs {
		next := ""
		if i+1 < len(segs) {
			next = segs[i+1]
		}
		if obeyedName(seg, next, glob) {
			return true
		}
	}
	return obeyedFile(p, segmentsOf(cleanForm(abs)), glob)
}

// obeyedFile reports one of Policy.Obeyed.
func obeyedFile(p Policy, at segments, glob bool) bool {
	return slices.ContainsFunc(p.obeys, func(file segments) bool {
		last, name := at.folded[len(at.folded)-1], file.folded[len(file.folded)-1]
		return last != "" && last[0] == name[0] && underAny(at, []segments{file}, glob)
	})
}

func obeyedName(seg, next string, glob bool) bool {
	match := func(seg string) func(string) bool {
		return func(name string) bool { return seg != "" && seg[0] == name[0] && segMatches(seg, name, glob) }
	}
	if slices.ContainsFunc(obeyedNames, match(seg)) || strings.HasSuffix(seg, ".code-workspace") {
		return true
	}
	if (seg == "site-packages" || seg == "dist-packages") && strings.HasSuffix(next, ".pth") { // elsewhere it is data
		return true
	}
	for _, p := range obeyedPairs {
		if match(seg)(p.dir) && slices.ContainsFunc(p.names, match(next)) {
			return true
		}
	}
	return false
}

// changesObeyed says which word of a command may change such a file, or "".
func (j *judge) changesObeyed() string {
	for _, n := range j.names() {
		if !n.left && !n.reads && obeyedPath(j.p, n.abs, isPattern(n.abs)) {
			return "the command may change " + n.shown + ", which programs or agents obey later"
		}
		if !n.left && !n.reads && !n.runs && programPath(j.p, n.abs, isPattern(n.abs)) {
			return "the command may change " + n.shown + ", in a directory whose programs are run by their names"
		}
	}
	return ""
}

// readsWords reports a command that writes to none of the files that its words name. It is certain of it, or says no.
func readsWords(argv []word) bool {
	name, known := command{argv: argv}.name()
	if !known {
		return false
	}
	switch name {
	case "cat", "head", "tail", "wc", "ls", "stat", "du", "df", "grep", "egrep", "fgrep", "zgrep", "diff", "cmp", "comm", "cut", "nl", "tac", "fold", "column", "paste",
		"od", "hexdump", "strings", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "jq", "test", "[", "echo", "printf", "true", "false", ":",
		"basename", "dirname", "realpath", "readlink", "pwd", "which", "type", "cd":
		return true
	case "rg":
		return !slices.ContainsFunc(argv, func(w word) bool { return !w.known || strings.HasPrefix(w.text, "--pre") })
	case "find":
		return findLooks(argv)
	case "sed":
		return sedPrints(argv[1:])
	case "git":
		return gitKeeps(argv[1:])
	}
	if f, ok := wrapper(name); ok && f.before >= 0 {
		in := unwrapFlags(name, f, argv[1:])
		return len(in.commands) == 1 && !in.program && !in.unknown && len(in.texts) == 0 && readsWords(in.commands[0])
	}
	return false
}

// sedPrints reports a sed that only prints lines by their numbers.
func sedPrints(args []word) bool {
	script := false
	for _, w := range args {
		switch {
		case !w.known && !w.glob:
			return false
		case w.text == "-n" || w.text == "-E" || w.text == "-r" || w.text == "-e" || w.text == "--quiet" || w.text == "--silent":
		case strings.HasPrefix(w.text, "-"):
			return false
		case !script:
			script = true
			if w.glob || strings.Trim(w.text, "0123456789$,;p=q ") != "" {
				return false
			}
		}
	}
	return true
}

// gitKeeps reports a git command that leaves the files of the working directory as they are.
func gitKeeps(args []word) bool {
	for len(args) > 0 && plainGitGlobal(args[0].text) {
		args = args[1:]
	}
	if len(args) == 0 {
		return true
	}
	switch args[0].text {
	case "add", "stage", "commit", "status", "log", "diff", "show", "blame", "annotate", "grep", "ls-files", "ls-tree", "rev-list", "rev-parse", "shortlog", "describe",
		"check-ignore", "check-attr", "cat-file", "push", "whatchanged":
	default:
		return false
	}
	return !slices.ContainsFunc(args, func(w word) bool {
		return !w.known && !w.glob || strings.HasPrefix(w.text, "--o") || strings.HasPrefix(w.text, "--ext") || strings.HasPrefix(w.text, "-O")
	})
}
