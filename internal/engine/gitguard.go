package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Git takes any directory that holds HEAD, objects and refs for a repository, and runs programs that its configuration
// names. Files that a session may write without asking can make one, so git is told by its environment to take a bare
// repository only where it is named (--git-dir, GIT_DIR, a .git file).
const (
	gitCount     = "GIT_CONFIG_COUNT"
	gitBareKey   = "safe.bareRepository"
	gitBareValue = "explicit"
	maxGitConfig = 1024 // entries that are looked through
)

// guardGit adds our entry behind those that are there. Where the last entry of that name is ours, nothing changes.
func guardGit(vars map[string]string) {
	n, err := strconv.Atoi(vars[gitCount])
	if err != nil && vars[gitCount] != "" {
		return // git itself refuses to run with such a number
	}
	if n = max(n, 0); n > maxGitConfig {
		n = 0
	}
	ours := false
	for i := range n {
		key, ok := vars[gitKey(i)]
		if !ok { // its variable was taken away: git would not run at all
			vars[gitKey(i)], vars[gitValue(i)] = gitBareKey, gitBareValue
			ours = true
			continue
		}
		if strings.EqualFold(key, gitBareKey) {
			ours = vars[gitValue(i)] == gitBareValue
		}
	}
	if !ours {
		vars[gitCount], vars[gitKey(n)], vars[gitValue(n)] = strconv.Itoa(n+1), gitBareKey, gitBareValue
	}
}

func gitKey(i int) string   { return "GIT_CONFIG_KEY_" + strconv.Itoa(i) }
func gitValue(i int) string { return "GIT_CONFIG_VALUE_" + strconv.Itoa(i) }

// gitMembers are the names in a git directory that make it one, or that git obeys.
var gitMembers = map[string]bool{
	"head": true, "objects": true, "refs": true, "commondir": true, "config": true, "config.worktree": true, "hooks": true, "info": true,
}

// inGitDirectory reports that a changed file would lie in what git takes for its directory, as that is now or as the
// change makes it.
func (s *world) inGitDirectory(file string) bool {
	for dir, name := filepath.Dir(file), filepath.Base(file); ; dir, name = filepath.Dir(dir), filepath.Base(dir) {
		if gitMembers[strings.ToLower(name)] && s.gitDirectory(dir, strings.ToLower(name)) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// gitDirectory reports that a directory is one for git once it also has the given member.
func (s *world) gitDirectory(dir, member string) bool {
	has := func(name string) bool {
		if strings.ToLower(name) == member {
			return true
		}
		_, info, err := s.eng.cfg.Files.Read(filepath.Join(dir, name), 1)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false
		}
		return info.Exists || err != nil // what cannot be read is there
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
