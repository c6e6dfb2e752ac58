package panels

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Permission is a rule that decides about calls before anybody is asked.
type Permission struct {
	ID     string // that it is taken back by; of all of a list another one
	Effect string // allow, ask or deny
	Rule   string // as it is written
	Words  string // what it is about, in words
	From   string // who gave it, and when; or the file that has it
	Fixed  string // how it is changed, of one that is not taken back here; empty: it is
}

// PermissionScope are the rules that hold for as long and as far as each other, in the order in which they were given.
type PermissionScope struct {
	Title string
	Rules []Permission
}

// Permissions are what a session may do.
type Permissions struct {
	Mode   string // how freely, in a word
	Scopes []PermissionScope
}

// PermissionsSource says what a session may do, and takes rules back. Its methods may block, and are called from other
// goroutines.
type PermissionsSource interface {
	Permissions(ctx context.Context) (Permissions, error)
	// Revoke takes a rule back that is not fixed, and says in words what that changes.
	Revoke(ctx context.Context, p Permission) (string, error)
}

// NewPermissions is the page of what a session may do without asking.
func NewPermissions(cfg Config, src PermissionsSource) *Page {
	p := &Page{cfg: cfg, title: "Permissions", opens: "more"}
	p.load = func(ctx context.Context) (filled, error) {
		perms, err := src.Permissions(ctx)
		if err != nil {
			return filled{}, err
		}
		return permissionRows(cfg.Styles, src, perms), nil
	}
	return p
}

func permissionRows(s theme.Styles, src PermissionsSource, perms Permissions) filled {
	f := filled{none: "no rule decides: the mode does, and you", sum: "mode " + plain.Shown(perms.Mode, 40)}
	for _, scope := range perms.Scopes {
		if len(scope.Rules) == 0 {
			continue
		}
		if len(f.rows) > 0 {
			f.rows = append(f.rows, blank())
		}
		f.rows = append(f.rows, heading(s, plain.Shown(scope.Title, 200)))
		for _, r := range scope.Rules {
			row := row{
				key: r.ID, name: r.Rule, find: r.Rule + " " + r.Words + " " + r.From + " " + r.Effect,
				draw: func(width int) string { return permissionLine(s, r, width) },
				text: words(permissionText(scope.Title, r)), fixed: r.Fixed,
			}
			if r.Fixed == "" {
				row.drop = func(ctx context.Context) (string, error) { return src.Revoke(ctx, r) }
			}
			f.rows = append(f.rows, row)
		}
	}
	return f
}

// permissionLine is a rule: what it does and is about, and where it comes from as far as there is room.
func permissionLine(s theme.Styles, r Permission, width int) string {
	look := s.Good
	switch r.Effect {
	case "deny":
		look = s.Bad
	case "ask":
		look = s.Warn
	}
	const from = 72 // cells from which on there is room for it
	right := ""
	if width >= from {
		right = s.Quiet.Styled(theme.Cut(plain.Shown(r.From, 200), width/3))
	}
	left := look.Styled(theme.Fit(plain.Shown(r.Effect, 10), 5)) + "  " + plain.Shown(r.Words, 1000)
	return side(left, right, width)
}

func permissionText(scope string, r Permission) string {
	text := fmt.Sprintf("%s: %s\n\nrule   %s\nholds  %s\nfrom   %s", r.Effect, r.Words, r.Rule, scope, r.From)
	if r.Fixed != "" {
		return text + "\n\n" + r.Fixed
	}
	return text + "\n\nx in the list takes it back."
}
