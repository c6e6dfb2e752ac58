package tools

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a search through directories.
const (
	maxWalk  = 200_000 // entries looked at
	maxDepth = 64      // directories below the first
	maxGlob  = 500     // bytes of a glob
	maxStars = 24      // wildcards in a glob
	maxWays  = 256     // that a glob's braces multiply to; a match tries them all
)

// errStop ends a walk early without being an error.
var errStop = errors.New("stop")

// walker visits what is below a directory, in the order of names, without following symlinks.
type walker struct {
	tree  Tree
	depth int                                   // directories below the first that are entered
	skip  func(rel string, dir bool) bool       // leaves an entry out, a directory with all that is in it
	hide  func(abs string) bool                 // leaves out what the rules say may not be seen; nil hides nothing
	enter func(rel string)                      // called before a directory's entries; may be nil
	visit func(rel string, d fs.DirEntry) error // errStop ends the walk

	seen   int
	cut    bool // a bound was met
	closed int  // directories that could not be read
}

// walk visits rel (a path below root, empty for root itself).
func (w *walker) walk(ctx context.Context, root, rel string, depth int) error {
	list, err := w.tree.List(filepath.Join(root, rel), maxWalk)
	if err != nil {
		w.closed++
		return nil //nolint:nilerr // a directory that may not be read is counted, and the search goes on
	}
	if w.enter != nil {
		w.enter(rel)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.seen++; w.seen > maxWalk {
			w.cut = true
			return errStop
		}
		path := d.Name()
		if rel != "" {
			path = rel + "/" + d.Name()
		}
		if w.skip(path, d.IsDir()) || w.hide != nil && w.hide(filepath.Join(root, path)) {
			continue
		}
		if err := w.visit(path, d); err != nil {
			return err
		}
		if !d.IsDir() || depth >= w.depth {
			continue
		}
		if depth >= maxDepth {
			w.cut = true
			continue
		}
		if err := w.walk(ctx, root, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// run walks from root. Only the end of ctx is an error.
func (w *walker) run(ctx context.Context, root string) error {
	err := w.walk(ctx, root, "", 0)
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// unwanted names directories that searches leave out unless a pattern names them.
func unwanted(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules":
		return true
	}
	return false
}

// glob checks a glob that the model wrote.
func (in *input) glob(field, pattern string) {
	switch {
	case len(pattern) > maxGlob:
		in.problem("%q has %d bytes, at most %d are allowed", field, len(pattern), maxGlob)
	case strings.Count(pattern, "*") > maxStars || ways(pattern) > maxWays:
		in.problem("%q has over %d wildcards, or braces for over %d names", field, maxStars, maxWays)
	case strings.IndexByte(pattern, 0) >= 0 || !doublestar.ValidatePattern(pattern):
		in.problem("%q is no valid glob: *, **, ?, [abc] and {a,b} are known", field)
	}
}

// ways bounds from above how many patterns a glob with braces stands for: with as many commas, no nesting gives more
// than braces that share them evenly.
func ways(pattern string) float64 {
	braces, commas := float64(strings.Count(pattern, "{")), float64(strings.Count(pattern, ","))
	if braces == 0 {
		return 1
	}
	return math.Pow((commas+braces)/braces, braces)
}

// searchRoot gives the directory or file that a search starts from; empty is the working directory.
func searchRoot(env Env, path string) (string, FileInfo, *Result) {
	if path == "" {
		path = "."
	}
	abs, err := env.resolve(path)
	var info FileInfo
	if err == nil {
		_, info, err = env.Files.Read(abs, 1)
	}
	if err != nil {
		r := fileFailure(abs, err)
		if errors.Is(err, fs.ErrNotExist) {
			r = failure("no file or directory at %s", abs)
		}
		return abs, info, &r
	}
	return abs, info, nil
}

// notes tells what a walk left out.
func (w *walker) notes() (notes []string) {
	if w.cut {
		notes = append(notes, "[not everything was searched: over "+itoa(maxWalk)+" entries or "+itoa(maxDepth)+
			" levels; search in a narrower path]")
	}
	if w.closed > 0 {
		notes = append(notes, "["+itoa(w.closed)+" directories could not be read]")
	}
	return notes
}
