package session

import (
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// relocation is a session's directory that is another one from now on, with the same files. Paths that lie elsewhere stay
// as they are, if beside is set; else they are forgotten: what they name is on another machine.
type relocation struct {
	from, to string
	beside   bool
}

// move takes the paths along that the session knows.
func (s *State) move(by relocation) {
	var dirs []string
	for _, d := range s.Directories {
		if to, ok := by.path(d); ok {
			dirs = append(dirs, to)
		}
	}
	s.Directories = dirs
	files := make(Files, len(s.Files))
	for path, f := range s.Files {
		to, ok := by.path(path)
		if !ok {
			s.Dropped.Files++
			continue
		}
		f.Path = to
		files[to] = f
	}
	told := make(map[string]store.Digest, len(s.Told))
	for path, d := range s.Told {
		if to, ok := by.path(path); ok {
			told[to] = d
		}
	}
	s.Files, s.fileOrder, s.Told = files, nil, told
	s.Given = slices.Clone(s.Given) // shared with copies
	for i := range s.Given {
		if to, ok := by.path(s.Given[i].Path); ok {
			s.Given[i].Path = to
		}
	}
}

// path is where a path is now.
func (r relocation) path(path string) (string, bool) {
	to, ok := r.below(path)
	if !ok && r.beside {
		return path, true
	}
	return to, ok
}

// below is where a path in the former directory is now.
func (r relocation) below(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, r.from)
	if !ok || r.from == "" || rest != "" && r.from != "/" && !strings.HasPrefix(rest, "/") || slices.Contains(strings.Split(rest, "/"), "..") {
		return "", false
	}
	if r.from == "/" && path != "/" {
		rest = "/" + rest
	}
	return strings.TrimSuffix(r.to, "/") + rest, true
}
