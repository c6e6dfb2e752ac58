package configuring

import (
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/settings"
)

// TrustCommand is perdure trust.
func TrustCommand(a *app.App) *cobra.Command {
	var revoke, list, asJSON bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Trust a project's .perdure/config.toml as it is: its allow rules and its model hold too",
		Long: `A project's .perdure/config.toml comes with a repository that somebody else may have written, so it can only narrow: its
deny and ask rules and its limits hold. Trusted, its allow rules hold as well, and its model, permission mode, context and
windows where your own file says nothing; never its prices, its knowledge, or bypassPermissions.

Trust is for the directory and for the file as it is: one that has changed is asked about again. AGENTS.md and the like
are instructions to the model and need no trust: they are text, and allow nothing.`,
		Args: app.RangeArgs(0, 1, "at most one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			dir, err := a.Directory(dir)
			if err != nil {
				return err
			}
			switch {
			case revoke && list:
				return app.UsageError("--revoke and --list exclude each other")
			case list:
				return listTrusted(a, asJSON)
			case revoke:
				was, err := settings.Revoke(settings.UserFile(a.Getenv), dir)
				if err == nil && !was {
					return &app.ExitError{Code: app.ExitMissing, Text: a.Tilde(dir) + " was not decided about", Hint: "perdure trust --list shows what was"}
				}
				if err == nil {
					a.Note("%s is not trusted any more; a run at the terminal asks again", a.Tilde(dir))
				}
				return err
			}
			return trust(a, dir)
		},
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "forget what was decided")
	c.Flags().BoolVar(&list, "list", false, "list what was decided about, the newest first")
	c.Flags().BoolVar(&asJSON, "json", false, "with --list: print one JSON object a line")
	return c
}

// trust trusts what there is to trust in a directory and above it.
func trust(a *app.App, dir string) error {
	user := settings.UserFile(a.Getenv)
	set, err := settings.Load(user, dir)
	if err != nil {
		return err
	}
	if len(set.Untrusted) == 0 {
		a.Note("there is nothing in %s to trust: no file of a project there says what only a trusted one may, or it is trusted already", a.Tilde(dir))
		return nil
	}
	for _, p := range set.Untrusted {
		if err := settings.Decide(user, p, true, a.Now()); err != nil {
			return err
		}
		a.Note("%s is trusted as it is now. From its .perdure/config.toml hold:", a.Tilde(p.Dir))
		a.TellWould(p)
		a.Hint("%s takes it back", a.Command("trust", "--revoke", p.Dir))
	}
	return nil
}

// decided is a line of trust --list.
type decided struct {
	Dir     string `json:"directory"`
	Trusted bool   `json:"trusted"`
	At      string `json:"decided_at"`
	Digest  string `json:"config_sha256"`
}

func listTrusted(a *app.App, asJSON bool) error {
	all, err := settings.Trusted(settings.UserFile(a.Getenv))
	if err != nil {
		return err
	}
	rows := [][]string{{"DIRECTORY", "TRUST", "DECIDED"}}
	for _, p := range all {
		if asJSON {
			if err := a.JSON(decided{p.Dir, p.Trusted, p.At.UTC().Format("2006-01-02T15:04:05Z"), p.Digest}); err != nil {
				return err
			}
			continue
		}
		word := "refused"
		if p.Trusted {
			word = "trusted"
		}
		rows = append(rows, []string{a.Tilde(p.Dir), word, a.When(p.At.UnixMilli())})
	}
	switch {
	case asJSON:
		return nil
	case len(all) == 0:
		a.Note("no project was decided about")
		return nil
	}
	return a.Table(rows)
}
