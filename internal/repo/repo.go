// Package repo reads what a git repository says of itself: the branch, the newest commit, commits since a time, and
// whether a commit exists.
//
// A repository's configuration can name programs that git runs, and whoever writes files can make a repository. So the
// branch and the newest commit are read from the files of the git directory; for the rest git is run so that it runs
// nothing else: without the configuration of the machine and of the user, without hooks, monitors, pagers and fetches,
// only in a repository that its user owns, within a time and a number of bytes.
package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/perdure/perdure/internal/realdir"

	"github.com/perdure/perdure/internal/short"
	"github.com/perdure/perdure/internal/sys"
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
	Subject string    // as somebody wrote it
}

// Bounds of what is read of a git directory, in bytes, and of names that lead to names.
const (
	maxSmall  = 4 << 10
	maxPacked = 16 << 20
	maxLinks  = 5
)

// Look reads the repository around an absolute directory. Errors: [ErrNone], or that it cannot be read.
func Look(ctx context.Context, dir string) (Repo, error) {
	root, git, err := find(dir)
	if err != nil {
		return Repo{}, err
	}
	r := Repo{Root: root}
	r.Branch, r.Commit, err = head(git)
	if errors.Is(err, errTables) {
		return r.ask(ctx)
	}
	return r, err
}

// errTables says that a repository's branches lie in tables, which git alone reads.
var errTables = errors.New("repo: branches in tables")

// head reads the branch and the newest commit.
func head(git string) (branch, commit string, err error) {
	text, err := small(filepath.Join(git, "HEAD"))
	if err != nil {
		return "", "", err
	}
	name, symbolic := strings.CutPrefix(text, "ref: ")
	switch {
	case !symbolic && whole.MatchString(text):
		return "", text, nil
	case !symbolic || !refName(name):
		return "", "", errors.New("repo: HEAD is no branch and no commit")
	case name == "refs/heads/.invalid":
		return "", "", errTables
	}
	branch, ok := strings.CutPrefix(name, "refs/heads/")
	if !ok {
		branch = ""
	}
	commit, err = resolve(git, name)
	return branch, commit, err
}

// find is the work tree around a directory and its git directory. One of another user is none, as it is for git.
func find(dir string) (root, git string, err error) {
	here, err := os.Stat(dir)
	if err != nil {
		here = nil // a directory that is gone has no owner
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		git = filepath.Join(at, ".git")
		switch info, err := os.Stat(git); {
		case err == nil && !realdir.Mine(info, here):
		case err == nil && info.IsDir():
			return at, git, nil
		case err == nil && info.Mode().IsRegular():
			line, err := small(git)
			if err != nil {
				return "", "", err
			}
			to, ok := strings.CutPrefix(line, linkPrefix)
			if !ok {
				return "", "", errors.New("repo: .git leads nowhere")
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(at, to)
			}
			return at, to, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", "", err
		}
		if at == filepath.Dir(at) {
			return "", "", ErrNone
		}
	}
}

// resolve finds the commit of a ref: in a file of its own, or among the packed ones; empty: there is none yet.
func resolve(git, name string) (string, error) {
	common := commonDir(git)
	for range maxLinks {
		text, err := small(filepath.Join(common, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return packed(filepath.Join(common, "packed-refs"), name)
		}
		if err != nil {
			return "", err
		}
		to, symbolic := strings.CutPrefix(text, "ref: ")
		switch {
		case whole.MatchString(text):
			return text, nil
		case !symbolic || !refName(to):
			return "", errors.New("repo: " + name + " is no commit")
		}
		name = to
	}
	return "", errors.New("repo: " + name + " leads in a circle")
}

// commonDir is what all worktrees of a repository have in common, by the git directory of one.
func commonDir(git string) string {
	line, err := small(filepath.Join(git, "commondir"))
	switch {
	case err != nil:
		return git
	case filepath.IsAbs(line):
		return line
	}
	return filepath.Join(git, line)
}

// packed finds a ref among the packed ones.
func packed(file, name string) (string, error) {
	b, err := bounded(file, maxPacked)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok && ref == name && whole.MatchString(hash) {
			return hash, nil
		}
	}
	return "", nil
}

var whole = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// refName reports a name that git gives a ref: no other can lead out of the directory of refs.
func refName(name string) bool {
	return strings.HasPrefix(name, "refs/") && filepath.IsLocal(name) && !strings.Contains(name, "..") && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r)
	})
}

// small reads the one line of a short file.
func small(file string) (string, error) {
	b, err := bounded(file, maxSmall)
	return strings.TrimSpace(string(b)), err
}

// bounded reads a short file; a link in its place is not followed.
func bounded(file string, most int64) ([]byte, error) { return short.Read(file, most, sys.NoFollow) }
