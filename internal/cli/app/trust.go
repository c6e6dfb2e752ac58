package app

import (
	"context"
	"path/filepath"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/settings"
)

// Bounds of what says what a project's file would let hold: its lines, and the characters of each.
const (
	maxWould     = 50
	maxWouldText = 4000
)

// TellWould says on stderr what a project's file lets hold once it is trusted: whole, or that it is not.
func (a *App) TellWould(p settings.Project) {
	file := display.Line(filepath.Join(p.Dir, ".perdure", "config.toml"), 500)
	for i, text := range p.Would {
		if i == maxWould {
			a.Hint("and %s: read %s before you trust it", display.Count(int64(len(p.Would)-i), "more line"), file)
			return
		}
		shown := display.Shown(text, maxWouldText)
		a.Hint("%s", shown)
		if utf8.RuneCountInString(shown) >= maxWouldText {
			a.Hint("which goes on: read %s before you trust it", file)
		}
	}
}

// AskTrust asks a person once whether the files of a project may say what only trusted ones may, and keeps the answer.
// changed: somebody was asked, so that the settings are to be read anew. Nobody is asked where there is no such file, where
// nobody is there, or again about a file as it was.
func (a *App) AskTrust(ctx context.Context, set settings.Loaded) (changed bool, err error) {
	if !a.Asks || a.Inside() != "" {
		return false, nil
	}
	for _, p := range set.Untrusted {
		if p.Refused {
			continue
		}
		a.Note("%s has a .perdure/config.toml. Trusted, it sets for sessions here:", a.Tilde(p.Dir))
		a.TellWould(p)
		a.Note("its deny and ask rules and its limits hold either way")
		agreed, err := a.Confirm(ctx, "Trust it as it is now? (y/N) ", false)
		if err != nil {
			return changed, err
		}
		if err := settings.Decide(settings.UserFile(a.Getenv), p, agreed, a.Now()); err != nil {
			return changed, err
		}
		if changed = true; !agreed {
			a.Hint("it is not asked again until it changes; perdure trust %s trusts it later", display.Quote(p.Dir))
		}
	}
	return changed, nil
}
