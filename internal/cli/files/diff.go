package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// maxText bounds a file whose lines are compared, in bytes.
const maxText = 1 << 20

// DiffCommand is perdure diff.
func DiffCommand(a *app.App) *cobra.Command {
	var stat, asJSON, direct, forks bool
	var paths []string
	c := &cobra.Command{
		Use: "diff ID [FROM [TO]] | ID ID...", Short: "Show what has changed in a session's files, or what several attempts have made of them",
		Long: `Show what has changed in the files of a session: without more, since before the newest turn that changed some (what perdure
undo would take back). FROM and TO are moments: a checkpoint's name, an event's number, "turn N" for the moment before that
turn's first change, or the word now; without TO it is now.

With two or more sessions it compares attempts at the same thing: what each has changed, line by line, since the point that
they have in common, and the turns and the money that it took. They are a session and its forks, or copies of one directory
(--isolate); --forks takes all forks of ID. Of two that have nothing in common, or with --direct, it shows how the files of
the second differ from those of the first.`,
		Args: app.RangeArgs(1, maxAttempts, "a session and two moments, or sessions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				d := differ{app: a, home: h, stat: stat, json: asJSON, direct: direct, paths: paths}
				if forks {
					return d.forks(ctx, id, args[1:])
				}
				return d.run(ctx, id, args[1:])
			})
		},
	}
	c.Flags().BoolVar(&stat, "stat", false, "only name the files")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().BoolVar(&direct, "direct", false, "how the files of the second session differ from those of the first")
	c.Flags().BoolVar(&forks, "forks", false, "compare all forks of the session")
	c.Flags().StringArrayVar(&paths, "path", nil, "only this file or directory, `PATH` below the session's; may be repeated")
	return c
}

// differ shows how two states of files differ.
type differ struct {
	app    *app.App
	home   *homes.Home
	stat   bool
	json   bool
	direct bool
	paths  []string
}

// side is one of two states that are compared.
type side struct {
	homes.FilePoint
	session string
}

func (d *differ) run(ctx context.Context, id string, moments []string) error {
	if ids, err := d.sessions(ctx, id, moments); err != nil || ids != nil {
		return errors.Join(err, d.attempts(ctx, ids))
	}
	sides := []side{{session: id}, {session: id}}
	for i, moment := range []string{"", now} {
		if i < len(moments) {
			moment = moments[i]
		}
		p, release, err := d.at(ctx, id, moment)
		if err != nil {
			return missing(err, id)
		}
		defer release()
		sides[i].FilePoint = p
	}
	return d.show(ctx, sides[0], sides[1], nil)
}

// now is the word for the files as they are.
const now = "now"

// at finds what a session's files were at a moment; empty: what undo goes back to. The caller calls release when it has
// read what it wants of them.
func (d *differ) at(ctx context.Context, id, moment string) (p homes.FilePoint, release func(), err error) {
	switch moment {
	case "":
		p, err = d.home.UndoPoint(ctx, id)
	case now:
		return d.home.FilesNow(ctx, id)
	default:
		p, err = d.home.FilesAt(ctx, id, moment)
	}
	return p, func() {}, err
}

// branches compares two sessions' files as they are now.
func (d *differ) branches(ctx context.Context, a, b string) error {
	from, releaseA, err := d.home.FilesNow(ctx, a)
	if err != nil {
		return fmt.Errorf("session %s: %w", a, err)
	}
	defer releaseA()
	to, releaseB, err := d.home.FilesNow(ctx, b)
	if err != nil {
		return fmt.Errorf("session %s: %w", b, err)
	}
	defer releaseB()
	costs := make([]cost, 2)
	for i, id := range []string{a, b} {
		st, err := d.home.State(ctx, id)
		if err != nil {
			return err
		}
		total := st.Total()
		costs[i] = cost{Session: id, Turns: st.Turns, USD: float64(st.Spent) / 1e9, Tokens: total.Input + total.Output}
	}
	if from.Dir == to.Dir {
		d.app.Note("sessions %s and %s work in the same directory: their files are the same", a, b)
	}
	return d.show(ctx, side{from, a}, side{to, b}, costs)
}

// cost is what an attempt has cost.
type cost struct {
	Session string  `json:"session"`
	Turns   int     `json:"turns"`
	Tokens  int64   `json:"tokens"`
	USD     float64 `json:"usd"`
}

// difference is one file that is not the same.
type difference struct {
	Path    string `json:"path"`
	What    string `json:"what"` // added, modified, deleted, mode
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	text    string
	after   *tree.Entry
}

// show compares two states of files and says each difference as it is found: nothing of it is kept.
func (d *differ) show(ctx context.Context, from, to side, costs []cost) error {
	if d.json {
		return d.stream(ctx, from, to, costs)
	}
	for _, c := range costs {
		d.app.Linef("%s: %s, %s, $%.4f", c.Session, display.Count(int64(c.Turns), "turn"), display.Count(c.Tokens, "token"), c.USD)
	}
	sum := total{}
	err := d.app.Paged(func() error {
		err := d.each(ctx, from.Tree, to.Tree, costs != nil, func(f difference) error {
			d.print(f)
			sum.add(f)
			return nil
		})
		if err == nil && sum.files > 0 {
			d.app.Linef("%s", sum)
		}
		return err
	})
	switch {
	case err != nil && sum.files > 0:
		d.app.Note("the list is cut: %s so far", sum)
	case err == nil && sum.files == 0:
		d.app.Note("nothing differs between %s and %s", d.words(from, to), to.To)
	}
	return err
}

// total is what differs in all.
type total struct{ files, added, removed int }

func (t *total) add(f difference) {
	t.files, t.added, t.removed = t.files+1, t.added+f.Added, t.removed+f.Removed
}

func (t total) String() string {
	return fmt.Sprintf("%s, %s added, %s removed", display.Count(int64(t.files), "file"), display.Count(int64(t.added), "line"), display.Grouped(int64(t.removed)))
}

// stream writes the JSON object of a comparison, file by file. One that was cut is no JSON.
func (d *differ) stream(ctx context.Context, from, to side, costs []cost) error {
	out := bufio.NewWriter(d.app.Stdout)
	put := func(before string, v any) error {
		var b bytes.Buffer
		if err := display.Encoder(&b).Encode(v); err != nil {
			return err
		}
		_, err := out.WriteString(before + strings.TrimSuffix(b.String(), "\n"))
		return err
	}
	moment := func(s side) map[string]any {
		return map[string]any{"session": s.session, "moment": s.To, "tree": s.Tree}
	}
	if err := put(`{"cost":`, costs); err != nil {
		return err
	}
	before := `,"files":[`
	err := d.each(ctx, from.Tree, to.Tree, costs != nil, func(f difference) error {
		err := put(before, f)
		before = ","
		return err
	})
	if err != nil {
		d.app.Note("the list is cut: what is written is no JSON")
		return errors.Join(err, out.Flush())
	}
	end := `]`
	if before != "," {
		end = before + `]`
	}
	err = errors.Join(put(end+`,"from":`, moment(from)), put(`,"to":`, moment(to)))
	if err == nil {
		_, err = out.WriteString("}\n")
	}
	return errors.Join(err, out.Flush())
}

// each visits what differs between two trees, one file at a time, and ends soon after its context; kept leaves out what
// is in neither.
func (d *differ) each(ctx context.Context, from, to store.Digest, kept bool, visit func(difference) error) error {
	return d.home.FileChanges(from, to, func(c tree.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.wants(c.Path) && !isDirectory(c) && (!kept || !notKept(c)) {
			return visit(d.compare(c))
		}
		return nil
	})
}

// changes are all that differs between two trees, without the texts: what is shown of them is compared once more.
func (d *differ) changes(ctx context.Context, from, to store.Digest) (all []difference, err error) {
	err = d.each(ctx, from, to, true, func(f difference) error {
		if !d.json {
			f.text = ""
		}
		if f.after != nil { // not the directory that it was read with
			f.after = &tree.Entry{Kind: f.after.Kind, Mode: f.after.Mode, Digest: f.after.Digest, Target: strings.Clone(f.after.Target)}
		}
		f.Path = strings.Clone(f.Path)
		all = append(all, f)
		return nil
	})
	return all, err
}

func (d *differ) words(from, to side) string {
	if from.session != to.session {
		return from.session + " and " + to.session + ", " + from.To
	}
	return from.To
}

func (d *differ) wants(path string) bool {
	if len(d.paths) == 0 {
		return true
	}
	for _, p := range d.paths {
		if p = strings.TrimSuffix(p, "/"); path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// isDirectory reports a change of a directory alone: what is in it says more.
func isDirectory(c tree.Change) bool {
	dir := func(e *tree.Entry) bool { return e == nil || e.Kind == tree.Dir }
	return dir(c.Before) && dir(c.After)
}

// notKept reports what one of the two has and nobody has the content of, such as dependencies that one of them installed.
func notKept(c tree.Change) bool {
	skipped := func(e *tree.Entry) bool { return e == nil || e.Flags.Has(tree.Skipped) }
	return skipped(c.Before) && skipped(c.After)
}

func (d *differ) compare(c tree.Change) difference {
	out := difference{Path: c.Path, What: "modified", after: c.After}
	switch {
	case c.Before == nil:
		out.What = "added"
	case c.After == nil:
		out.What = "deleted"
	case c.Before.Kind == c.After.Kind && c.Before.Digest == c.After.Digest && c.Before.Target == c.After.Target:
		out.What = "mode"
		out.text = fmt.Sprintf("mode %o → %o\n", c.Before.Mode, c.After.Mode)
		return out
	}
	before, okBefore := d.text(c.Before)
	after, okAfter := d.text(c.After)
	if !okBefore || !okAfter {
		out.text = "no text, or too large: its lines are not compared\n"
		return out
	}
	edits := udiff.Lines(before, after)
	for _, e := range edits {
		out.Added += strings.Count(e.New, "\n")
		out.Removed += strings.Count(before[e.Start:e.End], "\n")
	}
	name := plain.Line(c.Path, 4*maxPath) // one with a line's end in it is no line of the diff
	if text, err := udiff.ToUnified("a/"+name, "b/"+name, before, edits, udiff.DefaultContextLines); err == nil {
		out.text = text
	}
	return out
}

// text is what can be compared of an entry: a file's text, or where a link leads.
func (d *differ) text(e *tree.Entry) (string, bool) {
	switch {
	case e != nil && e.Kind == tree.Link:
		return "link to " + e.Target + "\n", true
	case e != nil && e.Kind == tree.Dir:
		return "a directory\n", true
	}
	return d.home.FileText(e, maxText)
}

func (d *differ) print(f difference) {
	if d.stat {
		d.app.Linef("%-8s %s  +%d -%d", f.What, plain.Line(f.Path, maxPath), f.Added, f.Removed)
		return
	}
	d.app.Linef("%s %s", f.What, plain.Line(f.Path, maxPath))
	d.app.Linef("%s", strings.TrimSuffix(plain.Text(f.text), "\n"))
}
