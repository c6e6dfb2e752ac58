package sources

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/ui/panels"
)

// Bounds of what is compared.
const (
	maxDiffers  = 2000    // files that are listed
	maxCompared = 1 << 20 // bytes of a file whose lines are
)

// differs is what differs between a moment and now. Paths are below the directory of the session.
type differs struct {
	home   *homes.Home
	id     string
	moment string          // in a person's words; empty: from, or before the newest turn that changed something
	from   homes.FilePoint // if its tree is known
}

// Differs gives the source of the page of what differs since a moment, in a person's words; empty: since before the
// newest turn that changed something.
func Differs(h *homes.Home, id, moment string) panels.FilesSource {
	return &differs{home: h, id: id, moment: moment}
}

// begin is the moment that now is compared with.
func (d *differs) begin(ctx context.Context) (homes.FilePoint, error) {
	switch {
	case !d.from.Tree.IsZero():
		return d.from, nil
	case d.moment == "":
		return d.home.UndoPoint(ctx, d.id)
	}
	return d.home.FilesAt(ctx, d.id, d.moment)
}

// visit captures what is there now, and visits what is not as it was.
func (d *differs) visit(ctx context.Context, each func(tree.Change) error) (since homes.FilePoint, err error) {
	if since, err = d.begin(ctx); err != nil {
		return since, err
	}
	now, release, err := d.home.FilesNow(ctx, d.id)
	if err != nil {
		return since, err
	}
	defer release()
	return since, d.home.FileChanges(since.Tree, now.Tree, func(c tree.Change) error {
		if OnlyDirs(c) {
			return ctx.Err()
		}
		return each(c)
	})
}

// Files are those that differ, and since when.
func (d *differs) Files(ctx context.Context) (panels.Files, error) { return d.between(ctx) }

func (d *differs) between(ctx context.Context) (out panels.Files, err error) {
	n := 0
	since, err := d.visit(ctx, func(c tree.Change) error {
		if n++; n > maxDiffers {
			out.More++
			return ctx.Err()
		}
		one := panels.File{Path: c.Path}
		switch {
		case c.Before == nil:
			one.Size = c.After.Size
			out.Created = append(out.Created, one)
		case c.After == nil:
			one.Size = c.Before.Size
			out.Deleted = append(out.Deleted, one)
		default:
			one.Size = c.After.Size
			out.Modified = append(out.Modified, one)
		}
		return ctx.Err()
	})
	out.Since = since.To
	if errors.Is(err, homes.ErrNothingToUndo) { // nothing went wrong
		return panels.Files{None: "no turn has changed a file, or what they changed is undone"}, nil
	}
	return out, err
}

// Changes compares one file.
func (d *differs) Changes(ctx context.Context, path string) (out []panels.Change, err error) {
	since, err := d.visit(ctx, func(c tree.Change) error {
		if c.Path != path {
			return ctx.Err()
		}
		one := panels.Change{Title: "changed"}
		switch {
		case c.Before == nil:
			one.Title = "added"
		case c.After == nil:
			one.Title = "deleted"
		}
		before, ok := d.text(c.Before)
		after, too := d.text(c.After)
		if ok && too {
			one.Old, one.New = d.home.Hide(before), d.home.Hide(after)
		} else {
			one.Note = "no text, or too large: its lines are not compared"
		}
		out = append(out, one)
		return ctx.Err()
	})
	for i := range out {
		out[i].Title += " since " + since.To
	}
	return out, err
}

// text is what can be compared of an entry: a file's text, or where a link leads.
func (d *differs) text(e *tree.Entry) (string, bool) {
	switch {
	case e != nil && e.Kind == tree.Link:
		return "link to " + e.Target + "\n", true
	case e != nil && e.Kind == tree.Dir:
		return "a directory\n", true
	}
	return d.home.FileText(e, maxCompared)
}

// OnlyDirs reports a change of a directory alone: what is in it says more.
func OnlyDirs(c tree.Change) bool {
	dir := func(e *tree.Entry) bool { return e == nil || e.Kind == tree.Dir }
	return dir(c.Before) && dir(c.After)
}
