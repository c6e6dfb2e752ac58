package permission

import (
	"path"
	"strings"
)

// protectedPath reports that a path is protected: by the policy, or by a name
// that programs execute from. Letter case is ignored, because some filesystems
// ignore it. With glob the path's segments may be shell patterns.
func protectedPath(p Policy, abs string, glob bool) bool {
	clean := path.Clean(abs)
	if glob {
		clean = cleanForm(abs)
	}
	if _, own := relative(p.TempDir, clean); own && strings.HasPrefix(p.TempDir, "/") {
		return false // its own directory, wherever it lies
	}
	segs := strings.Split(strings.ToLower(clean), "/")
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
	if glob && segs[0] != "" {
		return underSomewhere(segs, dir)
	}
	if len(segs) < len(dir) {
		return false
	}
	for i := range dir {
		if segs[i] != dir[i] && !(glob && i > 0 && segs[i] == "\x00") && !segMatches(segs[i], dir[i], glob) {
			return false
		}
	}
	return true
}

// underSomewhere compares a path of which only the end is known: what is written of it must name the end of dir.
func underSomewhere(segs, dir []string) bool {
	if segs[0] == "\x00" {
		segs = segs[1:]
	}
	for from := 1; from < len(dir); from++ {
		if len(segs) > 0 && segs[0] != "" && underSegments(append([]string{""}, segs...), append([]string{""}, dir[from:]...), true) {
			return true
		}
	}
	return false
}

// segMatches compares one path segment, perhaps of a form, with a name. As in the shell a leading dot must be written.
// A segment of which nothing is written matches no name.
func segMatches(seg, name string, glob bool) bool {
	if seg == name {
		return true
	}
	return glob && seg != "\x00" && isPattern(seg) && overlap(formTokens(seg, false), literalTokens(name))
}

// startupFile reports that the last segment is a file that a shell, git or the
// agent executes or obeys when it starts.
func startupFile(segs []string, glob bool) bool {
	last := segs[len(segs)-1]
	if len(segs) >= 3 && segs[1] == "etc" && (segMatches(segs[2], "profile", glob) || segMatches(segs[2], "profile.d", glob) ||
		segMatches(segs[2], "environment", glob) || segMatches(segs[2], "bash.bashrc", glob) || segMatches(segs[2], "zsh", glob)) {
		return true
	}
	if !glob && (last == "" || last[0] != '.') {
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
