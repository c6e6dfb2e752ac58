// Package ignore says which files a project's .gitignore files leave out.
//
// [Parse] reads one file. A [Rules] chain holds the files on the way from the outermost directory to a path; the last
// rule that matches decides, and a rule of an inner file comes after one of an outer. It covers what people write in
// ignore files; the user's global one is not read.
//
// Everything here is pure and safe for concurrent use: whoever asks reads the files.
package ignore

import "strings"

// Bounds of an ignore file.
const (
	MaxFile  = 64 << 10 // bytes that are worth reading of one
	maxRules = 500      // of one file
	maxGlob  = 500      // bytes of a pattern
)

// Rules are those of one directory's ignore file, before those of the directories around it. Nil has none.
type Rules struct {
	outer *Rules
	dir   string
	rules []rule
}

type rule struct {
	plain   string // what the path must be, relative to the file's directory
	glob    glob   // in place of plain
	base    bool   // it is about the base name alone
	dirOnly bool
	keep    bool // a rule with !
}

// Add gives the rules of an ignore file in dir over those around it. Directories and paths are absolute, or all relative
// to one place, with / between names; the outermost of relative ones is "".
func (r *Rules) Add(dir string, file []byte) *Rules {
	inner := &Rules{outer: r, dir: dir}
	if len(file) > MaxFile {
		file = file[:MaxFile]
	}
	for line := range strings.Lines(strings.TrimPrefix(string(file), "\ufeff")) {
		if r, ok := parseLine(strings.TrimRight(line, "\r\n")); ok && len(inner.rules) < maxRules {
			inner.rules = append(inner.rules, r)
		}
	}
	if len(inner.rules) == 0 {
		return r
	}
	return inner
}

// For gives the rules that hold in dir: those of directories around it.
func (r *Rules) For(dir string) *Rules {
	for r != nil && !Within(r.dir, dir) {
		r = r.outer
	}
	return r
}

// Within reports whether path is dir, or lies below it.
func Within(dir, path string) bool {
	return dir == "" || dir == path || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// parseLine reads one line of an ignore file.
func parseLine(line string) (r rule, ok bool) {
	line = trimmed(line)
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.keep, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirOnly, line = true, strings.TrimSuffix(line, "/")
	}
	if line == "" || len(line) > maxGlob {
		return r, false
	}
	r.base = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if !strings.ContainsAny(line, special) {
		r.plain = line
		return r, line != ""
	}
	r.glob, ok = compile(line)
	return r, ok
}

// trimmed is a line without the blanks at its end that no backslash keeps.
func trimmed(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// Ignored reports whether a path is left out: the last rule that matches decides. What lies in a directory that is left
// out is left out too; who walks knows that, this does not look.
func (r *Rules) Ignored(path string, dir bool) bool {
	for ; r != nil; r = r.outer {
		if !Within(r.dir, path) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(path, r.dir), "/")
		for k := len(r.rules) - 1; k >= 0; k-- {
			if x := &r.rules[k]; (dir || !x.dirOnly) && x.matches(rel) {
				return !x.keep
			}
		}
	}
	return false
}

func (x *rule) matches(rel string) bool {
	if x.base {
		rel = rel[strings.LastIndexByte(rel, '/')+1:]
	}
	if x.plain != "" {
		return rel == x.plain
	}
	return x.glob.match(rel)
}
