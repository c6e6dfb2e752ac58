package session

import (
	"slices"

	"github.com/perdure/perdure/store"
)

// Permissions are the rules a session runs under, what humans granted, and what was decided.
type Permissions struct {
	Rules     []Rule           `json:"rules"`
	Digest    store.Digest     `json:"digest"`
	Grants    []Grant          `json:"grants"`
	Decisions []DecisionRecord `json:"decisions"` // the newest; older ones are in the log
}

// Rule is one permission rule in force: Effect is allow, ask or deny, Text as in Bash(git:*).
type Rule struct {
	Effect string `json:"effect"`
	Text   string `json:"rule"`
	Source string `json:"source"` // flag, user, project, session
}

// Grant is an allow that a human gave for longer than one act.
type Grant struct {
	Rule  string      `json:"rule"`
	Scope string      `json:"scope"`
	Cwd   string      `json:"cwd,omitempty"` // directory that it was given in, and holds in; "": see [State.GrantsHere]
	Actor store.Actor `json:"actor"`
	Seq   int64       `json:"seq"`
	Time  int64       `json:"time"`
}

// DecisionRecord is one decision, for show.
type DecisionRecord struct {
	Act    string `json:"act"`
	Tool   string `json:"tool"`
	Effect string `json:"effect"`
	Rule   string `json:"rule"`
	Human  bool   `json:"human"`
	Seq    int64  `json:"seq"`
	Time   int64  `json:"time"`
}

func (s *State) grant(e store.Event, rule, scope, cwd string) {
	p := &s.Permissions
	switch {
	case slices.ContainsFunc(p.Grants, func(o Grant) bool { return o.Rule == rule && o.Cwd == cwd }):
	case len(p.Grants) >= maxGrants:
		s.fault(e, "more than %d grants", maxGrants)
	default:
		p.Grants = append(p.Grants, Grant{Rule: rule, Scope: scope, Cwd: cwd, Actor: e.Actor, Seq: e.Seq, Time: e.Time})
	}
}

// PermissionRules replaces the rules in force. The engine appends it when the ones it was started with differ.
type PermissionRules struct {
	headOnly
	Rules  []Rule       `json:"rules"`
	Digest store.Digest `json:"digest"`
}

func (b *PermissionRules) summary() string { return things(len(b.Rules), "rule") }

func (b *PermissionRules) apply(s *State, _ store.Event) {
	if s.Permissions.Digest == b.Digest {
		return
	}
	s.Permissions.Rules, s.Permissions.Digest = b.Rules, b.Digest
	s.redecide()
}

// redecide forgets what was decided under other rules, grants or modes and has not started: it is decided again. What
// waits for a human may need none any more; until it is decided, their answer is still taken.
func (s *State) redecide() {
	if s.Turn == nil {
		return
	}
	for i := range s.Turn.Calls {
		c := &s.Turn.Calls[i]
		if c.State == ActAwaitingApproval && !c.Settled() {
			c.State = ActPlanned
		}
		if c.State == ActPlanned && !c.Settled() {
			c.Decision = nil
		}
	}
}

// GrantsHere lists the grants that hold in the working directory. The same words mean another program elsewhere, so a
// grant holds only where it was given; one that does not say where (of an older version, or of a program that left it
// out) holds in the directory that the session was opened in.
func (s *State) GrantsHere() (out []Grant) {
	for _, g := range s.Permissions.Grants {
		if g.Cwd == s.Cwd || g.Cwd == "" && s.Config.Root == s.Cwd {
			out = append(out, g)
		}
	}
	return out
}

// PermissionGranted adds a grant.
type PermissionGranted struct {
	headOnly
	Rule  string `json:"rule"`
	Scope string `json:"scope"`
	Cwd   string `json:"cwd,omitempty"` // see [Grant]
}

func (b *PermissionGranted) summary() string { return b.Scope + ": " + b.Rule }

func (b *PermissionGranted) apply(s *State, e store.Event) {
	s.grant(e, b.Rule, b.Scope, b.Cwd)
	s.redecide()
}

// PermissionRevoked removes a grant.
type PermissionRevoked struct {
	headOnly
	Rule string `json:"rule"`
}

func (b *PermissionRevoked) summary() string { return b.Rule }

func (b *PermissionRevoked) apply(s *State, _ store.Event) {
	n := len(s.Permissions.Grants)
	s.Permissions.Grants = slices.DeleteFunc(s.Permissions.Grants, func(g Grant) bool { return g.Rule == b.Rule })
	if len(s.Permissions.Grants) < n {
		s.redecide()
	}
}
