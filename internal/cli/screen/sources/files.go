package sources

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
)

// filesOf says which files a session has to do with, and what it changed in them.
type filesOf struct {
	home *homes.Home
	id   string
}

// Files gives the source of the page of files.
func Files(h *homes.Home, id string) panels.FilesSource { return filesOf{h, id} }

// Files reads the session's state. Errors: as of [homes.Home.State].
func (s filesOf) Files(ctx context.Context) (panels.Files, error) {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return panels.Files{}, err
	}
	out := panels.Files{More: st.Dropped.Files}
	all := slices.SortedFunc(maps.Values(st.Files), func(a, b session.File) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range all {
		one := panels.File{Path: f.Path, Name: short(f.Path, st.Config.Root), Size: f.Size}
		switch f.Use {
		case session.FileCreated:
			out.Created = append(out.Created, one)
		case session.FileModified:
			out.Modified = append(out.Modified, one)
		case session.FileRead:
			out.Read = append(out.Read, one)
		}
	}
	s.byCommands(ctx, st, &out)
	return out, nil
}

// byCommands adds what the newest turn that changed files has changed by other means than Edit and Write: commands, and
// whoever else was there. What was deleted is among it.
func (s filesOf) byCommands(ctx context.Context, st *session.State, out *panels.Files) {
	from, err := s.home.UndoPoint(ctx, s.id)
	if err == nil {
		var all panels.Files
		all, err = (&differs{home: s.home, id: s.id, from: from}).between(ctx)
		known := map[string]bool{}
		for _, list := range [][]panels.File{out.Created, out.Modified} {
			for _, f := range list {
				known[f.Path] = true
			}
		}
		add := func(to *[]panels.File, list []panels.File) {
			for _, f := range list {
				abs := filepath.Join(from.Dir, f.Path)
				if !known[abs] {
					*to = append(*to, panels.File{Path: abs, Name: short(abs, st.Config.Root), Size: f.Size, Note: "not by an edit"})
				}
			}
		}
		add(&out.Created, all.Created)
		add(&out.Modified, all.Modified)
		known = map[string]bool{} // a file that an edit made may be gone
		add(&out.Deleted, all.Deleted)
	}
	if err != nil && !errors.Is(err, homes.ErrNoFiles) {
		out.Missing = err.Error()
	}
}

// short is a path as it is called from within a directory; one that lies elsewhere stays whole.
func short(path, dir string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}
