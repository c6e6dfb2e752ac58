package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// settingsFor reads the configuration that a run is under: of the directory that its session was opened in, wherever it
// is resumed from. A session that is resumed is looked up for that, and named by its id from then on.
func settingsFor(ctx context.Context, a *app.App, f *Flags) (set settings.Loaded, err error) {
	if dir, err := filepath.EvalSymlinks(a.Dir); err == nil {
		a.Dir = dir // as sessions name their directories
	}
	if set, err = settings.Load(settings.UserFile(a.Getenv), ""); err != nil {
		return set, err // before anything else: it may say whose files these are
	}
	root := a.Dir
	if (f.cont || f.resume != "") && f.resume != Pick {
		if root, err = rootOf(ctx, a, f); err != nil {
			return set, err
		}
		if f.cwd != "" { // where it goes on, another project's rules hold
			dirs, err := directories("--cwd", []string{f.cwd}, a.Dir)
			if err != nil {
				return set, err
			}
			root = dirs[0]
		}
	}
	f.root = root
	if set, err = settings.Load(settings.UserFile(a.Getenv), root); err == nil && a.Inside() != "" {
		narrowInside(&set)
	}
	return set, err
}

// narrowInside takes away what a configuration widens, from a session that another session's command starts: that
// command chooses the environment, and so the file.
func narrowInside(set *settings.Loaded) {
	set.Rules = slices.DeleteFunc(set.Rules, func(r permission.Rule) bool { return r.Effect == permission.Allow })
	if set.Mode != string(permission.ModePlan) {
		set.Mode = ""
	}
}

// rootOf finds the session that a run resumes, and the directory that it was opened in.
func rootOf(ctx context.Context, a *app.App, f *Flags) (root string, err error) {
	h, err := a.Open(ctx, homes.Config{})
	if err != nil {
		return "", err
	}
	defer func() {
		if cerr := h.Close(); err == nil {
			err = cerr
		}
	}()
	var id string
	if f.cont {
		id, err = newest(ctx, a, h, f)
	} else {
		id, err = a.Resolve(ctx, h, f.resume)
	}
	if err != nil {
		return "", err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return "", err
	}
	f.newest, f.cont, f.resume = f.cont, false, id
	return h.ProjectOf(st.Config.Root), nil
}

// maxRulesTold bounds the rules that one line names.
const maxRulesTold = 8

// tellRuleChanges says which rules of files a resumed session is under now and was not before, and which are gone.
func tellRuleChanges(a *app.App, before, now []session.Rule) {
	ofFiles := func(rules []session.Rule) (out []session.Rule) {
		for _, r := range rules {
			switch r.Source {
			case permission.SourceUser, permission.SourceProject, permission.SourceTrusted, permission.SourceRemembered, permission.SourceHere:
				out = append(out, r)
			}
		}
		return out
	}
	before, now = ofFiles(before), ofFiles(now)
	tell := func(what string, rules, others []session.Rule) {
		var texts []string
		for _, r := range rules {
			if !slices.Contains(others, r) {
				texts = append(texts, fmt.Sprintf("%s %s (%s)", r.Effect, display.Shown(r.Text, 200), r.Source))
			}
		}
		if n := len(texts); n > maxRulesTold {
			texts = append(texts[:maxRulesTold], fmt.Sprintf("and %d more", n-maxRulesTold))
		}
		if len(texts) > 0 {
			a.Note("the rules of the configuration have changed since this session last ran: %s: %s", what, strings.Join(texts, ", "))
		}
	}
	tell("gone", before, now)
	tell("added", now, before)
}

// tellDenied names rules that were allowed and denied at once: deny wins.
func tellDenied(a *app.App, rules []session.Rule) {
	for _, r := range rules {
		if denied := (session.Rule{Effect: string(permission.Deny), Text: r.Text, Source: r.Source}); r.Effect == string(permission.Allow) && slices.Contains(rules, denied) {
			a.Note("%s is given to --allowed-tools and to --disallowed-tools: it is denied", r.Text)
		}
	}
}
