//go:build linux || darwin

package task

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// findProgram resolves a program name by the PATH of the command's own environment. A name with a slash is taken as it
// is; an empty element of PATH is skipped rather than read as the working directory.
func findProgram(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(getenv(env, "PATH", "/usr/local/bin:/usr/bin:/bin")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", noProgram(name + ": command not found")
}

// getenv returns the last value of key in env, or other.
func getenv(env []string, key, other string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return other
}

// noProgram says in words of its own which program is not there.
type noProgram string

func (e noProgram) Error() string { return string(e) }

func (e noProgram) Is(target error) bool { return target == command.ErrNoProgram }
