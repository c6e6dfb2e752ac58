package permission

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: whatever git command a rule for all of git still allows, the real git shows nothing of the file that a deny rule
// hides: not of today's, not of an older one, not of a staged or a stashed one.
func TestGitShowsNoHiddenFileWithRealGit(t *testing.T) {
	w := newReadingWorld(t)
	hash := w.git(t, `cd sub 2>/dev/null || mkdir sub; cd "$ROOT/work"; echo `+canary+`-old >secret.env; git add -f secret.env; git commit -qm third; echo `+canary+`-mid >secret.env; git commit -qam fourth; echo more >>src/a.go
echo `+canary+`-stash >secret.env; git stash -q; echo `+canary+`-new >secret.env; git add secret.env; echo `+canary+`-dirty >>secret.env; rm -f out up src/out other/y; git rev-parse HEAD:secret.env`)
	p := Policy{Root: w.work, Cwd: w.work, HomeDir: w.outside, Look: w.look, Env: map[string]string{"PATH": os.Getenv("PATH"), "LC_ALL": "C.UTF-8"}}
	for _, text := range []string{"Bash(git *)", "deny Read(./secret.env)"} {
		effect := Allow
		if rest, ok := strings.CutPrefix(text, "deny "); ok {
			effect, text = Deny, rest
		}
		p.Rules = append(p.Rules, Rule{Effect: effect, Text: text, Source: SourceFlag})
	}
	shows := func(command string) bool {
		cmd := exec.Command(w.bash, "--noprofile", "--norc", "-c", command)
		cmd.Dir, cmd.Env = w.work, append(w.env(), "PAGER=cat", "GIT_EDITOR=cat", "COLUMNS=200")
		out, _ := cmd.CombinedOutput() // most fail, which is no matter
		return strings.Contains(string(out), canary)
	}
	for _, control := range []string{"git show HEAD", "git log -p", "git stash show -p", "git diff", "git grep CANARY", "git archive HEAD", "git show " + hash, "git diff " + hash + " -- README", "cd src && git show HEAD:secret.env"} {
		if !shows(control) {
			t.Fatalf("%q does not show the file: the test proves nothing", control)
		}
		if d := Decide(p, bash(control)); d.Effect == Allow {
			t.Errorf("%q: allowed: %s", control, d.Reason)
		}
	}
	subs := []string{"show", "log", "diff", "stash show", "stash list", "blame", "grep", "cat-file", "diff-tree", "diff-index", "diff-files", "whatchanged", "reflog", "status", "range-diff", "ls-files", "ls-tree", "rev-list", "for-each-ref", "merge-tree", "shortlog", "describe", "branch", "tag -l", "rev-parse", "show-branch", "cherry", "name-rev", "fsck", "check-ignore", "count-objects"}
	words := []string{
		"HEAD", "HEAD~1", "HEAD^", "main", "side", "v1", "@", "stash@{0}", "HEAD~2..HEAD", "main...side", hash, hash[:7], "HEAD:README", "HEAD:secret.env", ":secret.env", "HEAD:src", "HEAD:", ":/third", "HEAD^{tree}", "HEAD^{/third}", "--", "--", "--", "README", "src", "src/a.go", "src/", ".", "./", ":/", ":!README", "':(top)src'", "':(glob)**/*.env'",
		"'*.env'", "'s*'", "secret.env", "sub", "other", "CANARY", "-e", "-n", "-l", "-c", "-C", "-M", "-p", "-u", "-s", "-t", "-r", "-m", "-g", "-U1", "-W", "-1", "-S", "-G", "-SCANARY", "-L1,2:secret.env", "-i", "-w", "-z", "-v", "-vv", "-a", "-q", "-R", "-B", "-E", "--stat", "--name-only", "--name-status", "--raw", "--patch", "--cached", "--cc", "--all",
		"--oneline", "--follow", "--reverse", "--word-diff", "--color-words", "--check", "--summary", "--binary", "--no-patch", "--numstat", "--until", "--since", "--author", "--grep", "--until=now", "--batch", "--batch-check", "--batch-all-objects", "--format=%H", "--format='%(raw)'", "--full-history", "--root", "--stdin", "--no-index", "--untracked", "blob", "tree", "commit", "</dev/null",
	}
	seed, want := uint64(1), 250
	if os.Getenv("PERDURE_SOAK") != "" {
		seed, want = rand.Uint64(), 20000
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	ran, tries := 0, 0
	for ; ran < want && tries < want*100; tries++ {
		command := "git " + subs[rnd.IntN(len(subs))]
		for range rnd.IntN(6) {
			command += " " + words[rnd.IntN(len(words))]
		}
		if Decide(p, bash(command)).Effect != Allow {
			continue
		}
		if ran++; shows(command) {
			t.Errorf("%q is allowed, but it shows the hidden file", command)
		}
	}
	t.Logf("%d commands judged, %d allowed and run", tries, ran)
	if ran < want {
		t.Errorf("only %d of %d generated commands were allowed and run", ran, want)
	}
}

// git runs a text in the repository and gives the last line that it prints.
func (w *readingWorld) git(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command(w.bash, "--noprofile", "--norc", "-ec", text)
	cmd.Dir, cmd.Env = w.work, append(w.env(), "ROOT="+filepath.Dir(w.work))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
