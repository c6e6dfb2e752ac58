package permission

import (
	"path"
	"strings"
)

// relative returns abs as seen from dir, "." for dir itself. Both are absolute.
func relative(dir, abs string) (string, bool) {
	dir, abs = path.Clean(dir), path.Clean(abs)
	if dir == abs {
		return ".", true
	}
	if dir != "/" {
		dir += "/"
	}
	if !strings.HasPrefix(abs, dir) {
		return "", false
	}
	return abs[len(dir):], true
}

// inside reports that an absolute path lies in the session's directories.
func inside(p Policy, abs string) bool {
	if !strings.HasPrefix(abs, "/") {
		return false
	}
	for _, dir := range append([]string{p.root()}, p.Dirs...) {
		if strings.HasPrefix(dir, "/") {
			if _, ok := relative(dir, abs); ok {
				return true
			}
		}
	}
	return false
}

// readsInside reports that Read, Glob or Grep stays in the session's directories.
func readsInside(p Policy, r Request) bool {
	if oddPath(r) || leaves(r.Pattern) {
		return false
	}
	return inside(p, target(r))
}

// target is the path that a file tool works on.
func target(r Request) string {
	if r.Path == "" && (r.Tool == toolGlob || r.Tool == toolGrep) {
		return r.Cwd
	}
	return r.Path
}

// leaves reports that a glob may reach out of the directory it starts in.
func leaves(glob string) bool {
	if strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~") {
		return true
	}
	// Braces and classes can spell a dot dot in many ways; two dots in a row
	// next to a separator, brace, comma or the ends are enough to ask.
	for i := 0; i+1 < len(glob); i++ {
		if glob[i] == '.' && glob[i+1] == '.' &&
			(i == 0 || strings.IndexByte("/{,", glob[i-1]) >= 0) &&
			(i+2 == len(glob) || strings.IndexByte("/},", glob[i+2]) >= 0) {
			return true
		}
	}
	return strings.Contains(glob, "{/") || strings.Contains(glob, ",/") || strings.Contains(glob, `\.`) || strings.Contains(glob, "[.")
}

// rawTarget is the path as the model wrote it, made absolute by its letters
// alone, or "".
func rawTarget(r Request) string {
	raw := r.RawPath
	switch {
	case raw == "":
		return ""
	case strings.HasPrefix(raw, "~/") && r.HomeDir != "":
		raw = r.HomeDir + raw[1:]
	case !strings.HasPrefix(raw, "/"):
		if r.Cwd == "" {
			return ""
		}
		raw = r.Cwd + "/" + raw
	}
	return path.Clean(raw)
}

// protectedPath reports that a path is protected: by the policy, or by a name
// that programs execute from. Letter case is ignored, because some filesystems
// ignore it. With glob the path's segments may be shell patterns.
func protectedPath(p Policy, abs string, glob bool) bool {
	segs := strings.Split(strings.ToLower(path.Clean(abs)), "/")
	for _, prot := range p.Protected {
		if strings.HasPrefix(prot, "/") && underSegments(segs, strings.Split(strings.ToLower(path.Clean(prot)), "/"), glob) {
			return true
		}
	}
	for i, seg := range segs {
		if seg == "" {
			continue
		}
		if segMatches(seg, ".git", glob) || segMatches(seg, ".perdure", glob) || segMatches(seg, ".ssh", glob) {
			return true
		}
		if segMatches(seg, ".config", glob) && i+1 < len(segs) &&
			(segMatches(segs[i+1], "git", glob) || segMatches(segs[i+1], "fish", glob)) {
			return true
		}
	}
	return startupFile(segs, glob)
}

func underSegments(segs, dir []string, glob bool) bool {
	if len(dir) == 2 && dir[1] == "" {
		return true // the root directory
	}
	if len(segs) < len(dir) {
		return false
	}
	for i := range dir {
		if segs[i] != dir[i] && !segMatches(segs[i], dir[i], glob) {
			return false
		}
	}
	return true
}

// segMatches compares one path segment, perhaps a pattern, with a name. As in
// the shell a leading dot must be written.
func segMatches(seg, name string, glob bool) bool {
	if seg == name {
		return true
	}
	if !glob || !strings.ContainsAny(seg, "*?[") || name == "" {
		return false
	}
	if name[0] == '.' && seg[0] != '.' {
		return false
	}
	ok, err := path.Match(seg, name)
	return ok || err != nil
}

// startupFile reports that the last segment is a file that a shell, git or the
// agent executes or obeys when it starts.
func startupFile(segs []string, glob bool) bool {
	last := segs[len(segs)-1]
	if len(segs) >= 3 && segs[1] == "etc" && (segMatches(segs[2], "profile", glob) || segMatches(segs[2], "profile.d", glob) ||
		segMatches(segs[2], "environment", glob) || segMatches(segs[2], "bash.bashrc", glob) || segMatches(segs[2], "zsh", glob)) {
		return true
	}
	if last == "" || last[0] != '.' {
		return false
	}
	if !glob {
		return startupName(last)
	}
	for _, name := range []string{
		".mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".envrc", ".gitconfig",
	} {
		if segMatches(last, name, true) {
			return true
		}
	}
	return false
}

func startupName(name string) bool {
	switch name {
	case ".mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".envrc", ".gitconfig":
		return true
	}
	return false
}

// Hidden reports that a deny or ask rule on reading covers this file, given by
// its absolute resolved path: Grep and Glob must leave it out, whatever directory
// they were allowed to search.
func Hidden(p Policy, abs string) bool {
	r := Request{Tool: toolRead, Path: abs, Root: p.root(), Cwd: p.Cwd, HomeDir: p.HomeDir}
	for _, rule := range append(p.Rules[:len(p.Rules):len(p.Rules)], p.Grants...) {
		if rule.Effect == Allow {
			continue
		}
		pat, err := compile(rule)
		if err != nil || pat.kind == matchPath && pat.bindsTool(toolRead) && pat.pathMatches(abs, r) {
			return true
		}
	}
	return false
}
