package permission

import (
	"path"
	"strings"
	"testing"
)

// gitWorld is a repository with a few files, one of which the rules hide, and a branch that nobody names in a file.
func gitWorld(rules ...string) Policy {
	p := testPolicy(ModeDefault, append([]string{"Bash(git *)"}, rules...)...)
	p.Env = map[string]string{"PATH": "/usr/bin:/bin"}
	files := " README go.mod src/a.go src/b.go secret.env .git/HEAD "
	dirs := " . src docs sub .git "
	p.Look = func(at string, glob bool) ([]Place, bool) {
		rel, in := relative(testCwd, at)
		rel = " " + rel + " "
		dir := in && strings.Contains(dirs, rel) || !in && strings.HasPrefix(testCwd, path.Clean(at))
		return []Place{{Path: at, Dir: dir, Missing: !dir && !(in && strings.Contains(files, rel)) && strings.HasPrefix(at, "/home")}}, true
	}
	return p
}

// Goal: what a rule hides from being read does not come out of the repository either. Such a command asks, unless it
// only lists, or names other files.
func TestGitShowsNoHiddenFile(t *testing.T) {
	shows := []string{
		"git show", "git show HEAD", "git show HEAD~2", "git show main", "git show 26c8a9f", "git show --stat 26c8a9f", "git show -s main", "git show --stat -p HEAD", "git show HEAD^{tree}:secret.env", "git show HEAD:secret.env", "git show :secret.env", "git show :0:secret.env",
		"git show HEAD:./secret.env", "git show HEAD:SECRET.env", "git show HEAD -- .", "git show HEAD -- ':!README'", "git show 26c8a9f -- README", "git show HEAD --", "git --no-pager show", "git show HEAD | head -50", "git status && git show HEAD",
		"git log -p", "git log -u -1", "git log --patch", "git log --pa", "git log -p --stat", "git log -U5", "git log --unified=5", "git log -S KEY", "git log -GKEY", "git log -L1,5:secret.env", "git log --cc", "git log -c", "git log -W", "git log --word-diff", "git log --color-words",
		"git log -p --until README", "git log -p -n README", "git log --oneline -p -- ':/'", "git log -p -- '*.env'", "git log -p -- ':(top)README'", "git log -p -- 's?cret*'", "git log -5p",
		"git diff", "git diff --cached", "git diff HEAD~1", "git diff main topic", "git diff main...topic", "git diff -- .", "git diff HEAD -- docs ./", "git diff secret.env", "git diff --stat -p", "git diff --check", "git diff 26c8a9f -- README", "git diff HEAD:secret.env README", "git diff -- ':^src'",
		"git show -B ':!README'", "git diff --since -s --oneline", "git stash show --", "git stash show -w", "git stash show -p", "git stash show -p stash@{1}", "git stash show -u -p", "git stash list -p", "git stash list -- -p", "git stash -u", "git blame secret.env", "git blame HEAD -- secret.env", "git annotate secret.env", "git blame s*.env",
		"git grep KEY", "git grep -n KEY HEAD", "git grep README -e KEY", "git grep -l KEY", "git grep KEY -- .", "git grep README", "git grep -e -- README",
		"git cat-file -p 26c8a9f", "git cat-file blob main", "git cat-file -p HEAD:secret.env", "git cat-file --batch", "git cat-file --batch-all-objects --batch", "git cat-file -p main",
		"git archive HEAD", "git archive --format=tar HEAD", "git archive -o README HEAD", "git archive HEAD:", "git archive HEAD .", "git format-patch -1", "git format-patch --stdout HEAD~3", "git range-diff main topic main2",
		"git diff-tree -p HEAD", "git diff-index -p HEAD", "git diff-files -p", "git whatchanged -p", "git reflog -p", "git reflog show -p", "git merge-tree a b c", "git status -v", "git status -svv", "git commit -v --dry-run", "git commit -av", "git add -p", "git checkout -p", "git reset -p", "git restore -p",
		"git stash -p", "git rebase --show-current-patch", "git for-each-ref --format='%(raw)'", "git tag -l --format='%(raw)'",
	}
	remain := []string{
		"git status", "git status -sb", "git status --porcelain=v2", "git branch", "git branch -vv", "git branch -a", "git tag", "git log", "git log --oneline -20", "git log --stat", "git log --name-only", "git log --name-status -3", "git log --graph --all --decorate", "git log --pretty=oneline", "git log --format=%H",
		"git log --parents", "git log --patience", "git log --author=p", "git log main..topic", "git log -- README", "git log -p -- README", "git log -p README", "git log -p -1 main -- README src/a.go", "git log --follow -p src/a.go", "git log -S KEY -- README", "git log -L1,5:README -- README",
		"git show --stat", "git show --stat HEAD", "git show --name-only HEAD~3", "git show -s HEAD", "git show --no-patch", "git show HEAD:README", "git show main:src/a.go", "git show 26c8a9f:src/gone.go", "git show HEAD -- README", "git show HEAD README", "git show --name-status @", "git show HEAD:./README", "git show stash@{0} -- README",
		"git diff --stat", "git diff --name-only", "git diff --name-status main topic", "git diff --shortstat", "git diff --numstat HEAD~1", "git diff --quiet", "git diff -- README", "git diff README", "git diff --cached README src/a.go", "git diff HEAD -- src/a.go src/b.go", "git diff main topic -- README", "git diff main...topic -- README",
		"git diff HEAD:README main:README", "git stash list", "git stash show", "git stash show --stat", "git stash push", "git stash pop", "git blame README", "git blame -L 1,20 src/a.go", "git grep KEY -- README", "git grep -n KEY README", "git grep -e KEY README", "git grep KEY src/a.go src/b.go",
		"git cat-file -t 26c8a9f", "git cat-file -s main", "git cat-file -e HEAD", "git cat-file -p HEAD", "git cat-file -p HEAD:README", "git cat-file commit main", "git cat-file --batch-check", "git range-diff -s a b c",
		"git diff-tree -r HEAD", "git diff-tree --name-only -r HEAD", "git diff-index HEAD", "git whatchanged", "git reflog", "git rev-parse HEAD", "git ls-files", "git ls-tree -r HEAD", "git rev-list HEAD", "git shortlog -sn", "git describe", "git commit -m 'a -p b'", "git commit -am vv", "git add README",
		"git push origin main", "git fetch", "git checkout main", "git merge topic", "git rm README", "git mv README docs/x",
	}
	hidden := []string{"deny Read(./secret.env)", "deny Read(**/.env)", "ask Read(secret.env)"}
	for i, rules := range [][]string{hidden, hidden[:1], hidden[2:]} {
		p := gitWorld(rules...)
		for _, command := range shows {
			if d := Decide(p, bash(command)); d.Effect == Allow {
				t.Errorf("rules %d: %q: allowed: %s", i, command, d.Reason)
			}
		}
		for _, command := range remain {
			if d := Decide(p, bash(command)); d.Effect != Allow {
				t.Errorf("rules %d: %q: %s: %s", i, command, d.Effect, d.Reason)
			}
		}
	}
	// Negative control: without a rule that hides, or with one for files elsewhere, nothing of it asks.
	for _, rule := range []string{"Read", "deny Read(/srv/**)", "deny Read(~/.secrets/**)"} {
		p := gitWorld(rule, "Bash")
		for _, command := range append(shows, remain...) {
			if d := Decide(p, bash(command)); d.Effect != Allow {
				t.Errorf("rule %s: %q: %s: %s", rule, command, d.Effect, d.Reason)
			}
		}
	}
}

// The repository may begin above the working directory, or be another one that the command names.
func TestGitShowsNoHiddenFileFromElsewhere(t *testing.T) {
	rules := []string{"Bash", "deny Read(./secret.env)"}
	p := gitWorld(rules...)
	for _, command := range []string{
		"cd sub && git show HEAD", "git -C sub show HEAD", "git -C sub log -p", "git -C sub diff", "git -C sub show HEAD:secret.env", "cd sub && git show HEAD:secret.env", "git -C . grep KEY", "git -C sub grep KEY -- ../", "GIT_DIR=/x git show HEAD", "git --git-dir=/x show HEAD",
		"git --git-dir /x --work-tree /y diff", "git -c alias.x=show x HEAD", "git -c color.ui=never show HEAD", "sudo git show HEAD", "timeout 5 git show HEAD", "sh -c 'git show HEAD'", "echo $(git show HEAD)", "git checkout-index -a --prefix=/tmp/x/", "git worktree add ../x", "git clone . /tmp/x", "git fast-export --all",
		"git bundle create /tmp/x --all", "git difftool -y", "git unpack-file 26c8a9f", "git $(echo show)", "git diff --no-index . /tmp", "git add -A && git status -v",
	} {
		if d := Decide(p, bash(command)); d.Effect == Allow {
			t.Errorf("%q: allowed: %s", command, d.Reason)
		}
	}
	for _, command := range []string{"git -C sub status", "git -C sub show HEAD:README", "git clone https://example.org/x.git", "git -c color.ui=never log", "git --git-dir=/x log --oneline", "git -C sub log -p -- ../README"} {
		if d := Decide(p, bash(command)); d.Effect != Allow {
			t.Errorf("%q: %s: %s", command, d.Effect, d.Reason)
		}
	}
}

// Without a rule for git the same holds for what runs because it only reads: naming other files is enough for it too.
func TestGitReadsBesideHiddenFiles(t *testing.T) {
	p := gitWorld("deny Read(./secret.env)")
	p.Rules = p.Rules[1:]
	runBash(t, p, []bashCase{
		{"git diff", Ask},
		{"git diff -- README", Allow},
		{"git diff README", Allow},
		{"git diff HEAD -- docs", Allow},
		{"git log -p -- src/a.go", Allow},
		{"git log -p", Ask},
		{"git show HEAD", Ask},
		{"git show HEAD -- README", Allow},
		{"git show HEAD:README", Allow},
		{"git show HEAD:secret.env", Ask},
		{"git log -p -- .", Ask},
		{"git stash list -p", Ask},
		{"git log --stat", Allow},
		{"git status", Allow},
	})
	p.Mode = ModePlan
	runBash(t, p, []bashCase{{"git diff -- README", Allow}, {"git diff", Deny}, {"git diff -- .", Deny}})
}
