package permission

import (
	"path"
	"strings"
)

// allowed: one or more allow rules cover the whole call.
func (j *judge) allowed() (Decision, bool) {
	if j.r.Tool == toolBash {
		return j.allowedBash()
	}
	for _, p := range j.pats {
		if !p.mayAllow(j.r.Tool) {
			continue
		}
		if p.kind == matchTool || p.kind == matchPath && !oddPath(j.r) && !leaves(j.r.Pattern) && p.pathMatches(path.Clean(target(j.r)), j.r) {
			return by(p, Allow, "allowed by the rule "+p.Text)
		}
	}
	return Decision{}, false
}

func (j *judge) allowedBash() (Decision, bool) {
	if !j.s.broken {
		for _, p := range j.pats {
			if p.mayAllow(toolBash) && p.kind == matchTool {
				return by(p, Allow, "allowed by the rule "+p.Text)
			}
		}
	}
	if j.s.why != "" {
		j.why = "it is not plainly understood: " + j.s.why
		return Decision{}, false
	}
	var used []string
	var last pattern
	for _, c := range j.s.top {
		if j.staysHere(c) {
			continue
		}
		p, ok := j.covering(c)
		if !ok {
			why := j.why
			if j.readsHere(c) {
				continue
			}
			j.why = why + j.unlikeReading(c, why)
			return Decision{}, false
		}
		j.after(c)
		if last = p; len(used) == 0 || used[len(used)-1] != p.Text {
			used = append(used, p.Text)
		}
	}
	if len(used) == 0 {
		j.why = "no rule allows it"
		return Decision{}, false
	}
	d, _ := by(last, Allow, "allowed by "+clip(strings.Join(used, ", ")))
	d.Rule = strings.Join(used, ",")
	return d, true
}

// covering finds the allow rule for one command of a plain text.
func (j *judge) covering(c command) (pattern, bool) {
	asks := profile(c)
	if asks == "" {
		asks = j.steered()
	}
	if asks == "" {
		asks = j.remoteAsPath(c)
	}
	if asks == "" {
		asks = j.unseenPattern()
	}
	j.why = noRuleFor(c.argv[0].text)
	for _, p := range j.pats {
		if !p.mayAllow(toolBash) {
			continue
		}
		if p.coversExact(c) {
			if !c.piped || filter(c) {
				return p, true
			}
			j.why = "what " + clip(c.argv[0].text) + " reads from the pipe may be a program"
		}
		if p.coversPrefix(c) {
			if asks == "" {
				return p, true
			}
			j.why = asks
		}
	}
	switch name := c.argv[0].text; name {
	case "timeout", "nice", "nohup":
		f, _ := wrapper(name)
		in := unwrapFlags(name, f, c.argv[1:])
		if len(in.commands) == 1 && !in.program && !in.unknown {
			return j.covering(command{argv: in.commands[0], piped: c.piped})
		}
	}
	return pattern{}, false
}

// filter reports a program to which what it reads is data.
func filter(c command) bool {
	switch name, _ := c.name(); name {
	case "head", "tail", "wc", "sort", "uniq", "grep", "egrep", "fgrep", "cut", "tr", "cat", "tac", "rev", "nl", "tee", "jq", "column", "fold", "fmt", "paste", "join", "comm", "cmp", "diff",
		"md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "base64", "xxd", "od", "hexdump", "strings", "expand", "unexpand", "echo", "true", "false":
		return true
	}
	return false
}

// staysHere reports a cd to the very directory the command starts in: models
// write it before anything, and it changes nothing.
func (j *judge) staysHere(c command) bool {
	return len(c.argv) == 2 && c.argv[0].text == "cd" && c.argv[0].known && c.argv[1].known &&
		strings.HasPrefix(c.argv[1].text, "/") && path.Clean(c.argv[1].text) == j.r.Cwd
}
