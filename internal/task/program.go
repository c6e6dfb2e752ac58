//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CheckProgram says why a command could not be executed in a directory with an environment, as its exec stage would
// find. Without argv it is a script, whose shell is there. It is for telling early: what is there now may be gone then.
// Errors: command.ErrNoProgram, others in words.
func CheckProgram(argv []string, cwd string, env []string) error {
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return fmt.Errorf("working directory %s: not a directory or not reachable", cwd)
	}
	if len(argv) == 0 {
		return nil
	}
	name := argv[0]
	path, err := findProgram(name, env)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return noProgram(name + ": " + unwrapped(err))
	case err != nil:
		return fmt.Errorf("%s: %s", name, unwrapped(err))
	case info.IsDir():
		return fmt.Errorf("%s: is a directory", name)
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fmt.Errorf("%s: %s: it may not be executed", name, err)
	}
	return nil
}

// unwrapped is an error's cause without the path, which the caller has named.
func unwrapped(err error) string {
	if p, ok := err.(*os.PathError); ok {
		return p.Err.Error()
	}
	return err.Error()
}
