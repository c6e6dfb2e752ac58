package run

import (
	"context"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/settings"
)

// askTrust asks a person once whether the files of a project may say what only trusted ones may, and gives the settings
// as they are then. Nobody is asked where there is no such file, where nobody is there, or again about the same file.
func askTrust(ctx context.Context, a *app.App, f *Flags, set settings.Loaded) (settings.Loaded, error) {
	if !a.Asks || a.Inside() != "" {
		return set, nil
	}
	asked := false
	for _, p := range set.Untrusted {
		if p.Refused {
			continue
		}
		a.Note("%s has a .perdure/config.toml. Trusted, it sets for sessions here:", a.Tilde(p.Dir))
		a.TellWould(p)
		a.Note("its deny and ask rules and its limits hold either way")
		agreed, err := yes(ctx, a, "Trust it as it is now? (y/N) ", false)
		if err != nil {
			return set, err
		}
		if err := settings.Decide(settings.UserFile(a.Getenv), p, agreed, a.Now()); err != nil {
			return set, err
		}
		if !agreed {
			a.Hint("it is not asked again until it changes; perdure trust %s trusts it later", display.Quote(p.Dir))
		}
		asked = true
	}
	if !asked {
		return set, nil
	}
	return settingsFor(ctx, a, f)
}
