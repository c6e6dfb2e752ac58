// Package mention finds what a person names in a message: files of the directory, pictures by their path.
package mention

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/ui/composer"
)

// Bounds of the names that are offered.
const (
	maxNames = 20_000
	walkFor  = 200 * time.Millisecond
	gitFor   = 3 * time.Second
	listKept = 5 * time.Second
	maxDepth = 24
)

// FileList gives the names below a directory, for completion. In a repository they are those that git does not ignore,
// elsewhere all that a walk finds within its time, but for directories that tools fill. No link is followed. A list is
// kept for some seconds. It is safe for concurrent use.
type FileList struct {
	dir string
	now func() time.Time
	git time.Duration // how long git may take

	mu    sync.Mutex
	made  time.Time
	names []composer.File
}

// NewFileList makes a list of an absolute directory.
func NewFileList(dir string, now func() time.Time) *FileList {
	return &FileList{dir: dir, now: now, git: gitFor}
}

// Files returns up to n names that are like the words, the best first. What was removed is not among them. Errors: that
// the directory cannot be read.
func (l *FileList) Files(ctx context.Context, words string, n int) ([]composer.File, error) {
	names, err := l.all(context.WithoutCancel(ctx)) // who asked may have typed on; the list is for the next question too
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	best := composer.Rank(names, words, 2*n)
	best = slices.DeleteFunc(best, func(f composer.File) bool {
		_, err := os.Lstat(filepath.Join(l.dir, filepath.FromSlash(f.Path)))
		return err != nil // git knows it, and it is gone
	})
	return best[:min(len(best), n)], nil
}

// all are the names, of some seconds ago at most.
func (l *FileList) all(ctx context.Context) ([]composer.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.made.IsZero() && l.now().Sub(l.made) < listKept {
		return l.names, nil
	}
	names, err := l.known(ctx)
	if err != nil || len(names) == 0 { // no repository, or one that ignores all of the directory
		if names, err = l.walk(ctx); err != nil {
			return nil, err
		}
	}
	l.names, l.made = withDirs(names), l.now()
	return l.names, nil
}

// known are the names that git tells.
func (l *FileList) known(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.git)
	defer cancel()
	dir, err := filepath.EvalSymlinks(l.dir)
	if err != nil {
		return nil, err
	}
	r, err := repo.Look(ctx, dir)
	if err != nil {
		return nil, err
	}
	return r.Names(ctx, dir, maxNames)
}

// filled are directories that tools fill.
func filled(name string) bool {
	return slices.Contains([]string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".cache"}, name)
}

// walk are the names that are found within the time, those higher up first.
func (l *FileList) walk(ctx context.Context) ([]string, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	until := l.now().Add(walkFor)
	var names []string
	level := []string{"."}
	for depth := 0; len(level) > 0 && depth < maxDepth; depth++ {
		var below []string
		for _, dir := range level {
			if ctx.Err() != nil || !l.now().Before(until) || len(names) >= maxNames {
				return names, nil
			}
			entries, err := fs.ReadDir(root.FS(), dir)
			if err != nil && dir == "." {
				return nil, err
			}
			for _, e := range entries {
				name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
				switch {
				case !e.IsDir():
					names = append(names, name)
				case !filled(e.Name()):
					names = append(names, name+"/")
					below = append(below, name)
				}
			}
		}
		level = below
	}
	return names[:min(len(names), maxNames)], nil
}

// withDirs are names with the directories that they are in, each once.
func withDirs(names []string) []composer.File {
	out := make([]composer.File, 0, len(names)+len(names)/4)
	dirs := map[string]bool{}
	add := func(dir string) {
		if !dirs[dir] {
			dirs[dir] = true
			out = append(out, composer.File{Path: dir, Dir: true})
		}
	}
	for _, name := range names {
		for i := range len(name) {
			if name[i] == '/' {
				add(name[:i])
			}
		}
		if !strings.HasSuffix(name, "/") {
			out = append(out, composer.File{Path: name})
		}
	}
	return out
}
