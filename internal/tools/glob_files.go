package tools

import (
	"context"
	_ "embed"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perdure/perdure/internal/session"
)

//go:embed glob_files.md
var globDescription string

// Bounds of a Glob.
const (
	maxFound   = 1000   // paths shown
	maxMatches = 50_000 // paths that are sorted
)

// globFiles finds files by name.
type globFiles struct{}

func (globFiles) Spec() Spec {
	return Spec{
		Name: "Glob", Description: strings.TrimSpace(globDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"pattern":{"type":"string","description":"The glob, such as **/*.go or src/{a,b}/*.ts"},` +
			`"path":{"type":"string","description":"The directory to search in: the working directory if left out"}},` +
			`"required":["pattern"]}`,
	}
}

// Path is what permission rules look at: the directory that the search really starts from.
func (globFiles) Path(c Call) string {
	in := parse(c)
	base, _ := splitGlob(in.text("path"), in.text("pattern"))
	return base
}

// splitGlob moves the plain directories at a pattern's start to the path, so that a pattern such as /etc/* or ../*
// is decided, and searched, as the directory it names.
func splitGlob(path, pattern string) (base, rest string) {
	dir, rest := doublestar.SplitPattern(pattern)
	switch {
	case filepath.IsAbs(dir) || dir == "~" || strings.HasPrefix(dir, "~/"):
		return dir, rest
	case path == "":
		return dir, rest
	case dir == ".":
		return path, rest
	}
	return strings.TrimSuffix(path, "/") + "/" + dir, rest
}

type found struct {
	path  string
	mtime int64
}

// Run finds the files.
func (globFiles) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	pattern, path := in.nonEmpty("pattern"), in.text("path")
	in.glob("pattern", pattern)
	base, rest := splitGlob(path, pattern)
	if slices.Contains(strings.Split(rest, "/"), "..") {
		in.problem(`"pattern" has .. after a wildcard; give the directory in "path"`)
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	root, info, refusal := searchRoot(env, base)
	tree, ok := env.Files.(Tree)
	switch {
	case refusal != nil:
		return *refusal, nil
	case !ok:
		return failure("this filesystem can't be searched"), nil
	case !info.Dir:
		return failure("%s is a file, not a directory to search in", root), nil
	}
	deep := strings.Contains(rest, "**")
	var list []found
	w := &walker{tree: tree, depth: maxDepth + 1, hide: env.Hidden}
	if !deep {
		w.depth = strings.Count(rest, "/") // of the pattern; a brace may hold more, which only widens the walk
	}
	w.skip = func(rel string, dir bool) bool {
		name := filepath.Base(rel)
		return dir && unwanted(name) && !strings.Contains(rest, name)
	}
	w.visit = func(rel string, d fs.DirEntry) error {
		if d.IsDir() && deep || !doublestar.MatchUnvalidated(rest, rel) {
			return nil
		}
		if len(list) >= maxMatches {
			w.cut = true
			return errStop
		}
		f := found{path: shown(env, filepath.Join(root, rel))}
		if fi, err := d.Info(); err == nil {
			f.mtime = fi.ModTime().UnixNano()
		}
		if d.IsDir() {
			f.path += "/"
		}
		list = append(list, f)
		return nil
	}
	if err := w.run(ctx, root); err != nil {
		return Result{}, err
	}
	return globResult(list, w.notes()), nil
}

// globResult lists the newest files first.
func globResult(list []found, notes []string) Result {
	slices.SortFunc(list, func(a, b found) int {
		if a.mtime != b.mtime {
			if a.mtime > b.mtime {
				return -1
			}
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	var lines []string
	for _, f := range list[:min(len(list), maxFound)] {
		lines = append(lines, f.path)
	}
	if len(list) == 0 {
		lines = append(lines, "(no file matches)")
	}
	if n := len(list) - maxFound; n > 0 {
		lines = append(lines, "["+itoa(n)+" older files left out; use a narrower pattern]")
	}
	return success("%s", strings.Join(append(lines, notes...), "\n"))
}
