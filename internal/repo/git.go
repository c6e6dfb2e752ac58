package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of what git is asked.
const (
	patience   = 10 * time.Second
	maxAnswer  = 4 << 20 // bytes
	maxSubject = 300     // bytes of a commit's subject
	maxCommits = 500     // commits that are given
	maxCounted = 10_000  // commits that are counted beyond them
	maxAsked   = 512     // hashes
)

// quiet is the configuration under which git runs nothing else. What follows each -c is the strongest configuration.
var quiet = []string{
	"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c", "core.attributesFile=/dev/null",
	"-c", "safe.bareRepository=explicit", "-c", "protocol.allow=never", "-c", "log.showSignature=false", "-c", "core.useReplaceRefs=false",
	"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
}

// environment is all that git has of one. Fetches on demand are off: a partial clone would run what its remote names.
func environment(root string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(root), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	}
}

// errOwner is what git says of a repository of another user, in its own words.
const errOwner = "detected dubious ownership"

// git runs git in the repository. One of another user is asked if its own user has told git that it is safe.
func (r Repo) git(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	if !filepath.IsAbs(r.Root) {
		return nil, ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := r.gitWith(ctx, nil, stdin, args...)
	if err == nil || !strings.Contains(err.Error(), errOwner) {
		return out, err
	}
	if !r.saidSafe(ctx) {
		return nil, fmt.Errorf("repo: %s belongs to another user, and git does not trust it; to have it trusted: git config --global --add safe.directory %s", r.Root, r.Root)
	}
	return r.gitWith(ctx, []string{"-c", "safe.directory=*"}, stdin, args...)
}

// saidSafe reports whether the user's own configuration of git, or the machine's, says that the repository is safe. A
// repository's own cannot.
func (r Repo) saidSafe(ctx context.Context) (safe bool) {
	for _, whose := range []string{"--system", "--global"} {
		cmd := exec.CommandContext(ctx, "git", "config", whose, "--type=path", "--null", "--get-all", "safe.directory")
		cmd.Dir, cmd.WaitDelay = "/", time.Second
		out := &capped{}
		cmd.Stdout = out
		if cmd.Run() != nil { // there are none
			continue
		}
		for value := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
			above, all := strings.CutSuffix(value, "/*")
			switch {
			case value == "":
				safe = false // what came before does not hold
			case value == "*", value == r.Root, all && strings.HasPrefix(r.Root, above+"/"):
				safe = true
			}
		}
	}
	return safe
}

func (r Repo) gitWith(ctx context.Context, more []string, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", slices.Concat([]string{"-C", r.Root}, quiet, more, args)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = environment(r.Root), r.Root, time.Second
	cmd.Stdin = strings.NewReader(stdin)
	out := &capped{}
	var said capped
	cmd.Stdout, cmd.Stderr = out, &said
	err := cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("repo: git said more than %d bytes", maxAnswer)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("repo: git %s: %w", args[0], ctx.Err())
	case err != nil:
		line, _, _ := strings.Cut(said.String(), "\n")
		return nil, fmt.Errorf("repo: git %s: %w: %.200s", args[0], err, line)
	}
	return out.Bytes(), nil
}

// capped takes as much as there may be; what comes then ends the command.
type capped struct {
	bytes.Buffer
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxAnswer {
		c.over = true
		return 0, errors.New("too much")
	}
	return c.Buffer.Write(p)
}

// ask asks git for what cannot be read from files.
func (r Repo) ask(ctx context.Context) (Repo, error) {
	name, err := r.git(ctx, "", "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return r, err
	}
	r.Branch, _ = strings.CutPrefix(strings.TrimSpace(string(name)), "refs/heads/")
	hash, err := r.git(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if h := strings.TrimSpace(string(hash)); err == nil && whole.MatchString(h) {
		r.Commit = h
	}
	return r, nil
}

// Since lists the commits that HEAD leads to, committed at or after a time, the newest first, at most most (500 at most);
// more tells how many there are beyond that, counted up to 10,000.
func (r Repo) Since(ctx context.Context, since time.Time, most int) (list []Commit, more int, err error) {
	if r.Commit == "" {
		return nil, 0, nil
	}
	most = min(max(most, 0), maxCommits)
	out, err := r.git(ctx, "", "rev-list", "--max-count="+strconv.Itoa(most+maxCounted), "--since="+since.UTC().Format(time.RFC3339), "--timestamp", r.Commit)
	if err != nil {
		return nil, 0, err
	}
	var hashes strings.Builder
	for line := range strings.Lines(string(out)) {
		stamp, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		sec, err := strconv.ParseInt(stamp, 10, 64)
		if err != nil || !whole.MatchString(hash) {
			continue
		}
		if len(list) >= most {
			more++
			continue
		}
		list = append(list, Commit{Hash: hash, Time: time.Unix(sec, 0)})
		hashes.WriteString(hash + "\n")
	}
	if len(list) == 0 {
		return nil, more, nil
	}
	out, err = r.git(ctx, hashes.String(), "rev-list", "--stdin", "--no-walk=unsorted", "--format=%H %s")
	if err != nil {
		return nil, 0, err
	}
	subjects := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if hash, subject, ok := strings.Cut(strings.TrimRight(line, "\n"), " "); ok && whole.MatchString(hash) {
			subjects[hash] = strings.ToValidUTF8(subject[:min(len(subject), maxSubject)], "")
		}
	}
	for i := range list {
		list[i].Subject = subjects[list[i].Hash]
	}
	return list, more, nil
}

// maxLoose bounds the commits that are counted as loose.
const maxLoose = 1000

// Loose counts the commits that HEAD leads to and no branch, remote branch or tag, nor the other commit, at most 1,000.
func (r Repo) Loose(ctx context.Context, other string) (int, error) {
	args := []string{"rev-list", "--count", "--max-count=" + strconv.Itoa(maxLoose), r.Commit, "--not", "--branches", "--remotes", "--tags"}
	if other != "" {
		args = append(args, other)
	}
	out, err := r.git(ctx, "", args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// Have tells of each hash, whole or its first 4 digits or more, whether the repository has that commit, at most 512 of
// them. After an error nothing is known of any.
func (r Repo) Have(ctx context.Context, hashes []string) (map[string]bool, error) {
	have := map[string]bool{}
	var asked []string
	for _, h := range hashes[:min(len(hashes), maxAsked)] {
		have[h] = false
		if digits(h) {
			asked = append(asked, h)
		}
	}
	if len(asked) == 0 {
		return have, nil
	}
	out, err := r.git(ctx, strings.Join(asked, "^{commit}\n")+"^{commit}\n", "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(asked) {
		return nil, errors.New("repo: git did not answer for each commit")
	}
	for i, line := range lines {
		have[asked[i]] = line == "commit" || strings.HasSuffix(line, " ambiguous")
	}
	return have, nil
}

// digits reports a hash or its beginning.
func digits(h string) bool {
	return len(h) >= 4 && len(h) <= 64 && strings.Trim(h, "0123456789abcdef") == ""
}
