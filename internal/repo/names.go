package repo

import (
	"context"
	"path/filepath"
	"strings"
)

// Names lists the files below a directory of the repository, relative to it with slashes, that git knows or does not
// ignore, at most most: those that it knows first. A repository within is a name that ends with a slash. A file that is
// known may be gone. Errors: git's; of a list that is longer than 4 MiB nothing is given.
func (r Repo) Names(ctx context.Context, dir string, most int) ([]string, error) {
	below, err := filepath.Rel(r.Root, dir)
	if err != nil {
		return nil, err
	}
	prefix := ""
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if below = filepath.ToSlash(below); below != "." {
		prefix = below + "/"
		args = append(args, "--", below)
	}
	out, err := r.git(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name, ok := strings.CutPrefix(name, prefix); ok && name != "" && len(names) < most {
			names = append(names, name)
		}
	}
	return names, nil
}
