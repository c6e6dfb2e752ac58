package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// maxAttempts bounds the sessions that are compared at once.
const maxAttempts = 16

// sessions are those that the arguments of perdure diff name; none, if they name moments of the first.
func (d *differ) sessions(ctx context.Context, id string, others []string) ([]string, error) {
	ids := []string{id}
	for _, name := range others {
		other, err := d.app.Resolve(ctx, d.home, name)
		if err != nil && len(others) <= 2 {
			return nil, nil // it is a moment
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(ids, other) {
			return nil, app.UsageError("session %s is named twice", other)
		}
		ids = append(ids, other)
	}
	if len(others) == 0 {
		return nil, nil
	}
	return ids, nil
}

// forks compares all forks of a session, the oldest first.
func (d *differ) forks(ctx context.Context, id string, others []string) error {
	if len(others) > 0 {
		return app.UsageError("--forks compares the forks of one session")
	}
	forks, err := d.home.ForksOf(ctx, id, maxAttempts+1)
	if err != nil {
		return err
	}
	var ids []string
	for _, info := range forks {
		if _, err := d.home.BranchOf(ctx, info.ID); err == nil { // others have no files of their own
			ids = append(ids, info.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return &app.ExitError{Code: app.ExitMissing, Text: "session " + id + " has no forks with files of their own", Hint: "perdure tree " + id + " draws its family"}
	case len(ids) > maxAttempts:
		return app.UsageError("session %s has more than %d forks: name those that are to be compared", id, maxAttempts)
	}
	return d.attempts(ctx, ids)
}

// attempts shows what each of several sessions has changed since the point that they have in common.
func (d *differ) attempts(ctx context.Context, ids []string) error {
	switch {
	case len(ids) == 0:
		return nil
	case d.direct && len(ids) != 2:
		return app.UsageError("--direct compares two sessions")
	case d.direct:
		return d.branches(ctx, ids[0], ids[1])
	}
	a, err := d.home.Attempts(ctx, ids)
	if len(ids) == 2 && (errors.Is(err, homes.ErrUnrelated) || errors.Is(err, homes.ErrNoFiles)) {
		return d.branches(ctx, ids[0], ids[1])
	}
	if err != nil {
		return err
	}
	defer a.Release()
	c := comparison{differ: d, Attempts: a, short: d.app.ShortIDs(ids)}
	for _, t := range a.Each {
		all, err := d.changes(ctx, t.Base, t.Now.Tree)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(x, y difference) int { return strings.Compare(x.Path, y.Path) })
		c.changed = append(c.changed, all)
	}
	if d.json {
		return d.app.JSON(c.view())
	}
	if err := d.app.Paged(func() error { return c.print(ctx) }); err != nil {
		return err
	}
	if first := slices.IndexFunc(a.Each, func(t homes.Attempt) bool { return t.Own }); first >= 0 {
		d.app.Hint("perdure apply %s, or another of them, brings its changes back; perdure diff A B --direct shows how two differ", a.Each[first].Session)
	}
	return nil
}

// comparison is what several attempts have changed.
type comparison struct {
	*differ
	*homes.Attempts
	short   func(id string) string
	changed [][]difference // of each
}

func (c *comparison) print(ctx context.Context) error {
	if c.Session != "" {
		c.app.Linef("since event %d of session %s", c.Seq, c.Session)
	} else {
		c.app.Linef("since they began with a copy of %s", plain.Line(c.app.Tilde(c.Dir), maxPath))
	}
	if err := c.app.Table(c.figures()); err != nil {
		return err
	}
	if rows := c.byFile(); len(rows) > 1 {
		c.app.Linef("")
		if err := c.app.Table(rows); err != nil {
			return err
		}
	}
	if !c.stat {
		for i, t := range c.Each {
			if len(c.changed[i]) == 0 {
				continue
			}
			c.app.Linef("\n=== %s", c.called(t))
			sum := total{}
			err := c.each(ctx, t.Base, t.Now.Tree, true, func(f difference) error {
				c.differ.print(f)
				sum.add(f)
				return nil
			})
			if err != nil {
				c.app.Note("the list is cut: %s so far of %s", sum, c.called(t))
				return err
			}
			c.app.Linef("%s", sum)
		}
	}
	return nil
}

// called is a session's id, and its name if that tells it from the others.
func (c *comparison) called(t homes.Attempt) string {
	same := 0
	for _, o := range c.Each {
		if o.Name == t.Name {
			same++
		}
	}
	if t.Name == "" || same > 1 {
		return c.short(t.Session)
	}
	return c.short(t.Session) + "  " + display.Shown(t.Name, maxName)
}

// figures are what each has cost and changed.
func (c *comparison) figures() [][]string {
	rows := [][]string{{"SESSION", "TURNS", "TOKENS", "COST", "FILES", "LINES"}}
	for i, t := range c.Each {
		added, removed := 0, 0
		for _, f := range c.changed[i] {
			added, removed = added+f.Added, removed+f.Removed
		}
		rows = append(rows, []string{
			c.called(t), display.Grouped(int64(t.Turns)), display.Grouped(t.Tokens), display.Money(usd(t)), display.Grouped(int64(len(c.changed[i]))),
			fmt.Sprintf("+%d -%d", added, removed),
		})
	}
	return rows
}

// usd is what an attempt has cost; nil: no price is known of some of it.
func usd(t homes.Attempt) *float64 {
	if t.Unpriced > 0 {
		return nil
	}
	v := float64(t.Nano) / 1e9
	return &v
}

// byFile has a row for each file and a column for each session; the last says where all that changed a file agree.
func (c *comparison) byFile() [][]string {
	head := []string{"FILE"}
	for _, t := range c.Each {
		head = append(head, c.short(t.Session))
	}
	rows := [][]string{append(head, "")}
	for _, path := range c.paths() {
		row := []string{path}
		for i := range c.Each {
			row = append(row, c.cell(i, path))
		}
		rows = append(rows, append(row, c.agree(path)))
		if len(rows) > maxShown {
			break
		}
	}
	return rows
}

// paths are all that somebody has changed.
func (c *comparison) paths() (out []string) {
	for _, all := range c.changed {
		for _, f := range all {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// find is what one has done with a path; nil: nothing.
func (c *comparison) find(i int, path string) *difference {
	n, found := slices.BinarySearchFunc(c.changed[i], path, func(f difference, path string) int { return strings.Compare(f.Path, path) })
	if !found {
		return nil
	}
	return &c.changed[i][n]
}

// cell is what one has done with a file.
func (c *comparison) cell(i int, path string) string {
	f := c.find(i, path)
	switch {
	case f == nil:
		return "-"
	case f.What == "modified":
		return fmt.Sprintf("+%d -%d", f.Added, f.Removed)
	case f.What == "added":
		return fmt.Sprintf("new +%d", f.Added)
	}
	return f.What
}

// agree reports whether all that have changed a file have made the same of it.
func (c *comparison) agree(path string) string {
	var first *difference
	n := 0
	for i := range c.Each {
		f := c.find(i, path)
		switch {
		case f == nil:
			continue
		case n > 0 && !sameEntry(first.after, f.after):
			return "they differ"
		}
		first = f
		n++
	}
	if n > 1 {
		return "the same"
	}
	return ""
}

func sameEntry(a, b *tree.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Mode == b.Mode && a.Digest == b.Digest && a.Target == b.Target
}

// attemptView is an attempt as JSON.
type attemptView struct {
	Session string       `json:"session"`
	Name    string       `json:"name,omitempty"`
	Dir     string       `json:"dir"`
	OwnDir  bool         `json:"own_dir"`
	Turns   int          `json:"turns"`
	Tokens  int64        `json:"tokens"`
	USD     *float64     `json:"usd"`
	From    store.Digest `json:"from_tree"`
	Tree    store.Digest `json:"tree"`
	Added   int          `json:"lines_added"`
	Removed int          `json:"lines_removed"`
	Files   []fileView   `json:"files"`
}

type fileView struct {
	difference
	Diff  string `json:"diff,omitempty"` // not with --stat
	Agree string `json:"others,omitempty"`
}

func (c *comparison) view() map[string]any {
	views := []attemptView{}
	for i, t := range c.Each {
		v := attemptView{
			Session: t.Session, Name: t.Name, Dir: t.Now.Dir, OwnDir: t.Own, Turns: t.Turns, Tokens: t.Tokens, USD: usd(t), From: t.Base, Tree: t.Now.Tree,
			Files: []fileView{},
		}
		for _, f := range c.changed[i] {
			v.Added, v.Removed = v.Added+f.Added, v.Removed+f.Removed
			file := fileView{difference: f, Agree: strings.TrimPrefix(c.agree(f.Path), "they ")}
			if !c.stat {
				file.Diff = f.text
			}
			v.Files = append(v.Files, file)
		}
		views = append(views, v)
	}
	since := map[string]any{"dir": c.Dir}
	if c.Session != "" {
		since = map[string]any{"session": c.Session, "event": c.Seq}
	}
	return map[string]any{"since": since, "attempts": views}
}
