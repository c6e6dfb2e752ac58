package tools

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of ignore files.
const (
	maxIgnoreFile  = 64 << 10 // bytes
	maxIgnoreRules = 500      // of one file
	maxParents     = 32       // directories above a search that are looked at
)

// ignores knows what the .gitignore files on the way to a path leave out. It covers what people write in them; the
// repository's exclude file and the user's global one are not read.
type ignores struct {
	files Files
	stack []ignoreFile // outermost first
}

type ignoreFile struct {
	dir   string // absolute
	rules []ignoreRule
}

type ignoreRule struct {
	glob    string // relative to the file's directory
	dirOnly bool
	keep    bool // a rule with !
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
		g.load(dirs[i])
	}
}

// enter makes dir the innermost directory.
func (g *ignores) enter(dir string) {
	for n := len(g.stack); n > 0 && !within(g.stack[n-1].dir, dir); n-- {
		g.stack = g.stack[:n-1]
	}
	g.load(dir)
}

func within(dir, path string) bool {
	return dir == path || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// load reads one directory's ignore file, if it has one.
func (g *ignores) load(dir string) {
	b, _, err := g.files.Read(filepath.Join(dir, ".gitignore"), maxIgnoreFile)
	if err != nil || len(b) == 0 {
		return
	}
	file := ignoreFile{dir: dir}
	for line := range strings.Lines(string(b)) {
		if r, ok := ignoreLine(strings.TrimRight(line, "\r\n")); ok && len(file.rules) < maxIgnoreRules {
			file.rules = append(file.rules, r)
		}
	}
	g.stack = append(g.stack, file)
}

// ignoreLine reads one line of an ignore file.
func ignoreLine(line string) (r ignoreRule, ok bool) {
	if t := strings.TrimRight(line, " \t"); !strings.HasSuffix(t, `\`) {
		line = t
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.keep, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, strings.TrimSuffix(line, "/")
	}
	if anchored := strings.Contains(line, "/"); anchored {
		line = strings.TrimPrefix(line, "/")
	} else {
		line = "**/" + line
	}
	// Braces are plain characters in ignore files.
	r.glob = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, len(r.glob) <= maxGlob && strings.Count(r.glob, "*") <= maxStars && doublestar.ValidatePattern(r.glob)
}

// ignored reports whether a path (absolute) is left out: the last rule that matches decides.
func (g *ignores) ignored(path string, dir bool) bool {
	for i := len(g.stack) - 1; i >= 0; i-- {
		file := g.stack[i]
		if !within(file.dir, path) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(path, file.dir), "/")
		for k := len(file.rules) - 1; k >= 0; k-- {
			r := file.rules[k]
			if (dir || !r.dirOnly) && doublestar.MatchUnvalidated(r.glob, rel) {
				return !r.keep
			}
		}
	}
	return false
}
