package screen

import (
	"cmp"
	"context"
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

func filesSource(h *homes.Home, id string) panels.FilesSource { return filesOf{h, id} }

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
	return out, nil
}

// short is a path as it is called from within a directory; one that lies elsewhere stays whole.
func short(path, dir string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}
