package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// home is where sessions are kept: $PERDURE_HOME, else the XDG data directory.
func (a *App) home() (string, error) {
	if v := a.getenv("PERDURE_HOME"); v != "" {
		if strings.HasPrefix(v, "~") {
			return "", usageError("PERDURE_HOME is %s: only a shell expands the ~; write the whole path (./%s is a directory of that name)", v, v)
		}
		return filepath.Abs(v)
	}
	if v := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "perdure"), nil
	}
	if v := a.getenv("HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, ".local", "share", "perdure"), nil
	}
	return "", usageError("no place to keep sessions: set PERDURE_HOME or HOME")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// workdir is the directory that the command was started in, without symbolic links. It may have been deleted since.
func (a *App) workdir() (string, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil || !isDir(dir) || !filepath.IsAbs(dir) {
		return "", &exitError{
			code: ExitFailed, text: "the directory that this was started in is gone",
			hint: "change to one that exists, and run it again",
		}
	}
	return dir, nil
}

// directory makes a path absolute, as sessions record it: with symlinks resolved, where it exists. A relative one needs
// the directory that the command was started in.
func (a *App) directory(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		here, err := a.workdir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(here, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real, nil
	}
	return filepath.Clean(dir), nil
}

// tilde writes a path below the home directory as people do.
func (a *App) tilde(path string) string {
	home := a.getenv("HOME")
	if rest, ok := strings.CutPrefix(path, home); ok && filepath.IsAbs(home) && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
