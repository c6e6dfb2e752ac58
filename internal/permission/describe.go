package permission

import "strings"

// Describe says in a few words which calls a rule is about, for people who do not know how rules are written. It decides
// nothing; of a text that this version does not understand it says so.
func Describe(r Rule) string {
	p, err := compile(r)
	_, spec, has := strings.Cut(strings.TrimSuffix(r.Text, ")"), "(")
	does, files := map[string]string{
		toolRead: "reading", toolEdit: "changing", toolWrite: "writing", toolGlob: "listing", toolGrep: "searching", toolArtifact: "keeping",
	}[p.tool]
	switch {
	case err != nil:
		return "this version does not understand it"
	case p.tool == toolBash && (!has || spec == "*"):
		return "every command"
	case p.tool == toolBash && p.kind == matchPrefix:
		return "commands that begin with " + p.text
	case p.tool == toolBash:
		return "the command " + p.text
	case !files:
		return "every call of " + p.tool
	case !has || spec == "*" || spec == "**":
		return does + " any file"
	}
	if below, ok := strings.CutSuffix(spec, "/**"); ok && !strings.ContainsAny(below, "*?[") {
		return does + " every file below " + below
	}
	if strings.ContainsAny(spec, "*?[") {
		return does + " files named as in " + spec
	}
	return does + " " + spec
}
