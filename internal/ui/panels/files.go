package panels

import (
	"context"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/theme"
)

// File is a file that a session has to do with.
type File struct {
	Path string // what the source knows it by
	Name string // as it is shown; empty: Path
	Size int64  // bytes, as the session last saw it
	Note string // how it was changed, if not by Edit or Write; empty otherwise
}

// Files are a session's files by what it did with them.
type Files struct {
	Created, Modified, Deleted, Read []File
	More                             int64  // files that are not listed
	Since                            string // what they are compared with, in words; empty: with nothing
	None                             string // said if nothing is listed; empty: what is usual
	Missing                          string // why nothing is known of what commands changed; empty: it is
}

// Change is one change of a file.
type Change struct {
	Title    string    // such as Edit
	At       time.Time // zero: unknown
	Old, New string    // the part that changed, or the whole
	Part     bool      // Old and New are the part that changed, at a place that nobody knows
	Note     string    // said of it: failed, unknown
}

// FilesSource says which files there are, and what was changed in one, oldest first. Its methods may block, and are
// called from other goroutines.
type FilesSource interface {
	Files(ctx context.Context) (Files, error)
	Changes(ctx context.Context, path string) ([]Change, error)
}

// NewFiles is the page of a session's files.
func NewFiles(cfg Config, src FilesSource) *Page { return filesPage(cfg, "Files", src) }

// NewDiff is the page of what differs between two moments.
func NewDiff(cfg Config, src FilesSource) *Page { return filesPage(cfg, "Changes", src) }

func filesPage(cfg Config, title string, src FilesSource) *Page {
	p := &Page{cfg: cfg, title: title, opens: "changes"}
	p.load = func(ctx context.Context) (filled, error) {
		files, err := src.Files(ctx)
		if err != nil {
			return filled{}, err
		}
		return fileRows(cfg, src, files), nil
	}
	return p
}

func fileRows(cfg Config, src FilesSource, files Files) filled {
	s := cfg.Styles
	f := filled{none: "no file was read or changed yet"}
	if files.Since != "" {
		f.none = "nothing differs since " + plain.Shown(files.Since, 100)
	}
	if files.None != "" {
		f.none = plain.Line(files.None, 300)
	}
	for _, group := range []struct {
		name, key string
		sign      string
		files     []File
	}{{"Created", "created", "+", files.Created}, {"Modified", "modified", "~", files.Modified}, {"Deleted", "deleted", "-", files.Deleted}, {"Read", "read", " ", files.Read}} {
		if len(group.files) == 0 {
			continue
		}
		if len(f.rows) > 0 {
			f.rows = append(f.rows, blank())
		}
		f.rows = append(f.rows, heading(s, fmt.Sprintf("%s (%d)", group.name, len(group.files))))
		look := s.Quiet
		switch group.key {
		case "created", "modified":
			look = s.Added
		case "deleted":
			look = s.Removed
		}
		for _, file := range group.files {
			name := file.Path
			if file.Name != "" {
				name = file.Name
			}
			r := row{key: file.Path, find: name + " " + group.key}
			r.draw = func(width int) string {
				return fileLine(s, look.Styled(group.sign)+" ", name, beside(file), width)
			}
			if group.key != "read" {
				r.fetch = func(ctx context.Context) (func(int) []string, error) {
					changes, err := src.Changes(ctx, file.Path)
					return changeLines(cfg, name, changes), err
				}
			} else {
				r.text = words(name + "\n\nwas read and not changed by this session")
			}
			f.rows = append(f.rows, r)
		}
	}
	if files.More > 0 {
		f.rows = append(f.rows, still(func(width int) string {
			return s.Quiet.Styled(theme.Cut(plain.Grouped(files.More)+" older ones are not listed", width))
		}))
	}
	if files.Missing != "" {
		f.rows = append(f.rows, still(func(width int) string {
			return s.Quiet.Styled(theme.Cut("what commands changed is not known: "+plain.Line(files.Missing, 500), width))
		}))
	}
	changed := len(files.Created) + len(files.Modified) + len(files.Deleted)
	f.sum = fmt.Sprintf("%d changed, %d read", changed, len(files.Read))
	if files.Since != "" {
		f.sum = fmt.Sprintf("%d changed since %s", changed, plain.Shown(files.Since, 60))
	}
	return f
}

// beside is what stands on the right of a file.
func beside(f File) string {
	if f.Note != "" {
		return plain.Line(f.Note, 30) + " " + plain.Size(f.Size)
	}
	return plain.Size(f.Size)
}

// fileLine shows the end of a path that is too long.
func fileLine(s theme.Styles, sign, name, size string, width int) string {
	room := width - len(size) - 5
	name = plain.Shown(name, 1000)
	return side(sign+theme.End(name, max(room, 1)), s.Quiet.Styled(size), width)
}

// Bounds of the changes of a file that are shown, the newest ones.
const (
	maxChanges     = 20
	maxChangeLines = 1000 // after which no other change begins
)

// changeLines compares at once, which takes time, and draws later: the newest change comes first.
func changeLines(cfg Config, name string, changes []Change) func(width int) []string {
	s := cfg.Styles
	view := diffview.New(s)
	diffs := make([]diffview.Diff, 0, maxChanges)
	for i := len(changes) - 1; i >= 0 && len(diffs) < maxChanges; i-- {
		compare := view.Compare
		if changes[i].Part {
			compare = view.ComparePart
		}
		diffs = append(diffs, compare(changes[i].Old, changes[i].New, name))
	}
	return func(width int) []string {
		if len(changes) == 0 {
			return []string{s.Quiet.Styled(theme.Cut("no change of it by Edit or Write is in the log, and none of a command was captured", width))}
		}
		var lines []string
		left := len(changes)
		for _, diff := range diffs {
			if len(lines) > maxChangeLines {
				break
			}
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, theme.Cut(changeTitle(cfg, left, changes[left-1]), width))
			lines = append(lines, diff.Lines(width)...)
			left--
		}
		if left > 0 {
			lines = append(lines, "", s.Quiet.Styled(theme.Cut(fmt.Sprintf("older changes that are not shown: %d", left), width)))
		}
		return lines
	}
}

func changeTitle(cfg Config, n int, c Change) string {
	title := fmt.Sprintf("%d. %s", n, plain.Shown(c.Title, 60))
	if !c.At.IsZero() {
		title += ", " + plain.Span(cfg.Now().Sub(c.At)) + " ago"
	}
	if c.Note == "" {
		return cfg.Styles.Bold.Styled(title)
	}
	return cfg.Styles.Bold.Styled(title) + cfg.Styles.Alert("  ! ", plain.Shown(c.Note, 200), 210)
}
