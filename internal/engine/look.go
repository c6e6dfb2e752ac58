package engine

import (
	"path"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/tools"
)

// Bounds of looking where a file pattern of a command leads; beyond them the command asks.
const (
	maxPlaces  = 2000
	maxEntries = 10_000 // of one directory
)

// look says where a path, or each path that a shell pattern matches, leads now: see [permission.Policy].
func (s *world) look(at string, glob bool) ([]permission.Place, bool) {
	paths := []string{at}
	if glob {
		var ok bool
		if paths, ok = s.matches(at); !ok {
			return nil, false
		}
	}
	var places []permission.Place
	for _, p := range paths {
		real, err := s.eng.cfg.Files.Resolve(p)
		if err != nil {
			return nil, false
		}
		_, info, _ := s.eng.cfg.Files.Read(real, 1) // what cannot be read is no directory that could be walked
		places = append(places, permission.Place{Path: real, Dir: info.Dir, Missing: !info.Exists})
	}
	return places, true
}

// matches lists the paths that a shell pattern may become, the pattern itself among them: it stands for itself where
// nothing matches. It finds too many rather than too few.
func (s *world) matches(pattern string) ([]string, bool) {
	tree, ok := s.eng.cfg.Files.(tools.Tree)
	if !ok {
		return nil, false
	}
	found := []string{"/"}
	for seg := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range found {
			next = append(next, path.Join(dir, seg))
			if !strings.ContainsAny(seg, "*?[") {
				continue
			}
			list, err := tree.List(dir, maxEntries+1)
			if err != nil {
				continue // no directory, so nothing matches in it
			}
			if len(list) > maxEntries {
				return nil, false
			}
			for _, e := range list {
				if mayMatch(seg, e.Name()) {
					next = append(next, path.Join(dir, e.Name()))
				}
			}
		}
		if found = next; len(found) > maxPlaces {
			return nil, false
		}
	}
	slices.Sort(found)
	return slices.Compact(found), true
}

// mayMatch reports whether a name may match a segment of a shell pattern. From a bracket on anything does.
func mayMatch(seg, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(seg, ".") {
		return false
	}
	if i := strings.IndexByte(seg, '['); i >= 0 {
		seg = seg[:i] + "*"
	}
	ok, err := path.Match(strings.ReplaceAll(seg, `\`, "?"), name)
	return ok || err != nil
}
