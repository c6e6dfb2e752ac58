package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// identity is who a commit is by, where the repository's own configuration says it.
var identity = [2]string{"user.name", "user.email"}

// ErrBusy says that a merge, a rebase or the like is under way: nothing is committed in the midst of it.
var ErrBusy = errors.New("a merge, rebase, cherry-pick, revert or bisect is under way")

// CommitOnly commits files of the work tree, and nothing else: what is staged besides stays staged, and is not in the
// commit. Ignored files are left out, tracked or not. No hook runs and nothing is signed. Without a change there is no commit. While
// something is under way nothing is staged either: [ErrBusy].
func (r Repo) CommitOnly(ctx context.Context, files []string, message string) error {
	if err := r.busy(); err != nil {
		return err
	}
	var rel []string
	for _, f := range files {
		name, err := filepath.Rel(r.Root, f)
		if err != nil || !filepath.IsLocal(name) {
			return fmt.Errorf("repo: %s is not in %s", f, r.Root)
		}
		// check-ignore knows no literal names.
		ignored, err := r.git(ctx, "", "ls-files", "--cached", "--others", "--ignored", "--exclude-standard", "--", name)
		if err != nil {
			return err
		}
		if len(ignored) == 0 {
			rel = append(rel, name)
		}
	}
	if len(rel) == 0 {
		return nil
	}
	if _, err := r.change(ctx, append([]string{"add", "--"}, rel...)...); err != nil {
		return err
	}
	if _, err := r.git(ctx, "", append([]string{"diff", "--cached", "--quiet", "--no-ext-diff", "--"}, rel...)...); err == nil {
		return nil
	}
	_, err := r.change(ctx, append([]string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--only", "--message", message, "--"}, rel...)...)
	return err
}

// busy looks for the marks of what git has begun and not ended.
func (r Repo) busy() error {
	_, git, err := find(r.Root)
	if err != nil {
		return err
	}
	for _, mark := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"} {
		if _, err := os.Lstat(filepath.Join(git, mark)); err == nil {
			return ErrBusy
		}
	}
	return nil
}

// change runs git so that it may write, under the user's name.
func (r Repo) change(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"-C", r.Root}, quiet...), args...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = append(environment(r.Root), r.signature(ctx)...), r.Root, time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		line, _, _ := strings.Cut(string(out), "\n")
		return nil, errors.Join(fmt.Errorf("repo: git %s: %w: %.200s", args[0], err, line), ctx.Err())
	}
	return out, nil
}

// signature is the user's name and address as git is configured, given as variables since git itself reads none of the
// user's configuration here.
func (r Repo) signature(ctx context.Context) (env []string) {
	known := [2]string{"Perdure", "perdure@localhost"}
	for i, key := range identity {
		cmd := exec.CommandContext(ctx, "git", "-C", r.Root, "config", "--get", key)
		cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
		if out, err := cmd.Output(); err == nil && strings.TrimSpace(string(out)) != "" {
			known[i] = strings.TrimSpace(string(out))
		}
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME="+known[0], "GIT_"+who+"_EMAIL="+known[1])
	}
	return env
}
