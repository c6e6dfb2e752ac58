package knowledge

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files lists the project's knowledge as it lies in the project, for who commits it: absolute paths, without what a change
// under way leaves for a moment. Without consent there are none.
func (m *Memory) Files() []string {
	s := m.Project
	if !s.shared {
		return nil
	}
	var out []string
	for _, name := range []string{indexName, handoffName} {
		if info, err := os.Lstat(filepath.Join(s.root, name)); err == nil && info.Mode().IsRegular() {
			out = append(out, filepath.Join(s.root, name))
		}
	}
	_ = filepath.WalkDir(s.Dir(), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read cannot be committed
		case e.IsDir() && strings.HasPrefix(e.Name(), "changes"):
			return filepath.SkipDir
		case !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") && e.Name() != metaName || len(out) >= maxListed:
			return nil
		}
		out = append(out, path)
		return nil
	})
	return out
}
