package instructions

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLinked says that a file is a link to one of another name: it is only the file in the project's root that may be one,
// for whoever changes what it leads to changes instructions, and that is asked for by its name.
var ErrLinked = errors.New("it is a link to a file of another name")

// maxLinks bounds how many links lead to one file.
const maxLinks = 8

// linked lists what a name in a root leads to, link by link.
func linked(at *os.Root, rel string) (out []string) {
	for range maxLinks {
		to, err := at.Readlink(rel)
		if err != nil {
			break
		}
		if filepath.IsAbs(to) {
			if to, err = filepath.Rel(at.Name(), to); err != nil {
				break
			}
		} else {
			to = filepath.Join(filepath.Dir(rel), to)
		}
		rel = to
		out = append(out, rel)
	}
	return out
}

// Linked are the files that those in the project's root are links to, absolute, links on the way resolved: to change one
// is to change what the sessions of the project are told.
func Linked(root string) (out []string) {
	at, err := os.OpenRoot(root)
	if err != nil {
		return nil
	}
	defer at.Close()
	for _, name := range names {
		for _, to := range linked(at, name) {
			abs := filepath.Join(root, to)
			out = append(out, abs)
			if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil && dir != filepath.Dir(abs) {
				out = append(out, filepath.Join(dir, filepath.Base(abs)))
			}
		}
	}
	return out
}

// others are directories in which the code of others lies.
var others = []string{
	".git", ".agent", "node_modules", "bower_components", "vendor", "third_party", "site-packages", "dist-packages", ".venv", "venv", ".tox", "Pods",
}

// Below reads the file of a directory that a session came to. What lies in another repository, or among the code of
// others, is not the project's: its files are for those who work on that. Errors: fs.ErrNotExist.
func Below(root, dir string) (File, error) {
	for _, d := range Between(root, dir)[1:] {
		if slices.ContainsFunc(others, func(name string) bool { return strings.EqualFold(name, filepath.Base(d)) }) {
			return File{}, os.ErrNotExist
		}
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return File{}, os.ErrNotExist
		}
	}
	return Of(root, dir)
}
