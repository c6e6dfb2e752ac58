package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// listFlags are the filters of list.
type listFlags struct {
	lifecycle, activity, cwd, after string
	labels                          []string
	limit                           int
	json                            bool
}

func (a *App) listCommand() *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use: "list", Short: "List sessions, the newest first", Aliases: []string{"ls"}, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			// The value of --cwd is optional, so its parser leaves one that stands apart among the arguments.
			if len(args) == 1 && f.cwd == here {
				f.cwd, args = args[0], nil
			}
			if len(args) > 0 {
				return usageError("list takes no arguments, got %q", args[0])
			}
			q, err := a.listQuery(f)
			if err != nil {
				return err
			}
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error { return a.list(ctx, h, q, f.json) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.lifecycle, "lifecycle", "", "only those that are open, paused, closed or archived")
	fs.StringVar(&f.activity, "activity", "", "only those that are idle, running or waiting")
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

func (a *App) listQuery(f *listFlags) (q store.Query, err error) {
	lifecycles := []string{"", string(session.LifecycleOpen), string(session.LifecyclePaused), string(session.LifecycleClosed), string(session.LifecycleArchived)}
	activities := []string{"", string(session.Idle), string(session.Running), string(session.Waiting)}
	switch {
	case !slices.Contains(lifecycles, f.lifecycle):
		return q, usageError("lifecycle %q: want open, paused, closed or archived", f.lifecycle)
	case !slices.Contains(activities, f.activity):
		return q, usageError("activity %q: want idle, running or waiting", f.activity)
	case f.limit < 1 || f.limit > 1000:
		return q, usageError("limit %d: want 1 to 1000", f.limit)
	}
	q = store.Query{Lifecycle: f.lifecycle, Activity: f.activity, Limit: f.limit, After: f.after, Labels: map[string]string{}}
	for _, l := range f.labels {
		k, v, ok := strings.Cut(l, "=")
		if !ok || k == "" {
			return q, usageError("label %q: want KEY=VALUE", l)
		}
		q.Labels[k] = v
	}
	if f.cwd != "" {
		q.Cwd = a.directory(f.cwd)
	}
	return q, nil
}

// directory makes a path absolute, as sessions record it: with symlinks resolved, where it exists.
func (a *App) directory(dir string) string {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.Dir, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func (a *App) list(ctx context.Context, h *perdure.Home, q store.Query, asJSON bool) error {
	page, err := h.Store().List(ctx, q)
	if err != nil {
		if q.After != "" && strings.Contains(err.Error(), "cursor") {
			return usageError("%q is not a cursor that list named", q.After)
		}
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATUS", "TURNS", "COST", "UPDATED", "MODEL", "DIRECTORY"}}
	for _, s := range page.Sessions {
		l := headOf(s)
		if !asJSON {
			rows = append(rows, []string{
				s.ID, s.Heads.Title, status(s), strconv.FormatInt(s.Heads.Turns, 10), money(l.CostUSD), a.age(s.Updated),
				s.Heads.Model, s.Heads.Cwd,
			})
			continue
		}
		if err := a.json(l); err != nil {
			return err
		}
	}
	if !asJSON {
		if len(page.Sessions) == 0 {
			a.note("no sessions")
		} else if err := a.table(rows); err != nil {
			return err
		}
	}
	if page.Next != "" {
		a.note("there are more: --after %s", page.Next)
	}
	return nil
}

// status is one word for where a session stands.
func status(s store.Info) string {
	switch {
	case s.Head.Seq == 0:
		return "empty"
	case s.Heads.Lifecycle != string(session.LifecycleOpen):
		return s.Heads.Lifecycle
	case s.Heads.Activity != string(session.Running):
		return s.Heads.Activity
	case s.Holder == nil:
		return "parked"
	case s.Holder.Alive == store.Dead:
		return "interrupted"
	case s.Holder.Alive == store.Unknown:
		return "running?"
	}
	return s.Heads.Activity
}

// head is a line of list --json.
type head struct {
	ID        string              `json:"id"`
	Title     string              `json:"title"`
	Owner     string              `json:"owner"`
	Labels    map[string]string   `json:"labels"`
	Lifecycle string              `json:"lifecycle"`
	Activity  string              `json:"activity"`
	Cwd       string              `json:"cwd"`
	Model     string              `json:"model"`
	Turns     int64               `json:"turns"`
	CostUSD   *float64            `json:"cost_usd"`
	Parent    *perdure.ParentView `json:"parent"`
	Head      session.Head        `json:"head"`
	Epoch     int64               `json:"epoch"`
	Holder    *holderView         `json:"holder"`
	Pending   int64               `json:"pending"`
	Created   perdure.Stamp       `json:"created_at"`
	Updated   perdure.Stamp       `json:"updated_at"`
}

// holderView is who may append to a session.
type holderView struct {
	ID    string        `json:"id"`
	Host  string        `json:"host"`
	PID   int           `json:"pid"`
	Alive store.Life    `json:"alive"`
	Since perdure.Stamp `json:"since_at"`
}

func headOf(s store.Info) head {
	l := head{
		ID: s.ID, Title: s.Heads.Title, Owner: s.Owner, Labels: s.Heads.Labels, Lifecycle: s.Heads.Lifecycle,
		Activity: s.Heads.Activity, Cwd: s.Heads.Cwd, Model: s.Heads.Model, Turns: s.Heads.Turns, Head: s.Head,
		Epoch: s.Epoch, Pending: s.Pending, Created: perdure.Stamp(s.Created), Updated: perdure.Stamp(s.Updated),
	}
	if l.Labels == nil {
		l.Labels = map[string]string{}
	}
	if s.Parent != nil {
		l.Parent = &perdure.ParentView{ID: s.Parent.Session, Seq: s.Parent.Seq}
	}
	if s.Heads.CostNano != nil {
		usd := float64(*s.Heads.CostNano) / 1e9
		l.CostUSD = &usd
	}
	if s.Holder != nil {
		l.Holder = holderOf(*s.Holder)
	}
	return l
}

func holderOf(h store.Holder) *holderView {
	return &holderView{ID: h.ID, Host: h.Host, PID: h.PID, Alive: h.Alive, Since: perdure.Stamp(h.Since)}
}
