package asking

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/view"
)

// PermissionsCommand is perdure permissions.
func PermissionsCommand(a *app.App) *cobra.Command {
	return app.Group("permissions", "What a session may do without asking", permissionsListCommand(a), revokeCommand(a), forgetCommand(a))
}

func permissionsListCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List mode, rules, grants and the newest decisions; without ID, the rules that are remembered",
		Args: app.RangeArgs(0, 1, "at most one session"),
		Long: `Lists what a session may do: its mode, its rules with where they come from, its grants, the newest decisions.
Without ID it lists the rules that approvals with --scope project or user had perdure remember. They are kept in
allowed.toml beside your configuration; deny and ask rules win over them.`,
		Example: "  perdure permissions list\n  perdure permissions list build",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listRemembered(a, asJSON)
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				v, err := h.View(ctx, id, homes.ViewOptions{})
				if err != nil {
					return err
				}
				if asJSON {
					return a.JSON(v.Permissions)
				}
				return printPermissions(a, v.Permissions)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: one object for a session, one a line without ID")
	return c
}

func printPermissions(a *app.App, p view.Permissions) error {
	rows := [][]string{{"mode", p.Mode, "", ""}}
	for _, r := range p.Rules {
		rows = append(rows, []string{r.Effect, r.Text, "rule", r.Source})
	}
	for _, g := range p.Grants {
		by := fmt.Sprintf("%s, by %s, %s", g.Scope, strings.TrimSpace(string(g.Actor.Type)+" "+g.Actor.ID), a.Ago(int64(g.Granted)))
		if g.Cwd != "" {
			by += ", in " + g.Cwd
		}
		rows = append(rows, []string{"allow", g.Rule, "grant", by})
	}
	for _, d := range p.Decisions {
		by := d.Rule
		if d.Human {
			by = "approval"
		}
		rows = append(rows, []string{d.Effect, d.Tool + " " + d.Act, "decided", by})
	}
	if err := a.Table(rows); err != nil {
		return err
	}
	if slices.ContainsFunc(p.Rules, func(r view.Rule) bool { return settings.IsRemembered(r.Source) }) {
		a.Hint("perdure permissions forget RULE takes back what is remembered")
	}
	return nil
}

func revokeCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID RULE", Short: "Take a grant back", Args: app.ExactArgs(2, "a session and a granted rule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				st, err := h.State(ctx, id)
				if err != nil {
					return err
				}
				grants := make([]string, len(st.Permissions.Grants))
				for i, g := range st.Permissions.Grants {
					grants[i] = g.Rule
				}
				if slices.Contains(grants, args[1]) {
					return a.Deliver(ctx, h, id, &session.PermissionRevoked{Rule: args[1]})
				}
				e := &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("session %s has no grant %q", id, args[1]), Hint: "it has no grants"}
				if len(grants) > 0 {
					e.Hint = "nearest: " + strings.Join(display.Nearest(args[1], grants), ", ")
				}
				return e
			})
		},
	}
}
