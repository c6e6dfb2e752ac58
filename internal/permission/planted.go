package permission

import (
	"path"
	"slices"
	"strings"
)

// This file asks what a program's name means here: a file that the agent may have written is not the system's program of
// that name, and no more is one that takes code or settings from such a file.

// shells are tried by the runner before the search path is.
var shells = []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"}

// builtin reports a name that the shell runs itself, whatever the search path has.
func builtin(name string) bool {
	switch name {
	case "true", "false", ":", "echo", "printf", "pwd", "test", "[", "cd":
		return true
	}
	return false
}

// notSystems says why the name of a program may lead to a file of the agent's, or "".
func (j *judge) notSystems(name string) string {
	if why, known := j.systems[name]; known {
		return why
	}
	if j.systems == nil {
		j.systems = map[string]string{}
	}
	why := j.leads(name)
	if why == "" && (name == "egrep" || name == "fgrep") {
		why = j.leads("grep") // they are scripts that run it
	}
	j.systems[name] = why
	return why
}

func (j *judge) leads(name string) string {
	for dir := range strings.SplitSeq(j.p.Env["PATH"], ":") {
		at, ok := j.p.Look(path.Join(dir, name), false)
		if !ok || len(at) != 1 {
			return "where the name " + clip(name) + " leads cannot be told"
		}
		own := j.writableEntry(dir)
		switch {
		case own && j.changed != "":
			return j.changed + " may put a program named " + clip(name) + " into " + clip(dir)
		case at[0].Missing || at[0].Dir:
			continue
		case own || j.writable(at[0].Path):
			return clip(name) + " is " + clip(path.Join(dir, name)) + ", which the agent may have written"
		}
		return ""
	}
	return "" // the shell does not find it either
}

// writableEntry reports that the agent may put files into a directory of the search path.
func (j *judge) writableEntry(dir string) bool {
	if own, known := j.entries[dir]; known {
		return own
	}
	at, ok := j.p.Look(path.Clean(dir), false)
	own := !ok || len(at) != 1 || j.writable(at[0].Path)
	if j.entries == nil {
		j.entries = map[string]bool{}
	}
	j.entries[dir] = own
	return own
}

// writable reports a path, absolute and with links followed, at which the agent may write unasked in some mode. A rule
// that allows every edit says nothing about one path, and does not count.
func (j *judge) writable(abs string) bool {
	if inside(j.p, abs) {
		return true
	}
	if j.p.TempDir != "" {
		if _, in := relative(j.p.TempDir, abs); in {
			return true
		}
	}
	return slices.ContainsFunc(j.pats, func(p pattern) bool {
		return p.Effect == Allow && !p.bad && (p.bindsTool(toolWrite) || p.bindsTool(toolEdit)) && p.kind == matchPath && p.pathMatches(abs, j.r)
	})
}

// notSystemsShell is notSystems for the shell.
func (j *judge) notSystemsShell() string {
	for _, shell := range shells {
		if at, ok := j.p.Look(shell, false); ok && len(at) == 1 && !at[0].Missing {
			return ""
		}
	}
	return j.notSystems("bash")
}

// obeys reports a variable that the linker or the C library obey in every program.
func obeys(name string) bool {
	switch name {
	case "GCONV_PATH", "LOCPATH", "NLSPATH", "TERMINFO", "TERMINFO_DIRS", "TZDIR", "TZ", "LANG", "LANGUAGE":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "LC_")
}

// obeyedBy reports a variable that makes one program run others, or other settings.
func obeyedBy(program, name string) bool {
	switch program {
	case "rg":
		return name == "RIPGREP_CONFIG_PATH"
	case "file":
		return name == "MAGIC"
	case "git":
		for _, plain := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_MERGE_AUTOEDIT"} {
			if strings.HasPrefix(name, plain) {
				return false
			}
		}
		return strings.HasPrefix(name, "GIT_")
	}
	return false
}

// ledAstray names a variable, of those asked for, whose value leads to where the agent may write.
func (j *judge) ledAstray(asked func(name string) bool) string {
	first := ""
	for name, value := range j.p.Env {
		if asked(name) && (first == "" || name < first) && j.valueAstray(name, value) {
			first = name
		}
	}
	if first == "" {
		return ""
	}
	return first + " leads to where the agent may write"
}

func (j *judge) valueAstray(name, value string) bool {
	switch {
	case value == "":
		return false
	case name == "TZ":
		value = strings.TrimPrefix(value, ":")
		return strings.Contains(value, "..") || strings.HasPrefix(value, "/") && j.fileAstray(value)
	case strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "LANG"):
		return strings.Contains(value, "/")
	case strings.HasPrefix(name, "GIT_"):
		return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == ':' }), j.wordAstray)
	case name == "LD_PRELOAD" || name == "LD_AUDIT":
		return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == ':' }), func(v string) bool {
			return strings.ContainsAny(v, "/$") && j.fileAstray(v)
		})
	}
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ';' }), func(list string) bool {
		return slices.ContainsFunc(strings.Split(list, ":"), j.fileAstray) // an empty one is the working directory
	})
}

// fileAstray reports a path that is not plainly one outside of what the agent may write.
func (j *judge) fileAstray(file string) bool {
	if !strings.HasPrefix(file, "/") || strings.Contains(file, "$") {
		return true
	}
	at, ok := j.p.Look(path.Clean(file), false)
	return !ok || len(at) != 1 || j.writable(at[0].Path) && !protectedPath(j.p, at[0].Path, false)
}

// wordAstray reports a word of a command, or a path, that leads to a file of the agent's.
func (j *judge) wordAstray(word string) bool {
	switch {
	case strings.HasPrefix(word, "~/") || strings.HasPrefix(word, "-"):
		return false
	case strings.Contains(word, "/"):
		return j.fileAstray(word)
	}
	return j.notSystems(word) != ""
}
