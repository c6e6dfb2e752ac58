package permission

import (
	"path"
	"strings"
)

// Suggest returns the narrowest rule text that would allow this call again, to
// offer a human as a session grant: the exact text of a command, the exact path
// of a file. It is "" where no grant helps or none can be written: refused bytes,
// deciding commands, a task, and commands whose text would be read as a wider
// rule. Where Decision.Always is true nothing should be offered at all.
func Suggest(r Request) string {
	if refusedBytes(r) != "" {
		return ""
	}
	var text string
	switch r.Tool {
	case toolBash:
		if (&judge{r: r, s: analyse(r)}).deciding() != "" {
			return ""
		}
		text = "Bash(" + r.Command + ")"
	case toolRead, toolWrite, toolEdit, toolArtifact:
		if !strings.HasPrefix(r.Path, "/") || oddPath(r) || path.Clean(r.Path) == "/" { // a rule / means all below it
			return ""
		}
		text = r.Tool + "(" + escapeGlob(path.Clean(r.Path)) + ")"
	case toolGlob, toolGrep:
		dir := target(r)
		if !strings.HasPrefix(dir, "/") || oddPath(r) || leaves(r.Pattern) {
			return ""
		}
		text = "Read(" + strings.TrimSuffix(escapeGlob(path.Clean(dir)), "/") + "/**)"
	case toolBashOutput, toolAwait, toolBashInput, toolKillBash:
		return ""
	default:
		text = r.Tool
	}
	pat, err := compile(Rule{Effect: Allow, Text: text, Source: SourceSession})
	if err != nil || r.Tool == toolBash && (pat.kind != matchExact || pat.text != r.Command) || !Matches(pat.Rule, r) {
		return ""
	}
	return text
}

// escapeGlob writes a path so that a glob matches it alone.
func escapeGlob(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`\*?[]{}`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Warning says in one sentence what a human should know before granting a rule,
// or "" for a narrow one.
func Warning(rule Rule) string {
	pat, err := compile(rule)
	switch {
	case err != nil:
		return "this rule cannot be read: " + err.Error()
	case rule.Effect != Allow:
		return ""
	case rule.Source == SourceProject:
		return "an allow rule of a project that is not trusted has no effect"
	}
	switch pat.kind {
	case matchPrefix:
		return prefixWarning(pat)
	case matchPath:
		if pat.text == "**" || pat.text == "/**" || pat.text == "~/**" || pat.text == "//**" {
			return rule.Text + " covers every file below that point"
		}
	case matchTool:
		switch pat.tool {
		case toolBashInput:
			return "BashInput allows typing anything into a task that reads it: into a shell, every command"
		case toolBash:
			return "Bash allows every command that parses, also ones that delete files or send them away"
		case toolEdit, toolWrite:
			return rule.Text + " allows changing every file, also outside this directory"
		case toolRead, toolGlob, toolGrep:
			return rule.Text + " allows reading every file, also secrets outside this directory"
		}
	}
	return ""
}

func prefixWarning(pat pattern) string {
	c := command{argv: pat.argv}
	name, _ := c.name()
	if why := profile(c); why != "" {
		return pat.Text + " will still ask: " + why
	}
	switch name {
	case "git":
		return gitWarning(pat)
	case "rm", "mv", "cp", "chmod", "chown", "kill", "pkill", "shred", "truncate":
		return pat.Text + " covers any file or process that it is given"
	case "cd":
		return pat.Text + " moves later commands anywhere, also into repositories that configure programs"
	}
	return ""
}
