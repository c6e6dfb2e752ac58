package repo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/sys"
)

// Worktree is a git worktree that lacks its files.
type Worktree struct {
	Link  []byte   // what is to be its .git file
	Lacks []string // what is under way in the repository and not in it, in words for people
}

// AddWorktree makes a git worktree of the repository at a place that is not there yet, detached at HEAD, with the index of
// r.Root and the merge, cherry-pick or revert that is under way there. The place itself is left to the caller, empty and
// gone again. Nothing is checked out, and nothing that the repository names runs. After an error nothing of it remains.
//
// The caller makes the files and then writes the link: git takes the place for a worktree from then on. A repository
// without a commit has none.
func (r Repo) AddWorktree(ctx context.Context, place string) (w Worktree, err error) {
	if r.Commit == "" {
		return w, errors.New("repo: there is no commit yet")
	}
	_, from, err := find(r.Root)
	if err != nil {
		return w, err
	}
	if _, err := r.git(ctx, "", "worktree", "add", "--detach", "--no-checkout", "--quiet", place, r.Commit); err != nil {
		return w, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.DropWorktree(context.WithoutCancel(ctx), place))
		}
	}()
	if w.Link, err = bounded(filepath.Join(place, ".git"), maxSmall); err != nil {
		return w, err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(w.Link)), linkPrefix)
	if !ok || !filepath.IsAbs(to) {
		return w, errors.New("repo: the worktree leads nowhere")
	}
	if err := copyIndex(from, to); err != nil {
		return w, err
	}
	if w.Lacks, err = copyUnderWay(from, to); err != nil {
		return w, err
	}
	return w, errors.Join(os.Remove(filepath.Join(place, ".git")), os.Remove(place))
}

// linkPrefix begins a .git file.
const linkPrefix = "gitdir: "

// Bounds of what is copied into a worktree, in bytes.
const (
	maxCopied = 1 << 30   // an index
	maxSplit  = 64 << 20  // an index that leads to another one
	maxState  = 256 << 10 // what git keeps of a merge
)

// splitPrefix begins the names of what indexes are split from.
const splitPrefix = "sharedindex."

// copyIndex gives a worktree the index of another one: what is staged there is staged here. What it says of times and
// inodes git finds out to be of other files, and compares contents. Without one everything counts as deleted, there and
// here.
func copyIndex(from, to string) error {
	err := copyFile(filepath.Join(from, "index"), filepath.Join(to, "index"), maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), splitPrefix) })
	if len(entries) == 0 {
		return nil
	}
	index, err := bounded(filepath.Join(to, "index"), maxSplit)
	if err != nil {
		return err
	}
	for _, e := range entries { // it holds the name of the one that it is split from
		name, err := hex.DecodeString(strings.TrimPrefix(e.Name(), splitPrefix))
		if err != nil || len(name) < 20 || !bytes.Contains(index, name) {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), maxCopied); err != nil {
			return err
		}
	}
	return nil
}

// copyUnderWay gives a worktree what another one has under way, as far as it ends in a commit of the worktree's own. The
// rest is named: a rebase would move the branch of the original, and a bisect ends in a checkout of it.
func copyUnderWay(from, to string) (lacks []string, err error) {
	there := func(name string) bool { _, err := os.Lstat(filepath.Join(from, name)); return err == nil }
	if there("BISECT_LOG") {
		lacks = append(lacks, "the bisect that is under way")
	}
	switch {
	case there("rebase-apply/applying"):
		return append(lacks, "the applying of patches that is under way"), nil
	case there("rebase-merge"), there("rebase-apply"):
		return append(lacks, "the rebase that is under way"), nil
	case there("sequencer"):
		lacks = append(lacks, "the commits that are still to be picked")
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		if err := copyFile(filepath.Join(from, name), filepath.Join(to, name), maxState); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return lacks, nil
}

// copyFile copies a regular file of at most so many bytes; a link is not followed.
func copyFile(from, to string, most int64) error {
	in, err := os.OpenFile(from, os.O_RDONLY|sys.NoFollow|sys.NonBlock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return errors.Join(err, fmt.Errorf("repo: %s is no file that can be copied", from))
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
