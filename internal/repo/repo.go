// Package repo reads what a git repository says of itself: the branch, the newest commit, commits since a time, and
// whether a commit exists.
//
// A repository's configuration can name programs that git runs, and whoever writes files can make a repository. So what
// can be read is read from the files of the git directory; for the rest git is run so that it runs nothing else: without
// the configuration of the machine and the user, without hooks, monitors, pagers and fetches, within a time.
package repo

import (
	"context"
	"errors"
	"time"
)

// ErrNone says that there is no repository around a directory.
var ErrNone = errors.New("no git repository")

// Repo is a repository around a directory.
type Repo struct {
	Root   string // of the work tree, absolute
	Branch string // empty: no branch is checked out
	Commit string // of HEAD, 40 or 64 digits; empty: none yet
}

// Commit is one of a repository.
type Commit struct {
	Hash    string
	Time    time.Time // of the committer
	Subject string
}

// Look reads the repository around an absolute directory. Errors: [ErrNone], or that it cannot be read.
func Look(_ context.Context, dir string) (Repo, error) { return Repo{}, ErrNone }

// Since lists the commits that HEAD leads to, committed at or after a time, the newest first, at most most (500 at most);
// more tells how many there are beyond that, counted up to 10,000.
func (r Repo) Since(context.Context, time.Time, int) (list []Commit, more int, err error) {
	return nil, 0, nil
}

// Have tells of each hash, whole or its first 7 digits or more, whether the repository has that commit. After an error
// nothing is known of any.
func (r Repo) Have(_ context.Context, hashes []string) (map[string]bool, error) { return nil, nil }
