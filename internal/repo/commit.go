package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/sys"
)

// identity is who a commit is by, where the repository's own configuration says it.
var identity = [2]string{"user.name", "user.email"}

// maxFile bounds a file that is committed, in bytes.
const maxFile = 64 << 20

// ErrBusy says that a merge, a rebase or the like is under way: nothing is committed in the midst of it.
var ErrBusy = errors.New("a merge, rebase, cherry-pick, revert or bisect is under way")

// CommitOnly commits files of the work tree as they are, and nothing else: what is staged besides stays staged, and is not
// in the commit. Ignored files, links and what is not there are left out. Nothing that the repository names runs: no
// filter, no hook, no signing, no maintenance. Without a change there is no commit. [ErrBusy].
func (r Repo) CommitOnly(ctx context.Context, files []string, message string) error {
	rel, err := r.below(files)
	if err != nil || len(rel) == 0 {
		return err
	}
	if err := r.busy(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "perdure-index-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at, err := r.git(ctx, "", "rev-parse", "--absolute-git-dir") // git refuses here what another user owns
	if err != nil {
		return err
	}
	c := committing{r: r, env: r.signature(ctx), gitDir: strings.TrimSpace(string(at)), dir: dir}
	entries, err := c.store(ctx, rel)
	if err != nil || entries == "" {
		return err
	}
	return c.commit(ctx, entries, message)
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

// below are the names of files in the work tree, without those behind a link and those that are not there.
func (r Repo) below(files []string) (rel []string, err error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, f := range files {
		name, err := filepath.Rel(r.Root, f)
		if err != nil || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("repo: %s is not in %s", f, r.Root)
		}
		if name = filepath.ToSlash(name); lies(root, name) {
			rel = append(rel, name)
		}
	}
	return rel, nil
}

// lies reports a file that no link leads to.
func lies(root *os.Root, name string) bool {
	for i, r := range name + "/" {
		if r != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		if err != nil || i < len(name) && !info.IsDir() || i == len(name) && !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// committing is a commit under way. Its commands see no work tree but an empty one, for git runs the filters that a
// repository names wherever it looks into a file: not only to add it, but also to write an index.
type committing struct {
	r      Repo
	env    []string
	gitDir string
	dir    string // empty but for the commit's own index
}

// git runs git without a work tree.
func (c committing) git(ctx context.Context, in string, args ...string) (string, error) {
	return c.run(ctx, in, c.dir, []string{"GIT_DIR=" + c.gitDir, "GIT_WORK_TREE=" + c.dir}, args)
}

// aside is git on the commit's own index.
func (c committing) aside(ctx context.Context, in string, args ...string) (string, error) {
	return c.run(ctx, in, c.dir, []string{"GIT_DIR=" + c.gitDir, "GIT_WORK_TREE=" + c.dir, "GIT_INDEX_FILE=" + filepath.Join(c.dir, "index")}, args)
}

func (c committing) run(ctx context.Context, in, dir string, env, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(slices.Clip(quiet), args...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay, cmd.Stdin = slices.Concat(environment(c.r.Root), c.env, env), dir, time.Second, strings.NewReader(in)
	var out, said capped
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(said.String(), "\n")
		return "", errors.Join(fmt.Errorf("repo: git %s: %w: %.200s", args[0], err, line), ctx.Err())
	}
	return strings.TrimSpace(out.String()), nil
}

// store puts the files' contents into the repository, and gives them as entries of an index.
func (c committing) store(ctx context.Context, rel []string) (entries string, err error) {
	root, err := os.OpenRoot(c.r.Root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	ignored, err := c.ignored(ctx, rel)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range rel {
		if slices.Contains(ignored, name) {
			continue
		}
		b, mode, err := content(root, name)
		if err != nil {
			return "", err
		}
		if mode == "" {
			continue
		}
		hash, err := c.git(ctx, string(b), "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", err
		}
		if !whole.MatchString(hash) {
			return "", errors.New("repo: git gave no hash")
		}
		out.WriteString(mode + " " + hash + "\t" + name + "\x00")
	}
	return out.String(), nil
}

// ignored are those of the names that git ignores.
func (c committing) ignored(ctx context.Context, rel []string) ([]string, error) {
	out, err := c.run(ctx, "./"+strings.Join(rel, "\x00./"), c.r.Root, []string{"GIT_WORK_TREE=" + c.r.Root}, []string{"--no-literal-pathspecs", "check-ignore", "-z", "--stdin"})
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: none is ignored
		return nil, err
	}
	names := strings.Split(out, "\x00")
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "./")
	}
	return names, nil
}

// content reads a file of the work tree, and gives its mode as git writes it. Empty: it is not there, or it is a link, or
// behind one.
func content(root *os.Root, name string) (b []byte, mode string, err error) {
	if !lies(root, name) {
		return nil, "", nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|sys.NonBlock|sys.NoFollow, 0)
	if err != nil {
		return nil, "", fmt.Errorf("repo: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, "", err
	}
	if mode = "100644"; info.Mode()&0o100 != 0 {
		mode = "100755"
	}
	b, err = io.ReadAll(io.LimitReader(f, maxFile))
	return b, mode, err
}

// commit makes the commit of HEAD and the entries, puts them into the repository's index, and moves HEAD.
func (c committing) commit(ctx context.Context, entries, message string) error {
	head, _ := c.git(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}") // empty: this is the first one
	from, tree, make := []string{"read-tree", "--empty"}, "", []string{"commit-tree", "-m", message}
	if head != "" {
		from, make = []string{"read-tree", head}, append(make, "-p", head)
		var err error
		if tree, err = c.git(ctx, "", "rev-parse", "--verify", head+"^{tree}"); err != nil {
			return err
		}
	}
	if _, err := c.aside(ctx, "", from...); err != nil {
		return err
	}
	if _, err := c.aside(ctx, entries, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	now, err := c.aside(ctx, "", "write-tree")
	if err != nil || now == tree {
		return err
	}
	hash, err := c.git(ctx, "", append(make, now)...)
	if err != nil {
		return err
	}
	if _, err := c.git(ctx, entries, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	_, err = c.git(ctx, "", "update-ref", "-m", "commit: "+message, "HEAD", hash, head)
	return err
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
