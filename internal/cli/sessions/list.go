// Package sessions are the commands about sessions as a whole: which there are, what one of them is, did and cost, and
// its life: a name, a fork, a pause, its end. It also words what a run has to say of its session beside the turn itself.
package sessions

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// listFlags are the filters of list.
type listFlags struct {
	lifecycle, activity, cwd, after string
	labels                          []string
	limit                           int
	json                            bool
}

// ListCommand is perdure list.
func ListCommand(a *app.App) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use: "list", Short: "List sessions, the newest first", Aliases: []string{"ls"}, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			// The value of --cwd is optional, so its parser leaves one that stands apart among the arguments.
			if len(args) == 1 && f.cwd == here {
				if f.cwd, args = args[0], nil; f.cwd == "" {
					return app.UsageError("what --cwd was given is empty")
				}
			}
			if len(args) > 0 {
				return app.UsageError("list takes no arguments, got %q", args[0])
			}
			q, err := listQuery(a, f)
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				a.WarnOfApplies(ctx, h, "")
				print := func() error { return list(ctx, a, h, q, f.json) }
				if f.json {
					return print()
				}
				return a.Paged(print)
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.lifecycle, "lifecycle", "", "only those that are open, paused, closed or archived")
	fs.StringVar(&f.activity, "activity", "", "only those that are "+strings.Join(homes.Activities(), ", "))
	fs.StringArrayVar(&f.labels, "label", nil, "only those with the label `KEY=VALUE`; may be repeated")
	fs.StringVar(&f.cwd, "cwd", "", "only those of this `DIR`; without a value, of the current one")
	fs.Lookup("cwd").NoOptDefVal = here
	fs.IntVar(&f.limit, "limit", 100, "at most `N` sessions, up to 1000")
	fs.StringVar(&f.after, "after", "", "go on after the `CURSOR` that the page before named")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	return c
}

// here is the value of --cwd without one.
const here = "."

func listQuery(a *app.App, f *listFlags) (q store.Query, err error) {
	lifecycles := []string{"", string(session.LifecycleOpen), string(session.LifecyclePaused), string(session.LifecycleClosed), string(session.LifecycleArchived)}
	switch {
	case !slices.Contains(lifecycles, f.lifecycle):
		return q, app.UsageError("lifecycle %q: want open, paused, closed or archived", f.lifecycle)
	case f.activity != "" && !slices.Contains(homes.Activities(), f.activity):
		return q, app.UsageError("activity %q: want one of %s", f.activity, strings.Join(homes.Activities(), ", "))
	case f.limit < 1 || f.limit > 1000:
		return q, app.UsageError("limit %d: want 1 to 1000", f.limit)
	}
	q = store.Query{Lifecycle: f.lifecycle, Activity: f.activity, Limit: f.limit, After: f.after, Labels: map[string]string{}}
	for _, l := range f.labels {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" {
			return q, app.UsageError("label %q: want KEY=VALUE", l)
		}
		q.Labels[k] = v
	}
	if f.cwd != "" {
		q.Cwd, err = a.Directory(f.cwd)
	}
	return q, err
}

func list(ctx context.Context, a *app.App, h *homes.Home, q store.Query, asJSON bool) error {
	page, err := h.List(ctx, q)
	if err != nil {
		if q.After != "" && strings.Contains(err.Error(), "cursor") {
			return app.UsageError("%q is not a cursor that list named", q.After)
		}
		return err
	}
	if asJSON {
		for _, s := range page.Sessions {
			if err := a.JSON(headOf(s)); err != nil {
				return err
			}
		}
	} else if err := Print(a, page.Sessions, false); err != nil {
		return err
	}
	for _, s := range page.Sessions {
		if s.Damaged != "" {
			a.Note("session %s: %s", s.ID, s.Damaged)
			a.Hint("its log is not concerned: %s shows it; put a backup in the home's place to have both", a.Command("show", s.ID))
		}
	}
	if page.Next != "" {
		a.Note("there are more: --after %s", page.Next)
	}
	return nil
}

// Print prints sessions for people. Those of one directory need not name it.
func Print(a *app.App, sessions []view.Listing, oneDirectory bool) error {
	if len(sessions) == 0 {
		a.Note("no sessions")
		return nil
	}
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.ID
	}
	name := a.ShortIDs(ids)
	updated := a.Age
	if a.Screen {
		updated = a.When
	}
	rows := [][]string{{"ID", "NAME", "STATUS", "UPDATED", "TURNS", "COST", "MODEL", "DIRECTORY"}}
	for _, s := range sessions {
		rows = append(rows, []string{
			name(s.ID), called(s), status(s), updated(s.Updated), display.Grouped(s.Heads.Turns), display.Money(headOf(s).CostUSD), modelOf(s),
			a.Tilde(s.Heads.Cwd),
		})
	}
	if oneDirectory {
		rows = display.WithoutColumn(rows, len(rows[0])-1)
	}
	columns, _ := a.Window()
	rows = display.Narrow(rows, columns, "TURNS", "MODEL", "COST", "DIRECTORY", "UPDATED") // a name of which enough is seen says more
	return a.TableWith(rows, func(head, cell string) ansi.Style {
		switch head {
		case "STATUS":
			return standing(a, cell)
		case "ID":
			return a.Styles().Accent
		case "NAME":
			return ansi.Style{}
		}
		return a.Styles().Quiet
	})
}

// called is what a session is known by: its name, and that it is a fork.
func called(s view.Listing) string {
	name := s.Heads.Title
	if first := s.Heads.Labels[app.LabelPrompt]; name == "" && first != "" {
		name = `"` + first + `"`
	}
	if s.Parent != nil {
		if strings.Contains(name, "(fork") {
			return name
		}
		name = strings.TrimSpace(name + " (fork of " + app.ShortID(s.Parent.Session, app.ShortLength) + ")")
	}
	return name
}

// modelOf is a session's model; a script is named without its directory, and a session of mere tasks has none.
func modelOf(s view.Listing) string {
	provider, model, _ := strings.Cut(s.Heads.Model, "/")
	switch provider {
	case "none", "":
		return "-"
	case "scripted":
		return provider + "/" + filepath.Base(model)
	}
	return s.Heads.Model
}

// status is one word for where a session stands: its lifecycle once that is not open, else what it does.
func status(s view.Listing) string {
	switch {
	case s.Head.Seq == 0:
		return "empty"
	case s.Heads.Lifecycle != string(session.LifecycleOpen):
		return s.Heads.Lifecycle
	case s.Activity == string(session.Running) && s.Holder != nil && s.Holder.Alive == store.Unknown:
		return "running?"
	}
	return s.Activity
}

// head is a line of list --json.
type head struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Owner     string            `json:"owner"`
	Labels    map[string]string `json:"labels"`
	Lifecycle string            `json:"lifecycle"`
	Activity  string            `json:"activity"`
	Cwd       string            `json:"cwd"`
	Model     string            `json:"model"`
	Turns     int64             `json:"turns"`
	CostUSD   *float64          `json:"cost_usd"`
	Parent    *view.Parent      `json:"parent"`
	Head      store.Head        `json:"head"`
	Epoch     int64             `json:"epoch"`
	Holder    *view.Holder      `json:"holder"`
	Pending   int64             `json:"pending"`
	Created   view.Stamp        `json:"created_at"`
	Updated   view.Stamp        `json:"updated_at"`
}

func headOf(s view.Listing) head {
	l := head{
		ID: s.ID, Title: s.Heads.Title, Owner: s.Owner, Labels: s.Heads.Labels, Lifecycle: s.Heads.Lifecycle,
		Activity: s.Activity, Cwd: s.Heads.Cwd, Model: s.Heads.Model, Turns: s.Heads.Turns, Head: s.Head,
		Holder: homes.HolderOf(s.Holder), Epoch: s.Epoch, Pending: s.Pending, Created: view.Stamp(s.Created), Updated: view.Stamp(s.Updated),
	}
	if l.Labels == nil {
		l.Labels = map[string]string{}
	}
	if s.Parent != nil {
		l.Parent = &view.Parent{ID: s.Parent.Session, Seq: s.Parent.Seq}
	}
	if s.Heads.CostNano != nil {
		usd := float64(*s.Heads.CostNano) / 1e9
		l.CostUSD = &usd
	}
	return l
}
