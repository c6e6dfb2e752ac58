package permission

import "strings"

// judge holds what the steps of one decision share.
type judge struct {
	p    Policy
	r    Request
	pats []pattern
	s    *script // nil unless Bash
	why  string  // why no allow rule covered a Bash call

	named     []pathName        // what names returned
	temp      string            // where the policy's TempDir really is, once it is known
	unread    *string           // why a Bash call does more than read inside, once it is known
	elsewhere *string           // why no command reads inside here, once it is known
	here      string            // where the working directory really is
	systems   map[string]string // what notSystems said of names
	entries   map[string]bool   // what writableEntry said of directories
	changed   string            // the command before in this text that may change where a path leads, "" for none
}

func newJudge(p Policy, r Request) *judge {
	j := &judge{p: p, r: r, pats: make([]pattern, 0, len(p.Rules)+len(p.Grants))}
	for _, list := range [][]Rule{p.Rules, p.Grants} {
		for _, rule := range list {
			pat, err := compile(rule)
			if err != nil || rule.Effect != Allow && rule.Effect != Ask && rule.Effect != Deny {
				pat = pattern{Rule: rule, bad: true}
			}
			j.pats = append(j.pats, pat)
		}
	}
	j.s = readCommand(r)
	return j
}

func by(p pattern, effect Effect, reason string) (Decision, bool) {
	return Decision{Effect: effect, Rule: p.Text, Source: p.Source, Reason: reason}, true
}

// denied: a deny rule that certainly matches.
func (j *judge) denied() (Decision, bool) {
	for _, p := range j.pats {
		if p.Effect == Deny && !p.bad && j.narrows(p) == yes {
			return by(p, Deny, "denied by the rule "+p.Text)
		}
	}
	return Decision{}, false
}

// planned: mode plan changes nothing.
func (j *judge) planned() (Decision, bool) {
	if j.p.Mode != ModePlan {
		return Decision{}, false
	}
	deny := func(why string) (Decision, bool) { return Decision{Effect: Deny, Reason: "plan mode: " + why}, true }
	switch j.r.Tool {
	case toolBash:
		if why := j.notReading(); why != "" {
			return deny("only commands that look run, such as ls, cat, grep, git log and git diff inside the session's directories: " + why)
		}
	case toolBashInput:
		return deny("nothing is typed into commands")
	case toolWrite, toolEdit:
		return deny("files are not changed")
	case toolMemory:
		if !j.r.Reads {
			return deny("the memory is not changed")
		}
	}
	return Decision{}, false
}

// always: what asks in every mode, whatever is granted.
func (j *judge) always() (Decision, bool) {
	why := ""
	switch j.r.Tool {
	case toolBash, toolBashInput:
		if why = j.deciding(); why == "" {
			why = j.namesProtected()
		}
		if why == "" {
			why = j.changesObeyed()
		}
	case toolWrite, toolEdit:
		raw := rawTarget(j.r)
		switch {
		case !strings.HasPrefix(j.r.Path, "/"):
			why = "the path is not absolute, so what it names is not certain"
		case oddPath(j.r):
			why = "the path is over-long or has characters that do not show as they are"
		case protectedPath(j.p, j.r.Path, false):
			why = j.r.Path + " is protected"
		case raw != "" && protectedPath(j.p, raw, false):
			why = raw + " is protected"
		case obeyedPath(j.p, j.r.Path, false) || raw != "" && obeyedPath(j.p, raw, false):
			why = j.r.Path + " is obeyed later, by programs or agents"
		case programPath(j.p, j.r.Path, false) || raw != "" && programPath(j.p, raw, false):
			why = j.r.Path + " lies in a directory whose programs are run by their names"
		case j.r.GitDir:
			why = "git would obey " + j.r.Path + " and what else is in that directory, and can run programs that they name"
		}
	}
	if why == "" {
		return Decision{}, false
	}
	return Decision{Effect: Ask, Always: true, Reason: why + ": this asks in every mode"}, true
}

// asked: an ask rule that certainly matches, or a rule this version cannot read.
func (j *judge) asked() (Decision, bool) {
	for _, p := range j.pats {
		if p.bad && p.Effect != Allow {
			return by(p, Ask, "the rule "+clip(p.Text)+" cannot be read by this version, so every call asks")
		}
		if p.Effect == Ask && j.narrows(p) == yes {
			return by(p, Ask, "the rule "+p.Text+" asks")
		}
	}
	return Decision{}, false
}

// exactText: a rule or grant for exactly these bytes.
func (j *judge) exactText() (Decision, bool) {
	if j.r.Tool != toolBash {
		return Decision{}, false
	}
	for _, p := range j.pats {
		if p.mayAllow(toolBash) && p.kind == matchExact && p.text == j.r.Command {
			return by(p, Allow, "exactly this command is allowed")
		}
	}
	return Decision{}, false
}

// mayAllow reports an allow rule about the tool that is in force. An untrusted
// project's file only narrows.
func (p pattern) mayAllow(tool string) bool {
	return p.Effect == Allow && !p.bad && p.Source != SourceProject && p.bindsTool(tool)
}

// unsure: a deny or ask rule that cannot be ruled out.
func (j *judge) unsure() (Decision, bool) {
	for _, p := range j.pats {
		if p.Effect == Allow || p.bad {
			continue
		}
		if j.narrows(p) == perhaps {
			return by(p, Ask, "it cannot be told from the text whether the rule "+p.Text+" matches")
		}
		if w := j.wordUnder(p); w != "" {
			return by(p, Ask, "the command names "+clip(w)+", which the rule "+p.Text+" covers")
		}
		if why := j.reachedBelow(p); why != "" {
			return by(p, Ask, why+" that the rule "+p.Text+" covers")
		}
	}
	return Decision{}, false
}
