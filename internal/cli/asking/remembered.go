package asking

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/view"
)

// rememberedView is a line of permissions list --json without a session.
type rememberedView struct {
	Rule    string     `json:"rule"`
	Source  string     `json:"source"`            // remembered, or remembered here: in one project
	Project string     `json:"project,omitempty"` // the directory of its sessions; empty: every session
	By      string     `json:"by,omitempty"`
	At      view.Stamp `json:"at"`
	File    string     `json:"file"`
}

// listRemembered lists the rules that hold beyond a session, and how one is taken back.
func listRemembered(a *app.App, asJSON bool) error {
	file := settings.AllowedFile(settings.UserFile(a.Getenv))
	list, err := settings.ReadAllowed(file)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range list {
		at := r.At.UnixMilli()
		if asJSON {
			if err := a.JSON(rememberedView{Rule: r.Rule, Source: r.Source(), Project: r.Project, By: r.By, At: view.Stamp(at), File: file}); err != nil {
				return err
			}
			continue
		}
		where := "every session"
		if r.Project != "" {
			where = "in " + a.Tilde(r.Project)
		}
		by := a.Ago(at)
		if r.By != "" {
			by = "by " + r.By + ", " + by
		}
		rows = append(rows, []string{"allow", r.Rule, where, by})
	}
	switch {
	case asJSON:
		return nil
	case len(list) == 0:
		a.Note("no rule is remembered; perdure permissions list ID shows what a session may do")
		return nil
	}
	if err := a.Table(rows); err != nil {
		return err
	}
	a.Hint("they are kept in %s; perdure permissions forget RULE takes one back", display.Shown(a.Tilde(file), 500))
	return nil
}

func forgetCommand(a *app.App) *cobra.Command {
	var project string
	var user bool
	c := &cobra.Command{
		Use: "forget RULE", Short: "Take back a rule that is remembered for later sessions", Args: app.ExactArgs(1, "a remembered rule"),
		Long: `Takes back a rule that an approval with --scope project or user had perdure remember: wherever it holds, or only
where a flag says. A session that runs keeps it until it is opened again; a grant of a session is revoked apart.`,
		Example: "  perdure permissions forget \"Bash(npm test)\"\n  perdure permissions forget \"Bash(npm:*)\" --project .",
		RunE: func(cmd *cobra.Command, args []string) error {
			if user && project != "" {
				return app.UsageError("give --user, or --project DIR, not both")
			}
			if project != "" {
				project = projectNamed(a, project)
			}
			return forget(cmd, a, args[0], func(r settings.Remembered) bool {
				return project == "" && !user || project != "" && r.Project == project || user && r.Project == ""
			})
		},
	}
	c.Flags().StringVar(&project, "project", "", "only where it holds for the project in `DIR`")
	c.Flags().BoolVar(&user, "user", false, "only where it holds for every session")
	return c
}

// projectNamed is a project's directory as sessions name it; of one that is gone, as it was written.
func projectNamed(a *app.App, dir string) string {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func forget(cmd *cobra.Command, a *app.App, rule string, where func(settings.Remembered) bool) error {
	file := settings.AllowedFile(settings.UserFile(a.Getenv))
	gone, err := settings.Forget(cmd.Context(), file, func(r settings.Remembered) bool { return r.Rule == rule && where(r) })
	if err != nil {
		return err
	}
	for _, r := range gone {
		at := "every session"
		if r.Project != "" {
			at = "sessions in " + r.Project
		}
		a.Note("forgotten: %s, which held in %s", display.Shown(r.Rule, 500), display.Shown(at, 500))
	}
	if len(gone) > 0 {
		a.Hint("a session that was granted it keeps the grant: perdure permissions revoke ID RULE")
		return nil
	}
	e := &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("no rule %s is remembered there", display.Shown(rule, 200)), Hint: "perdure permissions list shows what is remembered"}
	list, err := settings.ReadAllowed(file)
	var names []string
	for _, r := range list {
		if where(r) {
			names = append(names, r.Rule)
		}
	}
	if err == nil && len(names) > 0 {
		e.Hint = "nearest: " + strings.Join(display.Nearest(rule, names), ", ")
	}
	return e
}
