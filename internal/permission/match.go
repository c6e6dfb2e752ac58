package permission

import (
	"path"
	"strings"
)

// answer is how sure a match is.
type answer int

const (
	no answer = iota
	perhaps
	yes
)

// Matches reports that a rule alone matches a call: for a deny or ask rule that
// any part of the call is what the rule names, for an allow rule that the rule
// covers the whole call. Modes, protected paths and other rules are not asked.
// Request.Root, Cwd and HomeDir must be set for relative and ~/ patterns. A rule
// that does not parse matches nothing.
func Matches(rule Rule, r Request) bool {
	pat, err := compile(rule)
	if err != nil || refusedBytes(r) != "" {
		return false
	}
	j := &judge{r: r, pats: []pattern{pat}}
	j.s = readCommand(r)
	if rule.Effect == Allow {
		if _, ok := j.exactText(); ok {
			return true
		}
		_, ok := j.allowed()
		return ok
	}
	return j.narrows(pat) == yes
}

// narrows compares a deny or ask rule with the call.
func (j *judge) narrows(p pattern) answer {
	if !p.bindsTool(j.r.Tool) || j.r.inline() && (p.tool != toolArtifact || p.kind == matchPath) {
		return no
	}
	switch p.kind {
	case matchTool:
		return yes
	case matchPath:
		return j.narrowsPath(p)
	case matchExact:
		if strings.TrimSpace(p.text) == strings.TrimSpace(j.r.Command) {
			return yes
		}
	}
	best := no
	if j.s.unknown {
		best = perhaps
	}
	for _, c := range j.s.all {
		best = max(best, p.names(c))
		if best == yes {
			break
		}
	}
	return best
}

func (j *judge) narrowsPath(p pattern) answer {
	at := target(j.r)
	if p.pathMatches(path.Clean(at), j.r) {
		return yes
	}
	if raw := rawTarget(j.r); raw != "" && p.pathMatches(raw, j.r) {
		return yes
	}
	if !strings.HasPrefix(at, "/") || leaves(j.r.Pattern) {
		return perhaps
	}
	if _, _, ok := p.anchor(j.r); !ok {
		return perhaps
	}
	return no
}

// names compares a Bash deny or ask rule with one command, erring on the wide
// side: a path to the program, another letter case and options before the
// subcommand do not evade it.
func (p pattern) names(c command) answer {
	if len(p.argv) == 0 || len(c.argv) == 0 {
		return no
	}
	if !c.argv[0].known {
		return perhaps
	}
	if !strings.EqualFold(path.Base(c.argv[0].text), path.Base(p.argv[0].text)) {
		return no
	}
	rule, args := p.argv[1:], c.argv[1:]
	if p.kind == matchExact {
		return sameWords(rule, args)
	}
	if best := prefixWords(rule, args); best != no {
		return best
	}
	// git -X push: the rule's words in order, with options and what may be their
	// values between them.
	at := 0
	for i, w := range args {
		if at == len(rule) {
			break
		}
		if w.known && w.text == rule[at].text {
			at++
			continue
		}
		option := strings.HasPrefix(w.text, "-") || !w.known
		if !option && (i == 0 || !strings.HasPrefix(args[i-1].text, "-")) {
			return no
		}
	}
	if at == len(rule) {
		return perhaps
	}
	return no
}

func prefixWords(rule, args []word) answer {
	for i, want := range rule {
		switch {
		case i >= len(args):
			return no
		case !args[i].known:
			return perhaps // it may be any word, or several
		case args[i].text != want.text:
			return no
		}
	}
	return yes
}

func sameWords(rule, args []word) answer {
	for i, w := range args {
		if !w.known && (i >= len(rule) || !w.equal(rule[i])) {
			return perhaps
		}
		if i >= len(rule) || !w.equal(rule[i]) {
			return no
		}
	}
	if len(args) == len(rule) {
		return yes
	}
	return no
}

// coversExact reports that an allow rule names exactly this command.
func (p pattern) coversExact(c command) bool {
	if p.kind != matchExact || len(p.argv) == 0 || len(p.argv) != len(c.argv) {
		return false
	}
	for i, w := range c.argv {
		if !w.equal(p.argv[i]) {
			return false
		}
	}
	return true
}

// coversPrefix reports that an allow rule's words begin this command. A path to
// a program is never the program's name.
func (p pattern) coversPrefix(c command) bool {
	if p.kind != matchPrefix || len(p.argv) > len(c.argv) {
		return false
	}
	for i, want := range p.argv {
		if !c.argv[i].known || c.argv[i].text != want.text {
			return false
		}
	}
	return true
}
