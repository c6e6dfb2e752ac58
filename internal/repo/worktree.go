package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/sys"
)

// AddWorktree makes a git worktree of the repository at a place that is not there yet, detached at HEAD and with the index
// of r.Root, and gives what is to be its .git file: the place itself is left to the caller, empty and gone again. Nothing
// is checked out, and nothing that the repository names runs. After an error nothing of it remains.
//
// The caller makes the files and then writes the link: git takes the place for a worktree from then on. A repository
// without a commit has none.
func (r Repo) AddWorktree(ctx context.Context, place string) (link []byte, err error) {
	if r.Commit == "" {
		return nil, errors.New("repo: there is no commit yet")
	}
	_, from, err := find(r.Root)
	if err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, "", "worktree", "add", "--detach", "--no-checkout", "--quiet", place, r.Commit); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.DropWorktree(context.WithoutCancel(ctx), place))
		}
	}()
	if link, err = bounded(filepath.Join(place, ".git"), maxSmall); err != nil {
		return nil, err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	if !ok || !filepath.IsAbs(to) {
		return nil, errors.New("repo: the worktree leads nowhere")
	}
	if err := copyIndex(filepath.Join(from, "index"), filepath.Join(to, "index")); err != nil {
		return nil, err
	}
	return link, errors.Join(os.Remove(filepath.Join(place, ".git")), os.Remove(place))
}

// maxCopied bounds an index that is copied, in bytes.
const maxCopied = 1 << 30

// copyIndex gives a worktree the index of another one: what is staged there is staged here. What it says of times and
// inodes git finds out to be of other files, and compares contents.
func copyIndex(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|sys.NoFollow|sys.NonBlock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopied {
		return errors.Join(err, fmt.Errorf("repo: %s is no index that can be copied", from))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|sys.NoFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// DropWorktree has the repository forget a worktree, whose files may be gone already. One that it does not know is left
// alone: that is an error.
func (r Repo) DropWorktree(ctx context.Context, place string) error {
	_, err := r.git(ctx, "", "worktree", "remove", "--force", "--force", place)
	return err
}
