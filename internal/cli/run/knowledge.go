package run

import (
	"context"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/settings"
)

// askConsent asks a person once for each project whether its knowledge may lie in it, if the configuration says that they
// want to be asked. Where nobody can be asked, nothing is made in a project.
func askConsent(ctx context.Context, a *app.App, f *Flags, set settings.Loaded) error {
	if !set.Knowledge.Asks() || !a.Asks || f.cont || f.resume != "" {
		return nil
	}
	dir, err := a.Workdir()
	if err != nil {
		return err
	}
	home, err := a.HomeDir()
	if err != nil {
		return err
	}
	if _, asked := knowledge.Consent(home, dir); asked {
		return nil
	}
	root := knowledge.Root(dir)
	agreed, err := a.Confirm(ctx, "Keep the memory, plan and handoffs of "+display.Line(a.Tilde(root), 4*display.MaxCell)+
		" in its .agent directory? Otherwise they lie in Perdure's home. (y/N) ", false)
	if err != nil {
		return err
	}
	return knowledge.SetConsent(home, dir, agreed)
}

// startsFresh reports whether a new session begins without what an earlier one left: a person is asked if they want
// that and are there.
func startsFresh(ctx context.Context, a *app.App, f *Flags, set settings.Loaded, dir string) (bool, error) {
	how := set.Knowledge.Handoff
	if how == "" || f.Changed("handoff") {
		how = f.handoff
	}
	if how != "ask" || !a.Asks {
		return how == "ignore", nil
	}
	m, err := a.Knowledge(dir)
	if err != nil {
		return false, err
	}
	all, _ := m.Handoffs().All() // what cannot be read is told of when the session begins
	if len(all) == 0 {
		return false, nil
	}
	d, stale, err := m.Handoffs().Look(ctx, all[0], a.Now())
	if err != nil {
		return false, nil //nolint:nilerr // the same
	}
	a.Note("an earlier session left a handoff, %s:", stale.Age)
	for line := range strings.Lines(d.Short()) {
		a.Hint("%s", display.Line(line, 4*display.MaxCell))
	}
	on, err := a.Confirm(ctx, "Go on from it? (Y/n) ", true)
	return !on, err
}
