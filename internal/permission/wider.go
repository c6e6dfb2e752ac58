package permission

import (
	"path"
	"strings"
)

// Wider returns the narrowest pattern that covers a call and others like it, to
// offer beside the exact rule of [Suggest], and says in a few words what it
// allows: the first words of a command, the directory of a file. Both are empty
// where no pattern can cover the call, or where it would be no wider.
func Wider(r Request) (rule, allows string) {
	exact := Suggest(r)
	if exact == "" {
		return "", ""
	}
	switch r.Tool {
	case toolBash:
		return widerCommand(r)
	case toolRead, toolWrite, toolEdit, toolArtifact:
		dir := path.Dir(path.Clean(r.Path))
		if dir == "/" {
			return "", ""
		}
		return r.Tool + "(" + escapeGlob(dir) + "/**)", "every file below " + dir
	}
	return "", ""
}

// widerCommand finds the one beginning of a command that a rule has to cover.
// Commands that only read, by their letters, need no rule.
func widerCommand(r Request) (rule, allows string) {
	p := Policy{Root: r.Cwd, Cwd: r.Cwd, Look: asWritten, Env: map[string]string{"PATH": "/usr/bin"}}
	j := &judge{p: p, r: r, s: analyse(r)}
	if j.s.why != "" {
		return "", ""
	}
	prefix := ""
	for _, c := range j.s.top {
		if j.readsHere(c) {
			continue
		}
		first := beginning(c)
		if first == "" || prefix != "" && prefix != first || profile(c) != "" {
			return "", ""
		}
		prefix = first
	}
	rule = "Bash(" + prefix + ":*)"
	if _, err := compile(Rule{Effect: Allow, Text: rule}); prefix == "" || err != nil {
		return "", ""
	}
	// The commands beside it are judged otherwise once they come behind one that is covered.
	if p.Grants = []Rule{{Effect: Allow, Text: rule, Source: SourceSession}}; Decide(p, r).Effect != Allow {
		return "", ""
	}
	allows = "every " + prefix + ", with any further words"
	if w := Warning(Rule{Effect: Allow, Text: rule}); w != "" {
		allows = w
	}
	return rule, allows
}

// asWritten is a Policy.Look that knows no files: each path leads to itself.
func asWritten(at string, _ bool) ([]Place, bool) { return []Place{{Path: at, Dir: true}}, true }

// beginning gives the words of a command that say what it does: its name, and
// the subcommand of a program that has some. "" if they are not plain.
func beginning(c command) string {
	name := c.argv[0].text
	words := []string{name}
	switch name {
	case "git", "go", "cargo", "dotnet", "terraform", "helm", "aws", "gcloud", "az", "swift", "mix", "stack", "cabal", "flutter", "dart", "zig", "hg", "jj":
		if len(c.argv) < 2 || !subcommand(c.argv[1]) {
			return ""
		}
		words = append(words, c.argv[1].text)
	}
	text := strings.Join(words, " ")
	if simpleWords(text) == nil || strings.Contains(name, "/") {
		return ""
	}
	return text
}

func subcommand(w word) bool {
	return w.known && w.text != "" && strings.Trim(w.text, "abcdefghijklmnopqrstuvwxyz-") == "" && w.text[0] != '-'
}
