package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/homes"
)

// PlaceHome makes a relative PERDURE_HOME absolute before anything reads it: it means the directory that the command was
// started in, also where a hint or an inherited variable names it elsewhere.
func (a *App) PlaceHome() {
	v := a.Getenv("PERDURE_HOME")
	if v == "" || filepath.IsAbs(v) || strings.HasPrefix(v, "~") || !filepath.IsAbs(a.Dir) {
		return
	}
	environ := []string{"PERDURE_HOME=" + filepath.Join(a.Dir, v)}
	for _, kv := range a.Environ {
		if !strings.HasPrefix(kv, "PERDURE_HOME=") {
			environ = append(environ, kv)
		}
	}
	a.Environ = environ
}

// HomeDir is where sessions are kept: $PERDURE_HOME, else the XDG data directory.
func (a *App) HomeDir() (string, error) {
	dir, err := homes.Place(a.Getenv)
	if err != nil {
		return "", UsageError("%s", err)
	}
	return dir, nil
}

// IsDir reports whether a directory is there.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Workdir is the directory that the command was started in, without symbolic links. It may have been deleted since.
func (a *App) Workdir() (string, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil || !IsDir(dir) || !filepath.IsAbs(dir) {
		return "", &ExitError{
			Code: ExitFailed, Text: "the directory that this was started in is gone",
			Hint: "change to one that exists, and run it again",
		}
	}
	return dir, nil
}

// Directory makes a path absolute, as sessions record it: with symlinks resolved, where it exists. A relative one needs
// the directory that the command was started in.
func (a *App) Directory(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		here, err := a.Workdir()
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

// Tilde writes a path below the home directory as people do.
func (a *App) Tilde(path string) string {
	home := a.Getenv("HOME")
	if rest, ok := strings.CutPrefix(path, home); ok && filepath.IsAbs(home) && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
