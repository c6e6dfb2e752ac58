package tools

import (
	"path/filepath"

	"github.com/perdure/perdure/internal/ignore"
)

// maxParents bounds the directories above a search whose ignore files are looked at.
const maxParents = 32

// ignores reads the .gitignore files on the way to what a search looks at. The repository's exclude file and the user's
// global one are not read.
type ignores struct {
	files Files
	rules *ignore.Rules // of the directories around the newest one
}

// start reads the ignore files from the repository's top down to dir's parent.
func (g *ignores) start(dir string) {
	var dirs []string
	top := dir
	for range maxParents {
		if _, info, err := g.files.Read(filepath.Join(top, ".git"), 1); err == nil && info.Exists {
			break
		}
		up := filepath.Dir(top)
		if up == top {
			return // no repository: only files below dir count
		}
		top = up
		dirs = append(dirs, top)
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		g.enter(dirs[i])
	}
}

// enter makes dir the innermost directory.
func (g *ignores) enter(dir string) {
	g.rules = g.rules.For(dir)
	b, _, err := g.files.Read(filepath.Join(dir, ".gitignore"), ignore.MaxFile)
	if err == nil {
		g.rules = g.rules.Add(dir, b)
	}
}

// ignored reports whether a path (absolute) is left out.
func (g *ignores) ignored(path string, dir bool) bool { return g.rules.Ignored(path, dir) }
