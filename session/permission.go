package session

import "slices"

// Permissions are the rules a session runs under, what humans granted, and what was decided.
type Permissions struct {
	Rules     []Rule           `json:"rules"`
	Digest    Digest           `json:"digest"`
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
	Rule  string `json:"rule"`
	Scope string `json:"scope"`
	Actor Actor  `json:"actor"`
	Seq   int64  `json:"seq"`
	Time  int64  `json:"time"`
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

func (p *Permissions) remember(d DecisionRecord) {
	if len(p.Decisions) >= maxSettled {
		p.Decisions = slices.Clone(p.Decisions[len(p.Decisions)-maxSettled+1:])
	}
	p.Decisions = append(p.Decisions, d)
}

func (p *Permissions) grant(g Grant) {
	if !slices.ContainsFunc(p.Grants, func(o Grant) bool { return o.Rule == g.Rule }) {
		p.Grants = append(p.Grants, g)
	}
}

// PermissionRules replaces the rules in force. The engine appends it when the ones it was started with differ.
type PermissionRules struct {
	headOnly
	Rules  []Rule `json:"rules"`
	Digest Digest `json:"digest"`
}

// Kind is permission.rules.
func (*PermissionRules) Kind() Kind { return KindPermissionRules }

func (b *PermissionRules) apply(s *State, _ Event) {
	if s.Permissions.Digest == b.Digest {
		return
	}
	s.Permissions.Rules, s.Permissions.Digest = b.Rules, b.Digest
	// What was allowed under other rules and has not started is decided again.
	if s.Turn != nil {
		for i := range s.Turn.Calls {
			if c := &s.Turn.Calls[i]; c.State == ActPlanned && c.Decision != nil && !c.Settled() {
				c.Decision = nil
			}
		}
	}
}

// PermissionGranted adds a grant.
type PermissionGranted struct {
	headOnly
	Rule  string `json:"rule"`
	Scope string `json:"scope"`
}

// Kind is permission.granted.
func (*PermissionGranted) Kind() Kind { return KindPermissionGranted }

func (b *PermissionGranted) apply(s *State, e Event) {
	s.Permissions.grant(Grant{Rule: b.Rule, Scope: b.Scope, Actor: e.Actor, Seq: e.Seq, Time: e.Time})
}

// PermissionRevoked removes a grant.
type PermissionRevoked struct {
	headOnly
	Rule string `json:"rule"`
}

// Kind is permission.revoked.
func (*PermissionRevoked) Kind() Kind { return KindPermissionRevoked }

func (b *PermissionRevoked) apply(s *State, _ Event) {
	s.Permissions.Grants = slices.DeleteFunc(s.Permissions.Grants, func(g Grant) bool { return g.Rule == b.Rule })
}
