package homes

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ForkLike is [Home.Fork] in which holds what holds in a session now, whatever held at the event: the mode, the model,
// the limits, the added directories, and what may be done without asking. So who goes back goes back with the
// conversation alone, and neither has less than before nor more: what was taken back since then stays taken back. The
// mode bypassPermissions is no fork's: it holds for the process that was given its flag.
func (h *Home) ForkLike(ctx context.Context, like, parent string, seq int64, title string) (id string, err error) {
	now, err := h.State(ctx, like)
	if err != nil {
		return "", err
	}
	then, err := h.eng.ForkState(ctx, parent, seq)
	if err != nil {
		return "", err
	}
	id, _, err = h.eng.Fork(ctx, parent, seq, "", title, kept(now, then)...)
	return id, err
}

// takenBack are the events by which a fork at a seq is without the grants that were taken back since.
func (h *Home) takenBack(ctx context.Context, parent string, seq int64) ([]session.Body, error) {
	if seq == 0 {
		return nil, nil
	}
	now, err := h.State(ctx, parent)
	if _, damaged := errors.AsType[*store.CorruptError](err); damaged {
		return nil, nil // a fork of such a log has none
	}
	if err != nil {
		return nil, err
	}
	then, err := h.eng.ForkState(ctx, parent, seq)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(then.Permissions.Grants), func(g session.Grant) bool { return !granted(now.Permissions.Grants, g) })
	return grants(left, then.Permissions.Grants), nil
}

// kept are the events by which a fork of a state has the settings and permissions of another one.
func kept(now, then *session.State) (out []session.Body) {
	c, some := &session.Configured{}, false
	if m := now.Config.Mode; m != "" && m != then.Config.Mode && m != string(permission.ModeBypass) {
		c.Mode, some = &m, true
	}
	limits(c, now, then, &some)
	differs(&c.CompactAt, now.Config.CompactAt, then.Config.CompactAt, &some)
	differs(&c.NoCompact, now.Config.NoCompact, then.Config.NoCompact, &some)
	if how := cmp.Or(now.Config.OnLost, session.OnLostTell); how != cmp.Or(then.Config.OnLost, session.OnLostTell) {
		c.OnLost, some = &how, true
	}
	for _, d := range now.Directories {
		if !slices.Contains(then.Directories, d) {
			c.AddDirs, some = append(c.AddDirs, d), true
		}
	}
	if a := now.Agent; a.Provider != then.Agent.Provider || a.Model != then.Agent.Model {
		c.Provider, c.Model, c.MaxTokens, c.Window, c.Price = &a.Provider, &a.Model, &a.MaxTokens, &a.Window, a.Price
		some = true
	}
	if some {
		out = append(out, c)
	}
	if p := now.Permissions; p.Digest != then.Permissions.Digest {
		out = append(out, &session.PermissionRules{Rules: p.Rules, Digest: p.Digest})
	}
	return append(out, grants(now.Permissions.Grants, then.Permissions.Grants)...)
}

// limits notes those that somebody here has set. What a bundle claims is no word of theirs, in the fork neither.
func limits(c *session.Configured, now, then *session.State, some *bool) {
	if claims := now.Claimed.Steps; !claims && (then.Claimed.Steps || now.Config.MaxSteps != then.Config.MaxSteps) {
		c.MaxSteps, *some = &now.Config.MaxSteps, true
	}
	if claims := now.Claimed.Budget; !claims && (then.Claimed.Budget || now.Config.BudgetNano != then.Config.BudgetNano) {
		c.BudgetNano, *some = &now.Config.BudgetNano, true
	}
	ms, had := now.Config.RetryForMS, then.Config.RetryForMS
	if claims := now.Claimed.Retry; !claims && ms != nil && (then.Claimed.Retry || had == nil || *had != *ms) {
		c.RetryForMS, *some = ms, true
	}
}

// differs notes a setting that is not what it was.
func differs[T comparable](to **T, now, then T, some *bool) {
	if now != then {
		*to, *some = &now, true
	}
}

// grants are the events after which those of then are those of now. A rule is taken back in every directory, and then given
// again where it holds.
func grants(now, then []session.Grant) (out []session.Body) {
	back := map[string]bool{}
	for _, g := range then {
		if !granted(now, g) && !back[g.Rule] {
			back[g.Rule] = true
			out = append(out, &session.PermissionRevoked{Rule: g.Rule})
		}
	}
	for _, g := range now {
		if back[g.Rule] || !granted(then, g) {
			out = append(out, &session.PermissionGranted{Rule: g.Rule, Scope: g.Scope, Cwd: g.Cwd})
		}
	}
	return out
}

// granted reports whether a grant is among others.
func granted(all []session.Grant, g session.Grant) bool {
	return slices.ContainsFunc(all, func(o session.Grant) bool { return o.Rule == g.Rule && o.Cwd == g.Cwd })
}
