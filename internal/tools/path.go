package tools

import (
	"errors"
	"path/filepath"
	"strings"
)

// maxPath bounds a path in bytes, as Linux does.
const maxPath = 4096

// Absolute gives the clean absolute path for one as the model wrote it: ~/ is the user's home, and a relative path
// starts at the session's working directory. Symlinks are not looked at. Every tool reads its paths by it, so who
// decides about a path must too.
func Absolute(env Env, path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty")
	case len(path) > maxPath:
		return "", errors.New("the path is longer than 4096 bytes")
	case strings.IndexByte(path, 0) >= 0:
		return "", errors.New("the path holds a NUL byte")
	case path == "~" || strings.HasPrefix(path, "~/"):
		if env.Home == "" {
			return "", errors.New("the home directory for ~ is unknown; use an absolute path")
		}
		return filepath.Join(env.Home, path[1:]), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case !filepath.IsAbs(env.Cwd):
		return "", errors.New("the working directory is unknown; use an absolute path")
	}
	return filepath.Join(env.Cwd, path), nil
}

// resolve gives the path that a call works on: the one that was decided about, else where the name leads now.
func (env Env) resolve(name string) (string, error) {
	if env.Target != "" {
		return env.Target, nil
	}
	path, err := Absolute(env, name)
	if err == nil {
		path, err = env.Files.Resolve(path)
	}
	return path, err
}

// shown gives a path for results of searches: relative to the working directory when it is inside.
func shown(env Env, path string) string {
	if rel, err := filepath.Rel(env.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
