package permission

import (
	"path"
	"strings"
	"testing"
)

// lookAt is a small world: the directories and the links that it names, and
// files wherever else a path points. A pattern finds the names of the working
// directory that match it.
func lookAt(glob bool, at string) ([]Place, bool) {
	links := map[string]string{testCwd + "/out": "/etc/passwd", testCwd + "/up": "/home/u", testCwd + "/keys": testCwd + "/.git/config", testCwd + "/in": testCwd + "/README", testCwd + "/envlink": testCwd + "/.env"}
	dirs := " " + testCwd + " " + testCwd + "/src " + testCwd + "/sub " + testCwd + "/secrets /data /home/u /etc / "
	resolve := func(p string) Place {
		for from, to := range links {
			if rest, in := relative(from, p); in {
				p = path.Join(to, rest)
			}
		}
		return Place{Path: p, Dir: strings.Contains(dirs, " "+p+" ")}
	}
	if !glob {
		return []Place{resolve(at)}, true
	}
	var found []Place
	rel, _ := relative(testCwd, at)
	first, rest, _ := strings.Cut(rel, "/")
	for _, name := range []string{"README", "a.go", "b.go", "out", "up", "in", "src", ".env"} {
		if ok, _ := path.Match(first, name); ok {
			found = append(found, resolve(path.Join(testCwd, name, rest)))
		}
	}
	if found == nil {
		found = []Place{resolve(at)}
		found[0].Missing = true
	}
	return found, true
}

func lookingPolicy(mode Mode, rules ...string) Policy {
	p := testPolicy(mode, rules...)
	p.Dirs, p.Env = []string{"/data"}, map[string]string{"PATH": "/usr/bin:/bin"}
	p.Look = func(at string, glob bool) ([]Place, bool) { return lookAt(glob, at) }
	return p
}

var reading = []string{
	"ls", "ls -la", "ls src", "ls -la --color=never src/", "ls *.go", "ls /data", "pwd", "cat README", "cat -n README src/a.go", "cat in", "head -n 20 README", "head -20 README", "tail -f log", "tail -n +5 README",
	"wc -l README src/a.go", "grep -rn TODO .", "grep -rn 'a/../b' src", "grep '/api/users' README", "grep -e /etc/x -e y README", "grep -rn --include='*.go' TODO", "grep -rn --include=*.go TODO src", "grep -C3 x README /dev/null",
	"rg TODO", "rg -n 'func .*' src -g '*.go'", "rg --files", "rg -e a -e b src", "find . -name '*.go' -type f", "find src -not -path './x/*' -print", "find . -maxdepth 2 -name 'a b'", "find", "find . -newer README",
	"echo hi", "echo --- x", "echo -n a", "echo /etc/passwd", "printf '%s\\n' a b", "printf done", "true", "false", ":", "test -f README", "[ -d src ]", "test a = /b", "test 1 -lt 2", "stat README", "stat -c '%n %s' README",
	"file README", "du -sh src", "df -h", "date", "date -u +%F", "date -d yesterday +%F", "date -Is", "date -rREADME", "date -r a", "date -ra", "which go", "basename /a/b/c.go .go", "dirname /a/b", "sort README", "sort -k2,2n -t / README", "sort -rn", "uniq -c", "uniq README",
	"cut -d/ -f2 README", "cut -d / -f 1 README", "tr a-z A-Z", "tr -d '\\n'", "diff README src/a.go", "diff -u README src/a.go", "cmp README src/a.go", "tree -L 2", "tree -L2", "tree -aL 2", "tree -aP '*.go'", "tree -a -I node_modules src",
	"git status", "git status -s", "git status --porcelain=v2 --branch", "git log --oneline -n 20", "git log -5 --stat", "git log --graph --all --decorate", "git log -S'foo bar' -- src", "git log --grep /api --author=x", "git log main..topic",
	"git log -L 1,20:README", "git diff", "git diff --cached", "git diff HEAD~3 -- README src", "git diff main...topic --stat", "git show HEAD", "git show HEAD:README", "git show --stat HEAD", "git branch", "git branch -a", "git branch -vv",
	"git branch --list 'fix/*'", "git branch --show-current", "git branch --contains HEAD", "git rev-parse HEAD", "git rev-parse --show-toplevel", "git rev-parse --abbrev-ref HEAD", "git rev-parse --git-dir", "git ls-files", "git ls-files -o --exclude-standard",
	"git blame README", "git blame -L 1,20 README", "git describe --tags --always", "git remote", "git remote -v", "git remote get-url origin", "git shortlog -sn", "git stash list", "git tag", "git tag --list 'v*'", "git tag -l v1", "git tag -n3", "git --no-pager log -3",
	"git version", "git --version",
	"ls | head", "git status | head -n 5", "cat README | sort | uniq -c | sort -rn", "ls; pwd\ngit log", "git diff && git status || true", "ls 2>&1 | head", "ls missing 2>/dev/null", "cat README >/dev/null 2>&1", "git log </dev/null",
	"cd /home/u/proj && ls", "timeout 10 git status", "timeout -k 5 30 grep -r x src | head -5", "ls -- -x", "cat -- *.go", "wc -l -- *.go", "cat src/*.go", "# what is here\nls", "ls './sub dir'", `grep "a b" README`, "grep foo\\|bar README",
}

// Commands that only read, inside, run in every mode; they are no rule's.
func TestReadOnlyRuns(t *testing.T) {
	for _, mode := range []Mode{ModePlan, ModeDefault, ModeAcceptEdits, ModeBypass} {
		for _, command := range reading {
			d := Decide(lookingPolicy(mode), bash(command))
			if d.Effect != Allow || d.Rule != "" {
				t.Errorf("%s: %q: %s: %s", mode, command, d.Effect, d.Reason)
			}
		}
	}
}

// What must not pass: by subject. In plan it is denied, else it asks.
var notReading = map[string][]string{
	"leads outside": {
		"cat /etc/passwd", "ls /", "ls ..", "cat ../x", "cat src/../../x", "cat up/../x", "cat out", "ls up", "cat up/.ssh/x", "head -5 /etc/passwd", "wc /etc/passwd", "grep x /etc/passwd", "grep -r x /", "grep -r x ..", "grep -e x /etc/passwd", "grep --regexp=x /etc/passwd",
		"rg x /etc", "rg --files /", "rg -e x /etc", "find / -name x", "find .. -name x", "find . -newer /etc/passwd", "find . -samefile ../x", "stat /etc/passwd", "file /etc/passwd", "du -sh /home", "du ..", "df /etc", "sort /etc/passwd", "sort -- ../x", "uniq /etc/passwd",
		"cut -c1- /etc/passwd", "diff README /etc/passwd", "cmp README ../x", "tree /", "tree ..", "cat README /etc/passwd", "cat -- /etc/passwd", "date -r /etc/passwd", "date -r/etc/passwd", "date -ur/etc/passwd", "date -r../x", "test -f /etc/passwd", "[ -e ../x ]", "test README -nt /etc/passwd", "which /etc/passwd", "pwd; cat /etc/passwd", "ls | cat - /etc/passwd",
		"git diff /etc/passwd /etc/shadow", "git diff README ../x", "git blame ../x", "git log -- /etc", "git ls-files ..", "git status /etc", "cd /etc && ls", "cd sub && ls", "cd .. ; ls", "cd; ls", "ls ~", "cat ~/x", "ls ~root", "cat $HOME/x", "cat \"$HOME\"/x", "cat $x", "cat ${x}", "cat {a,b}", "cat /proc/self/environ",
		"cat /proc/self/cwd/README", "cat /dev/fd/0", "head -c 1 /dev/sda", "cat /dev/tcp/h/1", "ls /proc", "ls /sys", "/bin/ls", "./ls", "bin/ls", "cat *", "cat o*", "cat -- *", "cat u*/x", "echo /etc/*", "echo ../*", "echo /*", "cat .*/x", "ls .?", "cat .[.]/x", "echo */../../*", "tr a /etc/*", "basename /etc/*", "timeout 5 cat /etc/passwd",
	},
	"writes or runs by an option or a word": {
		"sort -o f README", "sort -of README", "sort -no f README", "sort README -o f", "sort --output=f", "sort --outp=f x", "sort --output f x", "sort --compress-program=sh x", "sort --compress-prog sh x", "sort -T /tmp x", "sort --files0-from=README", "sort --random-source=README -R x", "sort -S 1b x", "sort -k", "sort -*",
		"uniq README out2", "uniq -c README out2", "uniq -- README x", "uniq *.go", "uniq -1 README x", "uniq +1 README x", "uniq src/*", "tree -o f", "tree -of", "tree -ao f", "tree -Po x f", "tree -Lo 1 f", "tree -Io x f", "tree -aPo x README", "tree -Pl x", "tree -Ll 2", "tree -L2o f", "tree -PR x f", "tree --filelimit=3 -Io x f", "tree -R -L 1 -H .", "tree -l", "tree -H /etc", "tree --fromfile README", "tree --output=f", "tree --infofile=README", "file -C -m x", "file -m x README", "file -f README", "file -z README", "file -Cm x",
		"file --compile", "file --files-from README", "date -s tomorrow", "date --set=now", "date --se now", "date 010100002030", "date -u 0101", "date -f README", "date --file=README", "date -us now", "date +%F 0101", "date *", "date +*", "wc --files0-from=README", "wc --files0 README", "wc -l *.go", "du --files0-from=README", "du -L src", "du -X README", "du --exclude-from=README",
		"grep -f README x", "grep --file=README x", "grep -R x .", "grep -nR x .", "grep --dereference-recursive x", "grep -d recurse x", "grep -D read x", "grep --devices=read x src", "grep x *", "grep *.go", "grep --exclude-from=README x", "grep -e *", "grep --incl='*.go' x", "rg --pre sh x", "rg --pre=sh x", "rg -z x", "rg --search-zip x", "rg -f README", "rg --file=README x", "rg -L x", "rg --follow x",
		"rg --hostname-bin sh x", "rg --hostname-bin=sh x", "rg --hyperlink-format=x y", "rg --ignore-file README x", "rg --type-add 'a:b' x", "rg -nz x", "rg --generate man", "diff -r src sub", "diff src sub", "diff --recursive src sub", "diff -l README in", "diff --paginate README in", "diff --to-file=in README", "diff --from-file=/etc/passwd README", "diff -X README a b", "diff src /data", "diff -D x a b",
		"ls -LR", "ls -lL src", "ls -R --dereference", "ls --foo", "ls --co", "cat --foo", "head --foo", "stat --cached=never x", "stat -Z", "test -v x", "test -v 'a[$(x)]'", "[ -R x ]", "test -? x", "test *", "[ -v x ]", "[ -f README", "printf -v x y", "printf -vx y", "printf '%n' PATH", "printf 'a%-5n' PATH; ls", "printf %s%n a PATH", "printf *", "printf -- '%n' PATH",
	},
	"find does more": {
		"find . -exec rm {} +", "find . -exec rm {} ;", "find . -execdir sh -c x \\;", "find . -ok rm {} \\;", "find . -okdir rm {} \\;", "find . -delete", "find . -name x -delete", "find . -fprint f", "find . -fprint0 f", "find . -fprintf f x", "find . -fls f", "find . -files0-from README", "find -L .", "find -H . -delete", "find . -follow", "find -D exec .", "find -O3 .",
		"find . -name *", "find *", "find -* x", "find . -type f -exec cat {} +", "find . -name", "find . -context x", "find . -x", "find . x -name y /etc", "find . -name x /etc", "find '-delete '", "find . '-name x -delete'", "find . -newermt /etc", "find . -samefile", "find . ?delete",
	},
	"git does more": {
		"git -c core.pager=x log", "git -ccore.fsmonitor=x status", "git -C sub status", "git --git-dir=sub log", "git --git-dir sub log", "git --work-tree=/ status", "git --exec-path=. log", "git -p log", "git --paginate log", "git --config-env=a=b log", "git --namespace=x log", "git --bare log", "git --literal-pathspecs -c a=b log",
		"git diff --output=f", "git diff --output f", "git diff --outp=f", "git diff --o=f", "git log --output=f", "git show --output=f", "git diff --ext-diff", "git log --ext-diff", "git log --ext", "git log --textconv", "git show --textconv", "git diff --textc", "git diff --no-index a b", "git diff --no-ind a b", "git diff -Of", "git log -O f", "git show -Of",
		"git log --show-signature", "git log --format=%G?", "git log --pretty=format:%GS", "git show --show-signature", "git tag -v v1", "git tag --verify v1", "git tag --format='%(signature)'", "git log --remerge-diff", "git log --stdin", "git log --submodule=diff", "git diff --submodule=diff", "git diff --ws-error-highlight=all", "git blame --contents=/etc/passwd README", "git blame --contents /etc/passwd README",
		"git blame --ignore-revs-file=x README", "git blame -S x README", "git branch new", "git branch -v new", "git branch -l new", "git branch -d x", "git branch -D x", "git branch -m a b", "git branch -f a", "git branch --edit-description", "git branch -u x", "git branch --set-upstream-to=x", "git branch -c a b", "git branch --track a b", "git branch --sort --list new", "git branch -- new", "git branch --unset-upstream",
		"git tag v1", "git tag -a v1", "git tag -d v1", "git tag -f v1", "git tag -s v1", "git tag -m x v1", "git tag -F README v1", "git tag --sort -l v1", "git tag -n3 v1", "git tag -- v1", "git stash", "git stash pop", "git stash push", "git stash drop", "git stash show", "git stash list --output=f", "git stash clear", "git stash apply", "git stash li",
		"git remote add x y", "git remote show origin", "git remote update", "git remote -v update", "git remote set-url x y", "git remote prune origin", "git remote get-url --add x", "git remote get-url", "git rev-parse --parseopt", "git rev-parse --resolve-git-dir /etc", "git rev-parse --sq-quote x", "git ls-files -X README", "git ls-files --exclude-from=README", "git ls-files --with-tree=x", "git shortlog --output=f", "git describe --di",
		"git status --help", "git log --help", "git -h", "git --help", "git help log", "git add .", "git commit -m x", "git push", "git pull", "git fetch", "git checkout x", "git restore x", "git reset", "git clean -n", "git config --list", "git config -l", "git grep x", "git grep -O x", "git cat-file -p HEAD", "git cat-file --textconv x", "git ls-remote", "git ls-tree HEAD", "git archive HEAD", "git bundle create x", "git gc", "git reflog expire", "git worktree list",
		"git submodule status", "git difftool", "git bisect log", "git notes", "git st", "git lg", "git foo", "git $x", "git log *", "git diff *.go", "git log -- out", "git diff out in", "git sta*", "git log -n",
	},
	"the shell does more": {
		"ls > f", "ls >> f", "ls >| f", "cat README > f", "echo x > README", "echo x >> README", "ls 2> f", "ls &> f", "> f", "ls >& f", "ls <> f", "echo $(rm x)", "echo `rm x`", "echo \"$(rm x)\"", "cat <(rm x)", "cat <<E\nx\nE", "cat <<< x", "ls & rm x", "ls &", "ls; rm x", "ls && rm x", "ls || rm x", "ls | sh", "ls | xargs rm", "ls | tee f", "cat README | bash",
		"echo 'rm x' | sh", "find . | xargs cat", "X=1 ls", "PATH=. ls", "PAGER=x git log", "LD_PRELOAD=./x ls", "GIT_EXTERNAL_DIFF=x git diff", "! ls", "time ls", "(ls)", "{ ls; }", "if ls; then rm x; fi", "for f in a; do cat $f; done", "while true; do ls; done", "ls() { rm x; }; ls", "function ls { rm x; }", "alias ls=rm", "[[ -f x ]]", "(( 1 ))", "coproc ls", "eval ls", "exec ls",
		"command ls", "builtin echo x", "env ls", "sudo ls", "nohup ls", "nohup sh -c x", "xargs cat", "sh -c ls", "bash -c 'cat README'", "source README", ". README", "trap ls EXIT", "set -x", "shopt -s dotglob; ls", "export A=b", "read x", "cd", "pushd src", "timeout 5 rm x", "timeout --foo 5 ls", "timeout 5", "nice -n 5 rm x", "timeout 5 bash -c ls", "ls $'a'", "l{s,} x", "ls '", "ls `", "ls\\\n# x\nrm x",
		"less README", "more README", "sed -n 1p README", "awk 1 README", "tee f", "xxd README", "od README", "vi README", "man ls", "rm x", "mv a b", "cp a b", "touch x", "mkdir x", "chmod +x x", "ln -s a b", "tar tf x", "make", "python -c 1", "node -e 1", "curl x", "env", "printenv", "set", "type ls", "history", "jobs", "ps", "kill 1", "hostname x", "sleep 1", "yes", "mktemp", "realpath x", "md5sum x", "go version", "npm ls",
	},
	"protected": {
		"cat .git/config", "cat .git/hooks/x", "ls .git", "cat keys", "cat .bashrc", "ls .perdure", "cat .mcp.json", "grep -r x .git", "find .git -name x", "cat /home/u/.local/share/perdure/x", "cat src/.env*/../../.git/config", "git diff -- .git/config", "ls .ss[h]", "wc .gi?/config",
	},
}

func TestReadOnlyNegatives(t *testing.T) {
	total := 0
	for subject, commands := range notReading {
		for _, command := range commands {
			total++
			if d := Decide(lookingPolicy(ModeDefault), bash(command)); d.Effect != Ask {
				t.Errorf("%s: %q: %s (%s)", subject, command, d.Effect, d.Reason)
			}
			if d := Decide(lookingPolicy(ModePlan), bash(command)); d.Effect == Allow {
				t.Errorf("%s, plan: %q: %s (%s)", subject, command, d.Effect, d.Reason)
			}
		}
	}
	if total < 2*len(reading) {
		t.Errorf("%d negative cases for %d positive ones", total, len(reading))
	}
}

// Deny and ask rules hold, for what they name and for what commands would show
// without naming it.
func TestReadOnlyUnderRules(t *testing.T) {
	for _, c := range []struct {
		rule    string
		command string
		want    Effect
	}{
		{"deny Bash(ls:*)", "ls", Deny},
		{"deny Bash(ls:*)", "pwd; ls", Deny},
		{"deny Bash(git log:*)", "git status", Allow},
		{"ask Bash(git log:*)", "git log", Ask},
		{"deny Read(.env)", "cat .env", Ask},
		{"deny Read(.env)", "cat envlink", Ask},
		{"deny Read(.env)", "ls -la", Allow},
		{"deny Read(.env)", "cat README", Allow},
		{"deny Read(.env)", "cat .en*", Ask},
		{"deny Read(.env)", "grep -rn KEY .", Ask},
		{"deny Read(.env)", "grep -n KEY README", Allow},
		{"deny Read(.env)", "rg KEY", Ask},
		{"deny Read(.env)", "rg --files", Allow},
		{"deny Read(.env)", "git diff", Ask},
		{"deny Read(.env)", "git diff --stat", Allow},
		{"deny Read(.env)", "git diff --stat -p", Ask},
		{"deny Read(.env)", "git log -p", Ask},
		{"deny Read(.env)", "git log --oneline", Allow},
		{"deny Read(.env)", "git log -S KEY", Ask},
		{"deny Read(.env)", "git show HEAD", Ask},
		{"deny Read(.env)", "git show HEAD:.env", Ask},
		{"deny Read(.env)", "git show --name-only HEAD", Allow},
		{"deny Read(.env)", "git show --stat HEAD~3", Allow},
		{"deny Read(.env)", "git show --stat 26c8a9f", Ask}, // it may be a file's content
		{"deny Read(.env)", "git show -s 26c8a9f", Ask},
		{"deny Read(.env)", "git show --stat 0123456", Ask},
		{"deny Read(.env)", "git show --name-only topic:./.e*", Ask},
		{"deny Read(.env)", "git status -v", Ask},
		{"deny Read(.env)", "git status -svv", Ask},
		{"deny Read(.env)", "git status --verbose", Ask},
		{"deny Read(.env)", "git status -sb", Allow},
		{"deny Read(.env)", "git tag --list --format='%(raw)'", Ask},
		{"deny Read(.env)", "git stash list -p", Ask},
		{"deny Read(.env)", "git status", Allow},
		{"ask Read(secrets/**)", "cat secrets/key", Ask},
		{"ask Read(secrets/**)", "grep -r x secrets", Ask},
		{"deny Grep(.env)", "grep -r x .", Ask},
		{"deny Read", "cat README", Ask},
		{"ask Grep", "grep x README", Ask},
		{"deny Edit(src/**)", "cat src/a.go", Ask}, // a word that a file rule covers asks, whatever the command
	} {
		if d := Decide(lookingPolicy(ModeDefault, c.rule), bash(c.command)); d.Effect != c.want {
			t.Errorf("%s: %q: %s (%s), want %s", c.rule, c.command, d.Effect, d.Reason, c.want)
		}
	}
}

// Without knowing where paths lead, behind a working directory that is outside,
// and with a variable that steers programs, everything asks.
func TestReadOnlyNeedsAPlainWorld(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"no look":      func(p *Policy) { p.Look = nil },
		"look fails":   func(p *Policy) { p.Look = func(string, bool) ([]Place, bool) { return nil, false } },
		"cwd outside":  func(p *Policy) { p.Cwd = "/etc" },
		"cwd relative": func(p *Policy) { p.Cwd = "x" },
		"cwd a link":   func(p *Policy) { p.Cwd = testCwd + "/up" },
		"path":         func(p *Policy) { p.Changed = []string{"PATH"} },
		"path here":    func(p *Policy) { p.Env = map[string]string{"PATH": "/bin:bin"} },
		"path empty":   func(p *Policy) { p.Env = map[string]string{"PATH": "/bin::/usr/bin"} },
		"git variable": func(p *Policy) { p.Changed = []string{"A", "GIT_EXTERNAL_DIFF"} },
		"pager":        func(p *Policy) { p.Changed = []string{"MANPAGER"} },
		"loader":       func(p *Policy) { p.Changed = []string{"LD_PRELOAD"} },
		"bad rule":     func(p *Policy) { p.Rules = append(p.Rules, Rule{Effect: Deny, Text: "Read("}) },
	} {
		for _, command := range []string{"ls", "cat README", "git status", "git diff", "grep -r x ."} {
			p := lookingPolicy(ModeDefault)
			change(&p)
			if d := Decide(p, bash(command)); d.Effect != Ask {
				t.Errorf("%s: %q: %s (%s)", name, command, d.Effect, d.Reason)
			}
		}
	}
	p := lookingPolicy(ModeDefault)
	p.Changed = []string{"MY_VARIABLE"}
	runBash(t, p, []bashCase{{"ls", Allow}})
}

// Beside a command that a rule covers, one that only reads needs no rule; but no
// rule for a program that reads what to do covers what is piped into it.
func TestReadOnlyBesideRules(t *testing.T) {
	runBash(t, lookingPolicy(ModeDefault, "Bash(make test)", "Bash(bash -s)", "Bash(npm test)"), []bashCase{
		{"make test | tail -20", Allow},
		{"make test 2>&1 | grep -v ok | head", Allow},
		{"npm test && git status", Allow},
		{"git status; make test", Allow},
		{"echo 'touch x' | bash -s", Ask},
		{"cat README | bash -s", Ask},
		{"make test | tee f", Ask},
		{"make test > f", Ask},
		{"make test | tail /etc/passwd", Ask},
	})
	// What such a command changes is not seen by looking before it runs: the
	// directory, the shell, and what the words after it name.
	runBash(t, lookingPolicy(ModeDefault, "Bash(cd:*)", "Bash(cd /etc)", "Bash(pushd /etc)", "Bash(source env.sh)", "Bash(git checkout:*)"), []bashCase{
		{"cd /etc && cat passwd", Ask},
		{"cd .. ; ls", Ask},
		{"cd ../x && git log -p", Ask},
		{"pushd /etc && cat passwd", Ask},
		{"source env.sh; ls", Ask},
		{"git checkout topic && cat link", Ask},
		{"git checkout topic && cat li*", Ask},
		{"git checkout topic && find link/ -type f", Ask},
		{"git checkout topic && grep -r x link/", Ask},
		{"git checkout topic && git status && grep -rn TODO .", Allow},
		{"git checkout topic 2>&1 | tail -3", Allow},
		{"cat README && git checkout topic", Allow},
		{"cat README && cd /etc", Allow},
	})
	// In plan mode no rule lets a command run.
	if d := Decide(lookingPolicy(ModePlan, "Bash(make test)"), bash("make test | tail")); d.Effect != Deny {
		t.Errorf("plan: %+v", d)
	}
}

// A repository that begins above the session's directories has files outside of
// them; what shows its content asks there, what only names it does not.
func TestReadOnlyInPartOfARepository(t *testing.T) {
	p := lookingPolicy(ModeDefault)
	look := p.Look
	p.Look = func(at string, glob bool) ([]Place, bool) {
		places, ok := look(at, glob)
		for i := range places {
			places[i].Missing = path.Base(places[i].Path) == ".git"
		}
		return places, ok
	}
	runBash(t, p, []bashCase{
		{"git show HEAD:secret", Ask},
		{"git show", Ask},
		{"git diff", Ask},
		{"git diff -- :/", Ask},
		{"git log -p", Ask},
		{"git log -L 1,9:README", Ask},
		{"git stash list -p", Ask},
		{"git show --stat", Allow},
		{"git log --oneline", Allow},
		{"git status", Allow},
		{"git blame README", Allow},
	})
}

// A path whose letters need not say where it leads is odd: a dot dot after a name or a pattern, and a pattern that older
// shells take for one.
func TestOddPaths(t *testing.T) {
	for _, c := range []struct {
		text string
		glob bool
		odd  bool
	}{
		{"a", false, false},
		{"..", false, false},
		{"../a", false, false},
		{"./../a", false, false},
		{"a/..", false, true},
		{"a/./../b", false, true},
		{"/..", false, true},
		{"/a/b", false, false},
		{".*", false, false},
		{".*", true, true},
		{".?", true, true},
		{".[a]", true, true},
		{"..*", true, true},
		{".a*", true, false},
		{".", true, false},
		{"a*", true, false},
		{"*/..", true, true},
		{"../a*", true, true},
		{"a*/.*", true, true},
		{"x.*", true, false},
		{strings.Repeat("a", maxPath), false, false},
		{strings.Repeat("a", maxPath+1), false, true},
	} {
		if got := oddSegments(word{text: c.text, glob: c.glob}); got != c.odd {
			t.Errorf("%q, a pattern %t: odd %t", clip(c.text), c.glob, got)
		}
	}
}

// A word with a zero byte stands for something that the shell makes of it: no program that only reads is given one. Why a
// value is not taken is said with the option that would take the next word.
func TestWordsThatAreNotPlain(t *testing.T) {
	for _, text := range []string{"\x00", "\x00a", "a\x00"} {
		c := command{argv: []word{{text: "echo", known: true}, {text: text, known: true}}}
		if (&judge{}).notReaderOf(c, true) == "" {
			t.Errorf("%q is read", text)
		}
	}
	d := Decide(lookingPolicy(ModePlan), bash("tree -aPox f"))
	if d.Effect != Deny || !strings.Contains(d.Reason, "tree -P takes its value from the next word, and ox for options") {
		t.Errorf("%s: %s", d.Effect, d.Reason)
	}
}
