package screen

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/panels"
)

// permissionsOf says what a session may do, and takes back what people gave: by the commands for that.
type permissionsOf struct {
	app  *app.App
	home *homes.Home
	id   string
	run  func(ctx context.Context, verb string, args ...string) (chat.Reply, error)
}

// The scopes, in the order in which they are shown.
const (
	ofSession = iota
	ofProject
	ofUser
	scopesN
)

// How a rule is taken back, which begins its id.
const (
	byRevoke  = "revoke"  // a grant of the session
	byProject = "project" // remembered for the project
	byUser    = "user"    // remembered for every session
)

// Permissions reads the session's state, and what is remembered. Errors: as of [homes.Home.State].
func (s permissionsOf) Permissions(ctx context.Context) (panels.Permissions, error) {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return panels.Permissions{}, err
	}
	kept, err := settings.ReadAllowed(settings.AllowedFile(settings.UserFile(s.app.Getenv)))
	if err != nil {
		return panels.Permissions{}, err
	}
	scopes := [scopesN][]panels.Permission{}
	for _, g := range st.Permissions.Grants {
		p := permissionOf(byRevoke, permission.Rule{Effect: permission.Allow, Text: g.Rule})
		p.From = "granted by " + cmp.Or(g.Actor.ID, string(g.Actor.Type)) + ", " + s.app.Ago(g.Time)
		if g.Cwd != "" {
			p.From += ", in " + s.app.Tilde(g.Cwd)
		}
		scopes[ofSession] = append(scopes[ofSession], p)
	}
	for i, r := range st.Permissions.Rules {
		scope, p := s.rule(st, permission.Rule{Effect: permission.Effect(r.Effect), Text: r.Text, Source: r.Source}, kept)
		if p.Fixed != "" {
			p.ID = fmt.Sprint(i, " ", p.ID)
		}
		scopes[scope] = append(scopes[scope], p)
	}
	s.since(st, kept, &scopes)
	out := panels.Permissions{Mode: st.Config.Mode}
	for i, title := range []string{ofSession: "This session alone", ofProject: "Sessions of " + s.app.Tilde(st.Config.Root), ofUser: "Every session"} {
		slices.SortStableFunc(scopes[i], func(a, b panels.Permission) int { return cmp.Compare(strength(a.Effect), strength(b.Effect)) })
		out.Scopes = append(out.Scopes, panels.PermissionScope{Title: title, Rules: scopes[i]})
	}
	return out, nil
}

// since are the rules that were remembered after the session was opened, as those that its own answers gave: they hold
// when it is opened the next time.
func (s permissionsOf) since(st *session.State, kept []settings.Remembered, scopes *[scopesN][]panels.Permission) {
	for _, r := range kept {
		if r.Project != "" && r.Project != st.Config.Root || slices.ContainsFunc(st.Permissions.Rules, func(k session.Rule) bool {
			return k.Text == r.Rule && k.Source == r.Source()
		}) {
			continue
		}
		scope, p := s.rule(st, permission.Rule{Effect: permission.Allow, Text: r.Rule, Source: r.Source()}, kept)
		p.From += "; from its next opening on"
		(*scopes)[scope] = append((*scopes)[scope], p)
	}
}

// strength is the order in which rules win.
func strength(effect string) int {
	return slices.Index([]string{string(permission.Deny), string(permission.Ask), string(permission.Allow)}, effect)
}

func permissionOf(by string, r permission.Rule) panels.Permission {
	return panels.Permission{ID: by + " " + r.Text, Effect: string(r.Effect), Rule: r.Text, Words: permission.Describe(r)}
}

// rule is a rule of the session, and the scope that it belongs to.
func (s permissionsOf) rule(st *session.State, r permission.Rule, kept []settings.Remembered) (scope int, p panels.Permission) {
	p = permissionOf("", r)
	switch r.Source {
	case permission.SourceHere:
		s.remembered(&p, byProject, kept, st.Config.Root)
		return ofProject, p
	case permission.SourceRemembered:
		s.remembered(&p, byUser, kept, "")
		return ofUser, p
	case permission.SourceUser:
		p.From = "your configuration"
		p.Fixed = "it stands in " + s.app.Tilde(settings.UserFile(s.app.Getenv)) + ": change it there"
		return ofUser, p
	case permission.SourceProject:
		p.From, p.Fixed = "the project's configuration, which nobody has trusted", "it stands in the project's configuration: change it there"
		if r.Effect == permission.Allow {
			p.Words += " – not in force until perdure trust"
		}
		return ofProject, p
	case permission.SourceTrusted:
		p.From, p.Fixed = "the project's configuration", "it stands in the project's configuration: change it there"
		return ofProject, p
	}
	p.From, p.Fixed = "given with the session", "it was given when the session was begun, and stays with it"
	return ofSession, p
}

// remembered says who had a rule remembered, and when; one that was forgotten since cannot be taken back again.
func (s permissionsOf) remembered(p *panels.Permission, by string, kept []settings.Remembered, project string) {
	i := slices.IndexFunc(kept, func(r settings.Remembered) bool { return r.Rule == p.Rule && r.Project == project })
	if i < 0 {
		p.From, p.Fixed = "remembered once, and forgotten since", "it holds until the session is opened again"
		return
	}
	p.ID, p.From = by+" "+p.Rule, "remembered"
	if kept[i].By != "" {
		p.From += " by " + kept[i].By
	}
	p.From += ", " + s.app.Ago(kept[i].At.UnixMilli())
}

// Revoke runs perdure permissions revoke, or forget.
func (s permissionsOf) Revoke(ctx context.Context, p panels.Permission) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	by, rule, _ := strings.Cut(p.ID, " ")
	args := []string{"forget", "--user", "--", rule}
	said := "taken back for sessions that begin or are opened from now on"
	switch by {
	case byRevoke:
		args, said = []string{"revoke", "--", s.id, rule}, "taken back: this session asks again"
	case byProject:
		st, err := s.home.State(ctx, s.id)
		if err != nil {
			return "", err
		}
		args = []string{"forget", "--project", st.Config.Root, "--", rule}
	}
	_, err := s.run(ctx, "permissions", args...)
	if by == byRevoke && s.keeps(ctx, rule) {
		said += "; the rule is still remembered below, for when it is opened again"
	}
	return said, err
}

// keeps reports whether a rule is remembered for the session's project, or for every session.
func (s permissionsOf) keeps(ctx context.Context, rule string) bool {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return false
	}
	kept, err := settings.ReadAllowed(settings.AllowedFile(settings.UserFile(s.app.Getenv)))
	return err == nil && slices.ContainsFunc(kept, func(r settings.Remembered) bool {
		return r.Rule == rule && (r.Project == "" || r.Project == st.Config.Root)
	})
}

// permissionsPage is the page of what the session may do.
func (l *link) permissionsPage(string) chat.Page {
	return l.page(func(c panels.Config, id string) chat.Page {
		return panels.NewPermissions(c, permissionsOf{l.app, l.home, id, l.run})
	})("")
}

var _ panels.PermissionsSource = permissionsOf{}
